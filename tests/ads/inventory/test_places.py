"""Who has a place in a zone: its settings, an advertiser's share, and the weakest row's exit."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads import schedules
from chalicelib.ads.budgets import exhaustion
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns, fitting, refilling, repricing, waiting, zones
from chalicelib.ads.inventory.fitting import fit
from chalicelib.ads.inventory.models import MAX_LISTED_ADVERTISERS
from chalicelib.ads.inventory.placing import in_order
from chalicelib.ads.inventory.rows import key
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    BANNER,
    activate,
    ad_unit,
    add_zones,
    advertiser,
    cpm,
    html,
    placed,
    publisher,
    put_campaign,
    zone,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

MINE, RICH, POOR, OTHER = "mercedes:mine", "rich:one", "poor:one", "other:one"
UNITS = [ad_unit("a"), ad_unit("b")]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zones that hold four rows, three of them of one advertiser."""
    monkeypatch.setattr(fitting, "MAX_ADS", 4)
    monkeypatch.setattr(fitting, "MAX_ADS_OF_ADVERTISER", 3)


def add(runtime: Runtime, campaign_id: str, bid_micros: int, *targets: str, **changes: Any) -> None:
    put_campaign(runtime, campaign_id, *targets, pricing=cpm(bid_micros), **changes)
    activate(runtime, campaign_id)


def reasons(runtime: Runtime, campaign_id: str) -> dict[str, str]:
    """Why each of a campaign's ad units waits, by the zone and its id."""
    return {
        f"{each['site_id']}/{each['zone_id']}/{unit}": each["reason"]
        for each in waiting.unplaced(runtime.database, campaign_id)
        for unit in each["ad_unit_ids"]
    }


def refill(runtime: Runtime) -> int:
    return refilling.refill(runtime.database, random.Random(1))


@pytest.mark.usefixtures("small")
def test_the_weakest_row_of_a_full_zone_leaves_for_one_that_pays_more(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, POOR, 1_000, ad_units=UNITS)
    add(runtime, OTHER, 2_000, ad_units=UNITS)

    add(runtime, RICH, 3_000)

    assert placed(runtime, "blog/banner") == [RICH, OTHER, OTHER, POOR]
    assert reasons(runtime, POOR) == {"blog/banner/b": "zone_full"}
    assert reasons(runtime, RICH) == {}


@pytest.mark.usefixtures("small")
def test_no_row_leaves_for_one_that_pays_no_more(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, POOR, 1_000, ad_units=UNITS)
    add(runtime, OTHER, 2_000, ad_units=UNITS)
    before = zone(runtime, "blog/banner")

    add(runtime, "a:equal", 1_000)

    assert zone(runtime, "blog/banner") == before
    assert campaigns.get(runtime.database, "a:equal")["status"] == "active"
    assert reasons(runtime, "a:equal") == {"blog/banner/one": "zone_full"}


@pytest.mark.usefixtures("small")
def test_an_advertiser_s_share_is_of_its_own_best_rows(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, "rich:weak", 1_000, ad_units=UNITS)
    add(runtime, "rich:strong", 3_000, ad_units=UNITS)
    add(runtime, "rich:weaker", 1_000)

    assert placed(runtime, "blog/banner") == ["rich:strong", "rich:strong", "rich:weak"]
    assert reasons(runtime, "rich:weak") == {"blog/banner/b": "advertiser_share"}
    assert reasons(runtime, "rich:weaker") == {"blog/banner/one": "advertiser_share"}


def test_an_advertiser_cannot_fill_a_zone_by_itself(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for number in range(5):
        units = [ad_unit(f"unit-{each}") for each in range(50)]
        add(runtime, f"greedy:campaign-{number}", 10**9, ad_units=units)

    add(runtime, MINE, 1_000)

    rows = placed(runtime, "blog/banner")
    assert len(rows) == fitting.MAX_ADS_OF_ADVERTISER + 1
    assert rows[-1] == MINE


def test_a_share_is_of_one_advertiser_and_not_of_those_whose_names_begin_alike(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "MAX_ADS_OF_ADVERTISER", 1)
    add_zones(runtime, "blog/banner")
    names = ["a:one", "ab:one", "a-b:one", "a_:one", "a0:one"]
    for name in names:
        add(runtime, name, 1_000)

    assert sorted(placed(runtime, "blog/banner")) == sorted(names)


@pytest.mark.usefixtures("small")
def test_a_row_that_left_comes_back_when_there_is_room(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, POOR, 1_000, ad_units=UNITS)
    add(runtime, OTHER, 2_000, ad_units=UNITS)
    add(runtime, RICH, 3_000, ad_units=UNITS)
    assert placed(runtime, "blog/banner") == [RICH, RICH, OTHER, OTHER]
    assert refill(runtime) == 0

    lifecycle.deactivate(runtime.database, OTHER)

    assert refill(runtime) == 1
    assert placed(runtime, "blog/banner") == [RICH, RICH, POOR, POOR]
    assert reasons(runtime, POOR) == {}
    assert refill(runtime) == 0


@pytest.mark.usefixtures("small")
def test_of_those_that_wait_the_best_paying_come_back_first(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, RICH, 9_000, ad_units=UNITS)
    add(runtime, OTHER, 8_000, ad_units=UNITS)
    for number in (1, 3, 2):
        add(runtime, f"poor:{number}", number * 1_000, ad_units=UNITS)
    lifecycle.deactivate(runtime.database, OTHER)

    refill(runtime)

    assert placed(runtime, "blog/banner") == [RICH, RICH, "poor:3", "poor:3"]


@pytest.mark.usefixtures("small")
def test_a_campaign_that_is_paused_or_goes_elsewhere_waits_no_more(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    add(runtime, RICH, 9_000, ad_units=UNITS)
    add(runtime, OTHER, 8_000, ad_units=UNITS)
    add(runtime, POOR, 1_000)
    add(runtime, "poor:two", 1_000)

    lifecycle.deactivate(runtime.database, POOR)
    put_campaign(runtime, "poor:two", "blog/side", pricing=cpm(1_000))

    assert reasons(runtime, POOR) == reasons(runtime, "poor:two") == {}
    lifecycle.deactivate(runtime.database, RICH)
    assert refill(runtime) == 0
    assert placed(runtime, "blog/banner") == [OTHER, OTHER]


@pytest.mark.usefixtures("small")
def test_an_exhausted_campaign_is_back_the_next_morning_also_where_a_zone_is_full(
    runtime: Runtime, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    daily = {"total_micros": 10**6, "daily_micros": 1_000, "pacing": "asap"}
    click = {"type": "cpc", "bid_micros": 1_000}
    put_campaign(runtime, POOR, "blog/banner", "blog/side", pricing=click, budget=daily)
    activate(runtime, POOR)
    take_all = {"$set": {"balance.available_micros": 0, "balance.spent_micros": 1_000}}
    runtime.database[campaigns.CAMPAIGNS.name].update_one({"_id": POOR}, take_all)
    exhaustion.refresh_all(runtime.database, runtime.now())
    assert campaigns.get(runtime.database, POOR)["status"] == "exhausted"
    add(runtime, RICH, 9_000_000, ad_units=UNITS)
    add(runtime, OTHER, 9_000_000, ad_units=UNITS)

    clock.advance(days=1)
    exhaustion.refresh_all(runtime.database, runtime.now())

    assert campaigns.get(runtime.database, POOR)["status"] == "active"
    assert placed(runtime, "blog/side") == [POOR]
    assert reasons(runtime, POOR) == {"blog/banner/one": "zone_full"}


def test_a_row_below_the_floor_never_enters(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)

    add(runtime, POOR, 1_000)
    add(runtime, RICH, 2_000)

    assert placed(runtime, "blog/banner") == [RICH]
    assert reasons(runtime, POOR) == {"blog/banner/one": "below_floor"}


def test_rows_leave_when_the_floor_is_raised_and_come_back_when_it_falls(
    runtime: Runtime,
) -> None:
    add_zones(runtime, "blog/banner")
    for number in range(1, 6):
        add(runtime, f"mercedes:{number}", number * 1_000)

    add_zones(runtime, "blog/banner", floor_ecpm_micros=3_000)
    assert placed(runtime, "blog/banner") == ["mercedes:5", "mercedes:4", "mercedes:3"]
    assert reasons(runtime, "mercedes:2") == {"blog/banner/one": "below_floor"}

    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)
    assert refill(runtime) == 1
    assert placed(runtime, "blog/banner")[-1] == "mercedes:2"


def test_a_row_whose_new_price_is_below_the_floor_leaves_until_it_is_above(
    runtime: Runtime,
) -> None:
    # At the first guess, a click in 200 impressions, this is worth 5,000 a thousand impressions.
    add_zones(runtime, "blog/banner", floor_ecpm_micros=5_000)
    put_campaign(runtime, POOR, pricing={"type": "cpc", "bid_micros": 1_000})
    activate(runtime, POOR)
    assert placed(runtime, "blog/banner") == [POOR]
    seen = {"site_id": "blog", "zone_id": "banner", "campaign_id": POOR, "ad_unit_id": "one"}

    def count(impressions: int, clicks: int) -> None:
        counts = {"$set": {"impressions": impressions, "clicks": clicks}}
        runtime.database["ad.count"].update_one(seen, counts, upsert=True)
        repricing.reprice(runtime)

    count(200, 0)
    assert placed(runtime, "blog/banner") == []
    assert reasons(runtime, POOR) == {"blog/banner/one": "below_floor"}
    count(400, 40)
    assert refill(runtime) == 1
    assert placed(runtime, "blog/banner") == [POOR]


def test_a_publisher_s_lists_hold_at_once_for_rows_that_exist(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    for name in (MINE, RICH, POOR):
        add(runtime, name, 1_000, "blog/banner", "blog/side")

    add_zones(runtime, "blog/banner", blocked_advertisers=["rich"])
    assert placed(runtime, "blog/banner") == [MINE, POOR]
    add_zones(runtime, "blog/banner", allowed_advertisers=["rich", "mercedes"])
    assert placed(runtime, "blog/banner") == [MINE]
    add_zones(runtime, "blog/banner", allowed_advertisers=[])

    assert placed(runtime, "blog/banner") == []
    assert placed(runtime, "blog/side") == [MINE, POOR, RICH]
    assert reasons(runtime, RICH) == {"blog/banner/one": "advertiser_not_allowed"}
    add_zones(runtime, "blog/banner", blocked_advertisers=["poor"])
    assert refill(runtime) == 2
    assert placed(runtime, "blog/banner") == [MINE, RICH]


def test_what_keeps_a_row_out_is_told_anew_when_the_settings_change(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", blocked_advertisers=["poor"])
    add(runtime, POOR, 1_000)
    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)

    refill(runtime)

    assert reasons(runtime, POOR) == {"blog/banner/one": "below_floor"}


def test_html_enters_only_where_the_publisher_takes_it(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", allow_html=False)
    units = [
        ad_unit("small", creative=html("<b>x</b>")),
        ad_unit("large", creative=html("x" * 2_000)),
        ad_unit("text"),
    ]
    add(runtime, MINE, 1_000, ad_units=units)

    def standing() -> list[str]:
        return [row["ad_unit_id"] for row in zone(runtime, "blog/banner")["ads"]]

    assert standing() == ["text"]
    assert set(reasons(runtime, MINE).values()) == {"html_not_allowed"}
    add_zones(runtime, "blog/banner", allow_html=True)
    refill(runtime)
    assert standing() == ["large", "small", "text"]
    add_zones(runtime, "blog/banner", allow_html=False)
    assert standing() == ["text"]


def test_a_changed_row_keeps_its_place_in_a_full_zone(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "MAX_ADS", 2)
    add_zones(runtime, "blog/banner")
    add(runtime, RICH, 3_000)
    add(runtime, POOR, 1_000)

    put_campaign(runtime, POOR, pricing=cpm(1_000), ad_units=[ad_unit("new"), ad_unit("newer")])

    assert [row["ad_unit_id"] for row in zone(runtime, "blog/banner")["ads"]] == ["one", "new"]
    assert reasons(runtime, POOR) == {"blog/banner/newer": "zone_full"}


def test_a_raised_budget_leaves_what_waits_as_it_is(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)
    add(runtime, POOR, 1_000)

    put_campaign(runtime, POOR, pricing=cpm(1_000), budget={"total_micros": 60_000_000})

    assert reasons(runtime, POOR) == {"blog/banner/one": "below_floor"}


def test_zones_of_an_earlier_release_know_neither_lists_nor_html(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    newer = ("allow_html", "allowed_advertisers", "blocked_advertisers", "changes")
    unset = {"$unset": dict.fromkeys(newer, "")}
    runtime.database[zones.ZONES.name].update_one({}, unset)

    add(runtime, MINE, 1_000, ad_units=[ad_unit("text"), ad_unit("html", creative=html("x"))])

    assert [row["ad_unit_id"] for row in zone(runtime, "blog/banner")["ads"]] == ["text"]
    described = zones.get(runtime.database, "blog", "banner")
    assert described["allow_html"] is False
    assert described["allowed_advertisers"] is None
    assert described["blocked_advertisers"] == []


def test_many_writers_at_once_never_overfill_a_zone(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "MAX_ADS", 6)
    monkeypatch.setattr(fitting, "MAX_ADS_OF_ADVERTISER", 3)
    add_zones(runtime, "blog/banner")
    names = [f"advertiser-{number % 4}:campaign-{number}" for number in range(12)]
    for number, name in enumerate(names):
        put_campaign(runtime, name, pricing=cpm(1_000 + number * 1_000), ad_units=UNITS)

    def write(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(8):
            name = rng.choice(names)
            match rng.randrange(4):
                case 0:
                    lifecycle.deactivate(runtime.database, name)
                case 1:
                    refill(runtime)
                case _:
                    activate(runtime, name)

    for number in range(6):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(number * 4, number * 4 + 4)))
        _assert_every_row_stands_or_waits(runtime, names)
    while refill(runtime):
        pass
    _assert_the_best_have_the_places(runtime)


def _assert_every_row_stands_or_waits(runtime: Runtime, names: list[str]) -> None:
    rows = zone(runtime, "blog/banner")["ads"]
    standing = [key(row) for row in rows]
    waiting_rows = [key(row) for row in waiting.WAITING.of(runtime.database).find()]
    expected = {
        (name, unit["ad_unit_id"])
        for name in names
        if campaigns.get(runtime.database, name)["status"] == "active"
        for unit in UNITS
    }
    assert sorted([*standing, *waiting_rows]) == sorted(expected)
    assert len(standing) <= fitting.MAX_ADS
    owners = [name.partition(":")[0] for name, _ in standing]
    assert all(owners.count(owner) <= fitting.MAX_ADS_OF_ADVERTISER for owner in owners)


def _assert_the_best_have_the_places(runtime: Runtime) -> None:
    ours = list(waiting.WAITING.of(runtime.database).find())
    state = zones.ZONES.read_as(refilling.ZoneState, runtime.database).find_one()
    assert state is not None
    assert refilling.fitting_rows(state, ours) == []


PRICES = st.integers(1, 4)


@given(st.data())
def test_a_fitted_zone_is_within_its_bounds_and_turns_away_nobody_better(
    data: st.DataObject,
) -> None:
    share, bound = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 8))
    prices = data.draw(st.lists(PRICES, max_size=bound))
    others = [_row("other:x", n, price) for n, price in enumerate(prices)]
    own_prices = data.draw(st.lists(PRICES, max_size=min(share, bound - len(others))))
    mine = [_row("mine:old", n, price) for n, price in enumerate(own_prices)]
    newcomers = [
        _row("mine:new", n, p) for n, p in enumerate(data.draw(st.lists(PRICES, max_size=5)))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "MAX_ADS", bound)
        patch.setattr(fitting, "MAX_ADS_OF_ADVERTISER", share)
        fitted = fit(newcomers, mine, [*others, *mine], len(others) + len(mine))
    gone = {key(row) for row, _ in fitted.leaving}
    after = [row for row in (*others, *mine) if key(row) not in gone]
    after += fitted.entering

    assert len(after) <= bound
    assert sum(row["campaign_id"].startswith("mine:") for row in after) <= share
    assert len(fitted.entering) + len(fitted.waiting) == len(newcomers)
    out = [row for row, _ in (*fitted.waiting, *fitted.leaving)]
    own_after = [row["ecpm_micros"] for row in after if row["campaign_id"].startswith("mine:")]
    for row, reason in (*fitted.waiting, *fitted.leaving):
        within = own_after if reason == "advertiser_share" else [r["ecpm_micros"] for r in after]
        assert row["ecpm_micros"] <= min(within, default=row["ecpm_micros"])
    if len(others) + len(mine) + len(newcomers) <= bound and not out:
        assert fitted.entering == sorted(
            newcomers, key=lambda row: (-row["ecpm_micros"], *key(row))
        )


def _row(campaign_id: str, number: int, ecpm_micros: int) -> Any:
    return {"campaign_id": campaign_id, "ad_unit_id": str(number), "ecpm_micros": ecpm_micros}


@pytest.mark.usefixtures("small")
def test_an_advertiser_reads_which_of_its_ads_have_no_place(
    client: Client, runtime: Runtime
) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    add(runtime, RICH, 9_000, ad_units=UNITS)
    add(runtime, OTHER, 9_000, ad_units=UNITS)
    put_campaign(runtime, MINE, "blog/banner", "blog/side", ad_units=UNITS, pricing=cpm(1_000))
    unplaced = [
        {
            "site_id": "blog",
            "zone_id": "banner",
            "reason": "zone_full",
            "ad_unit_ids": ["a", "b"],
        }
    ]

    reply = advertiser(client).post(f"/campaigns/{MINE}/activate")

    assert (reply.status, reply.json["status"]) == (200, "active")
    assert reply.json["unplaced"] == unplaced
    assert advertiser(client).get(f"/campaigns/{MINE}").json["unplaced"] == unplaced
    assert advertiser(client).post(f"/campaigns/{MINE}/deactivate").json["unplaced"] == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"blocked_advertisers": ["a", "a"]}, "blocked_advertisers"),
        ({"blocked_advertisers": ["$where"]}, "blocked_advertisers.0"),
        ({"blocked_advertisers": None}, "blocked_advertisers"),
        ({"blocked_advertisers": ["é"]}, "blocked_advertisers.0"),
        ({"allowed_advertisers": ["A.b"]}, "allowed_advertisers.0"),
        ({"allowed_advertisers": {"$ne": 1}}, "allowed_advertisers"),
        ({"allow_html": "yes"}, "allow_html"),
        (
            {"allowed_advertisers": [f"a{n}" for n in range(MAX_LISTED_ADVERTISERS + 1)]},
            "allowed_advertisers",
        ),
    ],
)
def test_settings_of_a_zone_that_make_no_sense_are_refused(
    client: Client, changes: dict[str, Any], field: str
) -> None:
    reply = publisher(client).put("/sites/blog/zones/banner", size=BANNER, **changes)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert field in {each["field"] for each in reply.json["errors"]}


def test_the_longest_lists_are_taken(client: Client) -> None:
    names = [f"{number:064}" for number in range(MAX_LISTED_ADVERTISERS)]

    reply = publisher(client).put(
        "/sites/blog/zones/banner",
        size=BANNER,
        allowed_advertisers=names,
        blocked_advertisers=names,
    )

    assert reply.status == 201
    assert reply.json["allowed_advertisers"] == reply.json["blocked_advertisers"] == names


def test_a_campaign_placed_beside_a_zone_s_new_block_list_is_in_no_blocked_place(
    runtime: Runtime,
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, MINE)
    for number in range(10):
        add_zones(runtime, "blog/banner")
        lifecycle.deactivate(runtime.database, MINE)

        def write(what: int) -> None:
            if what:
                activate(runtime, MINE)
            else:
                add_zones(runtime, "blog/banner", blocked_advertisers=["mercedes"])

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write, range(2)))
        assert placed(runtime, "blog/banner") == [], number


def test_the_schedule_refills_zones(runtime: Runtime, clock: Clock) -> None:

    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)
    add(runtime, POOR, 1_000)
    add_zones(runtime, "blog/banner")
    clock.advance(seconds=timedelta(minutes=1).total_seconds())

    assert schedules.tend(runtime)["zones_entered"] == 1
    assert placed(runtime, "blog/banner") == [POOR]


@pytest.mark.parametrize("prices", [1, 3, 4, 5, 9])
def test_rows_of_any_prices_come_in_order(runtime: Runtime, prices: int) -> None:
    add_zones(runtime, "blog/banner")
    for name in ("a:x", "m:x", "z:x"):
        for bid in range(1, 7):
            add(runtime, f"{name}-{bid}", bid * 1_000, ad_units=UNITS)
    units = [ad_unit(f"unit-{number}") for number in range(10)]
    clicks = [{"ad_unit_id": f"unit-{n}", "clicks": n % prices} for n in range(10)]
    place = {"site_id": "blog", "zone_id": "banner", "campaign_id": "m:cpc", "impressions": 800}
    runtime.database["ad.count"].insert_many([{**place, **each} for each in clicks])
    # From 1,000 a thousand impressions on, in steps as large: the prices of the others.
    click = {"type": "cpc", "bid_micros": 1_000}
    put_campaign(runtime, "m:cpc", pricing=click, ad_units=units)

    for _ in range(2):
        activate(runtime, "m:cpc")
        rows = zone(runtime, "blog/banner")["ads"]
        assert rows == in_order(rows)
        assert len(rows) == 46
        assert len({row["ecpm_micros"] for row in rows if row["campaign_id"] == "m:cpc"}) == prices
        lifecycle.deactivate(runtime.database, "m:cpc")
        assert len(zone(runtime, "blog/banner")["ads"]) == 36

"""At any prices and with many writers at once, the best rows are in a zone and no more."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns, fitting, refilling, waiting, zones
from chalicelib.ads.inventory.fitting import fit
from chalicelib.ads.inventory.placing import in_order
from chalicelib.ads.inventory.rows import key
from chalicelib.runtime import Runtime
from tests.ads.inventory.support.places import add, refill
from tests.ads.support.factories import (
    activate,
    ad_unit,
    add_zones,
    cpm,
    put_campaign,
    zone,
)

UNITS = [ad_unit("a"), ad_unit("b")]


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
        _assert_every_row_is_placed_or_waits(runtime, names)
    while refill(runtime):
        pass
    _assert_the_best_have_the_places(runtime)


def _assert_every_row_is_placed_or_waits(runtime: Runtime, names: list[str]) -> None:
    rows = zone(runtime, "blog/banner")["ads"]
    standing = [key(row) for row in rows]
    waiting_rows = [key(row) for row in waiting.WAITING.of(runtime.database).find()]
    expected = {
        (name, unit["id"])
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

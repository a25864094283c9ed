"""What a publisher's settings keep out of a zone: the floor, the lists, HTML."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import repricing
from chalicelib.ads.inventory.forms import MAX_LISTED_ADVERTISERS
from chalicelib.runtime import Runtime
from tests.ads.inventory.support.places import add, reasons, refill
from tests.ads.support.factories import (
    BANNER,
    activate,
    ad_unit,
    add_zones,
    html,
    placed,
    publisher,
    put_campaign,
    zone,
)
from tests.support.http_client import Client

MINE, RICH, POOR, OTHER = "mercedes:mine", "rich:one", "poor:one", "other:one"


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


def test_the_reason_of_a_waiting_row_follows_the_settings(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", blocked_advertisers=["poor"])
    add(runtime, POOR, 1_000)
    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)

    refill(runtime)

    assert reasons(runtime, POOR) == {"blog/banner/one": "below_floor"}


def test_html_enters_only_if_the_publisher_allows_it(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", can_hold_html=False)
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
    add_zones(runtime, "blog/banner", can_hold_html=True)
    refill(runtime)
    assert standing() == ["large", "small", "text"]
    add_zones(runtime, "blog/banner", can_hold_html=False)
    assert standing() == ["text"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"blocked_advertisers": ["a", "a"]}, "blocked_advertisers"),
        ({"blocked_advertisers": ["$where"]}, "blocked_advertisers.0"),
        ({"blocked_advertisers": None}, "blocked_advertisers"),
        ({"blocked_advertisers": ["é"]}, "blocked_advertisers.0"),
        ({"allowed_advertisers": ["A.b"]}, "allowed_advertisers.0"),
        ({"allowed_advertisers": {"$ne": 1}}, "allowed_advertisers"),
        ({"can_hold_html": "yes"}, "can_hold_html"),
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

from typing import Any

import bson
import orjson
import pytest
from pydantic import ValidationError

from chalicelib.ads.bounds import MAX_BID_MICROS, MAX_CAPS
from chalicelib.ads.inventory import creatives, fitting, placing
from chalicelib.ads.inventory.campaigns import MAX_KEYWORD_BYTES, MAX_KEYWORDS
from chalicelib.ads.inventory.forms import Zone
from tests.ads.campaigns.support.faults import faults, unit_faults
from tests.ads.support.factories import (
    ad_unit,
    campaign,
    cpm,
    creative,
    html,
    target,
)

MIB = 1024 * 1024


DAY_SECONDS = 86_400


def cap(**changes: Any) -> dict[str, Any]:
    plain = {"scope": "ad", "event": "impression", "limit": 1, "window_seconds": DAY_SECONDS}
    return {**plain, **changes}


def test_what_is_left_out_has_the_defaults_of_the_contract() -> None:
    stored = campaign().model_dump()

    assert stored["caps"] == [cap()]
    assert stored["time_zone"] == "UTC"
    assert stored["budget"] == {
        "total_micros": 50_000_000,
        "daily_micros": None,
        "pacing": "asap",
    }


def test_a_daily_budget_is_paced_evenly() -> None:
    budget = {"total_micros": 10, "daily_micros": 10}

    assert campaign(budget=budget).budget.pacing == "even"
    assert campaign(budget={**budget, "pacing": "asap"}).budget.pacing == "asap"


def test_a_daily_budget_of_null_is_none() -> None:
    budget = {"total_micros": 1_000, "daily_micros": None}

    assert campaign(budget=budget).budget.pacing == "asap"


@pytest.mark.parametrize(
    ("bid_micros", "accepted"),
    [
        (0, False),
        (999, False),
        (1_000, True),
        (1_001, False),
        (9 * 10**12, True),
        (10**13, False),
    ],
)
def test_a_cpm_bid_is_a_bounded_multiple_of_1000_micros(bid_micros: int, accepted: bool) -> None:  # noqa: FBT001
    assert (faults(pricing=cpm(bid_micros)) == []) is accepted


def test_a_cpc_bid_may_be_any_number_of_micros() -> None:
    assert faults(pricing={"type": "cpc", "bid_micros": 1}) == []
    assert faults(pricing={"type": "cpc", "bid_micros": 0}) == ["pricing.bid_micros"]


@pytest.mark.parametrize("amount", [True, 1.0, 1.5, "1000", None, -1_000, 2**63])
def test_money_is_a_whole_positive_number(amount: Any) -> None:
    assert faults(budget={"total_micros": amount}) == ["budget.total_micros"]


def test_a_day_s_budget_is_within_the_total() -> None:
    assert faults(budget={"total_micros": 9, "daily_micros": 10}) == ["budget"]


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({"limit": 0}, False),
        ({"limit": 1}, True),
        ({"limit": 50}, True),
        ({"limit": 51}, False),
        ({"window_seconds": 0}, False),
        ({"window_seconds": 30 * DAY_SECONDS}, True),
        ({"window_seconds": 30 * DAY_SECONDS + 1}, False),
        ({"scope": "visitor"}, False),
        ({"event": "conversion"}, False),
    ],
)
def test_a_cap_is_bounded(changes: dict[str, Any], accepted: bool) -> None:  # noqa: FBT001
    assert (faults(caps=[cap(**changes)]) == []) is accepted


def test_a_campaign_may_have_no_cap_and_has_a_bounded_number() -> None:
    assert campaign(caps=[]).caps == []
    assert faults(caps=[cap()] * MAX_CAPS) == []
    assert faults(caps=[cap()] * (MAX_CAPS + 1)) == ["caps"]


@pytest.mark.parametrize("count", [0, 1_001])
def test_targets_are_from_1_to_1000(count: int) -> None:
    assert faults(targets=[target(f"site/zone-{n}") for n in range(count)]) == ["targets"]


@pytest.mark.parametrize(
    ("zones", "units", "accepted"),
    [(1_000, 5, True), (100, 50, True), (1_000, 6, False), (101, 50, False)],
)
def test_a_campaign_has_up_to_5000_rows_in_all_its_zones(
    zones: int,
    units: int,
    accepted: bool,  # noqa: FBT001
) -> None:
    targets = [target(f"site/zone-{number}") for number in range(zones)]
    ad_units = [ad_unit(f"unit-{number}") for number in range(units)]

    assert (faults(targets=targets, ad_units=ad_units) == []) is accepted


@pytest.mark.parametrize("count", [0, 51])
def test_ad_units_are_from_1_to_50(count: int) -> None:
    assert faults(ad_units=[ad_unit(f"unit-{n}") for n in range(count)]) == ["ad_units"]


def test_a_target_or_an_ad_unit_is_named_once() -> None:
    assert faults(targets=[target("blog/banner"), target("blog/banner")]) == ["targets"]
    assert faults(ad_units=[ad_unit("one"), ad_unit("one")]) == ["ad_units"]


@pytest.mark.parametrize(
    "part", ["", "a" * 65, "A", "ä", "a.b", "$ne", "a\0", "a\n", "a:b", " a", {"$ne": 1}, 7]
)
def test_a_hostile_id_is_refused(part: Any) -> None:
    assert faults(targets=[{"site_id": part, "zone_id": "banner"}]) == ["targets.0.site_id"]
    assert faults(ad_units=[{**ad_unit(), "id": part}]) == ["ad_units.0.id"]


def test_an_id_has_up_to_64_characters() -> None:
    assert unit_faults(ad_unit_id="a" * 64) == []


def test_unknown_fields_are_refused_at_every_depth() -> None:
    assert faults(status="active") == ["status"]
    assert faults(pricing={**cpm(1_000), "$set": 1}) == ["pricing.$set"]
    assert unit_faults(creative=creative(html="<b>")) == ["ad_units.0.creative.text.html"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("2026-03-01T00:00:00.0001Z", "2026-03-01T00:00:00.0009Z"),
        ("2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("2026-03-01T01:00:00+02:00", "2026-02-28T23:00:00Z"),
    ],
)
def test_a_flight_starts_before_it_ends(start: str, end: str) -> None:
    assert faults(flight={"starts_at": start, "ends_at": end}) == ["flight"]


def test_a_flight_is_kept_in_utc_to_the_millisecond() -> None:
    flight = campaign(
        flight={"starts_at": "2026-03-01T01:00:00.123999+02:00", "ends_at": "2026-04-01T00:00:00Z"}
    ).flight

    assert flight.start.isoformat() == "2026-02-28T23:00:00.123000+00:00"


@pytest.mark.parametrize(
    "time",
    [
        "2026-03-01T00:00:00",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "tomorrow",
        "",
        0,
        None,
    ],
)
def test_a_time_without_an_offset_or_out_of_bounds_is_refused(time: Any) -> None:
    assert faults(flight={"starts_at": time, "ends_at": "2026-04-01T00:00:00Z"}) == [
        "flight.starts_at"
    ]


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"])
def test_a_time_zone_is_one_of_the_iana_database(name: str) -> None:
    assert faults(time_zone=name) == []


@pytest.mark.parametrize("name", ["", "Europe", "../../etc/passwd", "localtime", "a\0", "x" * 65])
def test_any_other_time_zone_is_refused(name: str) -> None:
    assert faults(time_zone=name) == ["time_zone"]


def test_5000_rows_of_the_largest_kind_fit_into_one_document() -> None:
    size = MAX_KEYWORD_BYTES // MAX_KEYWORDS
    largest = campaign(
        pricing=cpm(MAX_BID_MICROS),
        caps=[cap(scope="advertiser", window_seconds=30 * DAY_SECONDS, limit=50)] * MAX_CAPS,
        ad_units=[
            ad_unit(
                "u" * 64,
                keywords=[f"{number:02}".ljust(size, "k") for number in range(MAX_KEYWORDS)],
                creative=html("x" * 900),
            )
        ],
    )
    stored: Any = {**largest.model_dump(), "_id": f"{'a' * 64}:{'c' * 64}"}
    (row,) = placing.rows(stored)
    slack = creatives.MAX_INLINE_BYTES - len(bson.encode(row["creative"]))
    overhead_of_an_element = 7

    row_bytes = len(bson.encode(row)) + slack + overhead_of_an_element

    assert fitting.MAX_ADS * row_bytes < 16 * MIB - 1_024


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"size": {"width": 0, "height": 90}}, "size.width"),
        ({"size": {"width": 728}}, "size.height"),
        ({"floor_ecpm_micros": -1}, "floor_ecpm_micros"),
        ({"floor_ecpm_micros": 0.5}, "floor_ecpm_micros"),
        ({"count_on": "click"}, "count_on"),
        ({"ads": []}, "ads"),
        ({"version": 7}, "version"),
    ],
)
def test_a_zone_is_bounded(changes: dict[str, Any], field: str) -> None:
    body = orjson.dumps({"size": {"width": 728, "height": 90}, **changes})

    with pytest.raises(ValidationError) as refused:
        Zone.model_validate_json(body, strict=True)

    assert [".".join(map(str, fault["loc"])) for fault in refused.value.errors()] == [field]

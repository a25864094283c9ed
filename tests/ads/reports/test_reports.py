"""Reports add up: by any period, by any group, and to what the events say."""

import csv
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chalicelib.ads.reports import counters, roll_ups
from chalicelib.database import Document
from chalicelib.http import responses
from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE, SPRING, click, count
from tests.ads.support.factories import advertiser, publisher, put_campaign
from tests.ads.support.history import DAY, HOUR, TIMES
from tests.support.http_client import Client, Reply


def ask(client: Client, **query: Any) -> Reply:
    query = {"from": "2025-01-01", "to": "2026-12-31", **query}
    return advertiser(client).get(f"/reports/campaigns/{SPRING}?{_encoded(query)}")


def _encoded(query: dict[str, Any]) -> str:
    return "&".join(f"{name}={value}" for name, value in query.items())


def periods(rows: list[Document]) -> dict[str, int]:
    return {row["period"]: row["impressions"] for row in rows}


@pytest.mark.usefixtures("reported")
def test_a_report_by_day_has_a_row_for_each_day_with_events(client: Client) -> None:
    reply = ask(client, by="day")

    assert reply.json["next"] is None
    assert periods(reply.json["rows"]) == {
        "2025-12-30T00:00:00Z": 1,
        "2025-12-31T00:00:00Z": 1,
        "2026-02-28T00:00:00Z": 1,
        "2026-03-01T00:00:00Z": 4,
        "2026-03-02T00:00:00Z": 1,
        "2026-04-01T00:00:00Z": 1,
    }
    assert reply.json["rows"][3] == {
        "period": "2026-03-01T00:00:00Z",
        "impressions": 4,
        "clicks": 1,
        "conversions": 0,
        "unbilled": 0,
        "bots": 0,
        "ctr": 0.25,
        "ctr_low": pytest.approx(0.0456, abs=1e-4),
        "ctr_high": pytest.approx(0.6994, abs=1e-4),
        "spend_micros": 1_000,
        "value_micros": 0,
    }


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("week", {"2025-12-29": 2, "2026-02-23": 5, "2026-03-02": 1, "2026-03-30": 1}),
        ("month", {"2025-12-01": 2, "2026-02-01": 1, "2026-03-01": 5, "2026-04-01": 1}),
        ("year", {"2025-01-01": 2, "2026-01-01": 7}),
    ],
)
@pytest.mark.usefixtures("reported")
def test_longer_periods_are_rolled_up_from_days(
    client: Client, by: str, expected: dict[str, int]
) -> None:
    rows = ask(client, by=by).json["rows"]

    assert periods(rows) == {f"{day}T00:00:00Z": number for day, number in expected.items()}


@pytest.mark.usefixtures("reported")
def test_minutes_and_hours_come_from_the_hour_s_document(client: Client) -> None:
    hours = ask(client, by="hour", **{"from": "2026-03-01", "to": "2026-03-02"})
    minutes = ask(client, by="minute", **{"from": "2026-03-01T00:30:00Z", "to": "2026-03-02"})

    assert periods(hours.json["rows"]) == {
        "2026-03-01T00:00:00Z": 2,
        "2026-03-01T01:00:00Z": 1,
        "2026-03-01T23:00:00Z": 1,
    }
    assert periods(minutes.json["rows"]) == {
        "2026-03-01T00:59:00Z": 1,
        "2026-03-01T01:00:00Z": 1,
        "2026-03-01T23:59:00Z": 1,
    }


@pytest.mark.parametrize("by", ["day", "week", "month", "year"])
@pytest.mark.parametrize("group", ["ad_unit", "site", "zone", "campaign"])
@pytest.mark.usefixtures("reported")
def test_every_report_adds_up_to_the_same(client: Client, by: str, group: str) -> None:
    rows = ask(client, by=by, group=group).json["rows"]

    assert sum(row["impressions"] for row in rows) == len(TIMES)
    assert sum(row["spend_micros"] for row in rows) == len(TIMES) * PRICE
    assert all(row["campaign_id"] == SPRING for row in rows if group in {"ad_unit", "campaign"})
    assert all(row["site_id"] == "blog" for row in rows if group in {"zone", "site"})


def test_what_no_integer_holds_keeps_nothing_from_being_rolled_up(
    reported: Runtime, client: Client
) -> None:
    count(reported, click(2, DAY - HOUR, campaign_id=SPRING, price_micros=0))
    # Anyone may name a value at an advertiser's pixel, and as many orders as they like.
    reported.database[counters.DAYS.name].update_many({}, {"$set": {"value_micros": 2**62}})

    for _ in range(2):
        roll_ups.roll_up(reported.database, reported.now())

    weeks = ask(client, by="week", group="ad_unit").json["rows"]
    values = {(row["period"][:10], row["ad_unit_id"]): row["value_micros"] for row in weeks}
    assert values["2026-02-23", "one"] == 2**63 - 1
    assert values["2026-03-02", "unit-1"] == 2**62


@pytest.mark.parametrize("by", ["day", "minute"])
@pytest.mark.usefixtures("reported")
def test_a_cursor_of_an_earlier_report_reaches_no_row_before_the_present_one(
    client: Client, by: str
) -> None:
    earlier = ask(client, by=by, limit=1, **{"from": "2026-02-28", "to": "2026-03-02"})
    present = {"from": "2026-03-02", "to": "2026-03-04"}

    reply = ask(client, by=by, cursor=earlier.json["next"], **present)

    assert reply.json["rows"] == ask(client, by=by, **present).json["rows"]


@pytest.mark.usefixtures("reported")
def test_pages_join_to_the_whole(client: Client) -> None:
    whole = ask(client, by="day", group="zone").json["rows"]
    pages: list[Document] = []
    reply = ask(client, by="day", group="zone", limit=2)
    while cursor := reply.json["next"]:
        pages += reply.json["rows"]
        reply = ask(client, by="day", group="zone", limit=2, cursor=cursor)

    assert pages + reply.json["rows"] == whole
    assert ask(client, by="week", group="zone", cursor=cursor or "x").code == "invalid_cursor"


@pytest.mark.usefixtures("reported")
def test_minutes_are_paged_within_an_hour_too(client: Client) -> None:
    query = {"by": "minute", "from": "2026-03-01", "to": "2026-03-02", "limit": 1}
    seen, reply = [], ask(client, **query)
    while cursor := reply.json["next"]:
        seen += reply.json["rows"]
        reply = ask(client, **query, cursor=cursor)

    assert len(seen + reply.json["rows"]) == 4


@pytest.mark.usefixtures("reported")
def test_a_publisher_sees_what_is_due_and_not_what_was_paid(client: Client) -> None:
    reply = publisher(client).get(
        "/reports/sites/blog?from=2026-03-01&to=2026-03-02&group=campaign"
    )

    (row,) = reply.json["rows"]
    assert (row["campaign_id"], row["revenue_micros"]) == (SPRING, 700)
    assert "spend_micros" not in row
    assert "value_micros" not in row


@pytest.mark.usefixtures("reported")
def test_a_report_can_be_had_as_a_file(client: Client) -> None:
    target = f"/reports/campaigns/{SPRING}?from=2025-01-01&to=2026-12-31&by=month&group=zone"
    caller = advertiser(client)

    reply = caller.request("GET", target, headers={"Accept": "text/csv"})

    rows = list(csv.DictReader(reply.body.decode("utf-8-sig").splitlines()))
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert (
        reply.headers["Content-Disposition"] == 'attachment; filename="mercedes-spring-month.csv"'
    )
    assert [row["period"] for row in rows[:2]] == ["2025-12-01T00:00:00+00:00"] * 2
    assert sum(int(row["spend_micros"]) for row in rows) == len(TIMES) * PRICE


@pytest.mark.usefixtures("reported")
@pytest.mark.parametrize("report", [f"campaigns/{SPRING}", "sites/blog"])
def test_a_file_is_no_larger_than_an_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch, report: str
) -> None:
    target = f"/reports/{report}?from=2025-01-01&to=2026-12-31"
    admin = client.as_("root", roles=["admin"])
    whole = admin.request("GET", target, headers={"Accept": "text/csv"})
    size = responses.sent_bytes(whole.body.decode())

    monkeypatch.setattr(responses, "MAX_BYTES", size)
    assert admin.request("GET", target, headers={"Accept": "text/csv"}).body == whole.body
    monkeypatch.setattr(responses, "MAX_BYTES", size - 1)
    too_large = admin.request("GET", target, headers={"Accept": "text/csv"})

    assert (too_large.status, too_large.code) == (422, "report_too_large")


@pytest.mark.bounds(ads={"csv_rows": 2})
@pytest.mark.usefixtures("reported")
@pytest.mark.parametrize("report", [f"campaigns/{SPRING}", "sites/blog"])
def test_a_file_is_bounded(client: Client, report: str) -> None:
    target = f"/reports/{report}?from=2025-01-01&to=2026-12-31"
    admin = client.as_("root", roles=["admin"])

    reply = admin.request("GET", target, headers={"Accept": "text/csv"})

    assert (reply.status, reply.code) == (422, "report_too_large")
    assert [each["field"] for each in reply.json["errors"]] == ["to"]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "from=2026-03-01",
        "from=2026-03-01&to=2026-03-01",
        "from=2026-03-02&to=2026-03-01",
        "from=2026-03-01T00:00:00Z&to=2026-03-03T00:00:01Z&by=minute",
        "from=2020-03-01&to=2026-03-03&by=day",
        "from=2026-03-01T00:00:00&to=2026-03-02",
        "from=2026-03-01&to=2026-03-02&by=second",
        "from=2026-03-01&to=2026-03-02&group=$where",
        "from=2026-03-01&to=2026-03-02&limit=201",
        "from[$gt]=2026-03-01&to=2026-03-02",
        "from=0000-00-00&to=9999-99-99",
    ],
)
def test_a_report_that_makes_no_sense_is_refused(client: Client, query: str) -> None:
    reply = advertiser(client).get(f"/reports/campaigns/{SPRING}?{query}")

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_a_report_is_its_owner_s_alone(client: Client) -> None:
    span = "from=2026-03-01&to=2026-03-02"
    other = client.as_("eve", roles=["advertiser", "publisher"], advertiser="eve", sites=["eve"])

    assert other.get(f"/reports/campaigns/{SPRING}?{span}").code == "forbidden"
    assert other.get(f"/reports/sites/blog?{span}").code == "forbidden"
    assert client.get(f"/reports/sites/blog?{span}").code == "unauthenticated"
    admin = client.as_("boss", roles=["admin"])
    assert admin.get(f"/reports/sites/blog?{span}").json == {"rows": [], "next": None}


def local_periods(zone: str, by: str) -> dict[str, int]:
    """Count the history's impressions by the periods of a zone, by a plain reading of its times."""
    found: dict[str, int] = {}
    for ts in TIMES:
        local = ts.astimezone(ZoneInfo(zone))
        midnight = datetime(local.year, local.month, local.day)  # noqa: DTZ001 - the zone comes last
        first = {
            "day": midnight,
            "week": midnight - timedelta(days=midnight.weekday()),
            "month": midnight.replace(day=1),
            "year": midnight.replace(month=1, day=1),
        }[by]
        start = first.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
        name = start.isoformat().replace("+00:00", "Z")
        found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize("by", ["day", "week", "month", "year"])
@pytest.mark.parametrize(
    "zone", ["Asia/Shanghai", "America/Los_Angeles", "Asia/Kathmandu", "Africa/Abidjan"]
)
@pytest.mark.usefixtures("reported")
def test_a_report_has_the_periods_of_any_time_zone(client: Client, zone: str, by: str) -> None:
    rows = ask(client, by=by, tz=zone).json["rows"]
    grouped = ask(client, by=by, tz=zone, group="zone").json["rows"]

    assert periods(rows) == local_periods(zone, by)
    for name in ("impressions", "clicks", "spend_micros"):
        assert sum(row[name] for row in rows) == sum(row[name] for row in grouped)
    assert sum(row["spend_micros"] for row in rows) == len(TIMES) * PRICE


@pytest.mark.usefixtures("reported")
def test_the_hours_of_a_zone_within_the_hour_are_exact(client: Client) -> None:
    span = {"from": "2026-03-01", "to": "2026-03-02"}

    rows = ask(client, by="hour", tz="Asia/Kathmandu", **span).json["rows"]

    # From 18:15 of the day before; 00:59 and 01:00 are of one hour there.
    assert periods(rows) == {
        "2026-02-28T23:15:00Z": 2,
        "2026-03-01T00:15:00Z": 2,
    }


@pytest.mark.parametrize("by", ["day", "week", "month"])
def test_a_period_ends_within_an_hour_where_summer_time_is_half_an_hour(
    reported: Runtime, client: Client, by: str
) -> None:
    """It starts at 13:00 UTC and ends at 13:30, on the day that the clocks of Lord Howe change."""
    zone = ZoneInfo("Australia/Lord_Howe")
    first, after = {
        "day": ("2026-04-05", "2026-04-06"),
        "week": ("2026-03-30", "2026-04-06"),
        "month": ("2026-04-01", "2026-05-01"),
    }[by]
    end = datetime.fromisoformat(after).replace(tzinfo=zone).astimezone(UTC)
    for number, ts in enumerate((end - timedelta(minutes=1), end, end + timedelta(minutes=29))):
        count(reported, click(10 + number, ts, campaign_id=SPRING, price_micros=0))

    ended = ask(client, by=by, tz=zone.key, **{"from": first, "to": after}).json["rows"]
    next_one = ask(client, by=by, tz=zone.key, **{"from": after, "to": "2026-05-02"}).json["rows"]

    assert (ended[-1]["clicks"], next_one[0]["clicks"]) == (1, 2)


def test_a_campaign_s_report_is_in_its_own_time_zone(reported: Runtime, client: Client) -> None:
    """As its budget: a day of the report is a day that the budget was for."""
    put_campaign(
        reported, SPRING, budget={"total_micros": 500 * PRICE}, time_zone="America/Los_Angeles"
    )

    assert periods(ask(client).json["rows"]) == local_periods("America/Los_Angeles", "day")
    assert periods(ask(client, tz="UTC").json["rows"]) == local_periods("UTC", "day")
    file = advertiser(client).request(
        "GET",
        f"/reports/campaigns/{SPRING}?from=2026-02-28&to=2026-03-01",
        headers={"Accept": "text/csv"},
    )
    rows = list(csv.DictReader(file.body.decode("utf-8-sig").splitlines()))
    assert [row["period"] for row in rows] == ["2026-02-28T00:00:00-08:00"]
    assert file.body.startswith(b"\xef\xbb\xbf")


def test_a_span_that_is_empty_in_the_campaigns_zone_is_refused(
    reported: Runtime, client: Client
) -> None:
    put_campaign(
        reported, SPRING, budget={"total_micros": 500 * PRICE}, time_zone="America/Los_Angeles"
    )

    for end in ("2026-03-01T05:00:00Z", "2026-03-01T08:00:00Z"):
        refused = ask(client, **{"from": "2026-03-01", "to": end})
        assert (refused.status, refused.json["errors"][0]["code"]) == (422, "before_from")
    assert ask(client, **{"from": "2026-03-01", "to": "2026-03-01T08:01:00Z"}).status == 200


@pytest.mark.usefixtures("reported")
def test_the_last_period_of_a_zone_is_there_as_a_whole(client: Client) -> None:
    span = {"from": "2026-03-01", "to": "2026-03-01T12:00:00Z"}

    assert [row["impressions"] for row in ask(client, tz="Asia/Shanghai", **span).json["rows"]] == [
        4
    ]
    assert ask(client, by="month", tz="Asia/Shanghai", **span).json["rows"][0]["impressions"] == 6
    later = {"from": "2026-03-01T12:00:00Z", "to": "2026-03-01T13:00:00Z"}
    assert ask(client, tz="Asia/Shanghai", **later).json == {"rows": [], "next": None}


@pytest.mark.usefixtures("reported")
def test_a_report_of_a_zone_is_read_page_by_page(client: Client) -> None:
    whole = ask(client, tz="Asia/Kathmandu", group="ad_unit").json["rows"]
    found, cursor = [], ""
    while cursor is not None:
        more = {"cursor": cursor} if cursor else {}
        page = ask(client, tz="Asia/Kathmandu", group="ad_unit", limit=2, **more).json
        found += page["rows"]
        cursor = page["next"]

    assert found == whole
    assert len(whole) > 4


@pytest.mark.parametrize("zone", ["Mars/Olympus", "localtime", "../../etc/passwd", ""])
def test_a_report_of_no_zone_is_refused(client: Client, zone: str) -> None:
    assert ask(client, tz=zone).code == "invalid_request"

"""Reports over HTTP: rows, files, pages, zones, and who may read them."""

import csv
import io
from datetime import timedelta

import pytest

from chalicelib.analytics.logs.log import Span
from chalicelib.http import responses
from chalicelib.runtime import Runtime
from chalicelib.spreadsheets import as_csv
from tests.analytics.support.hits import SITE, at, count, differences, logs, rows, site, view
from tests.support.http_client import Client

NOON = at("2026-03-01 12:00")
DAY = timedelta(days=1)
SPAN = "from=2026-03-01&to=2026-03-02"


@pytest.fixture
def blog(runtime: Runtime) -> Runtime:
    """A site with three days of hits."""
    site(runtime)
    runtime.now.advance(days=2)  # type: ignore[attr-defined]
    told = {"ref": "r.example", "campaign": "letter", "country": "DE"}
    count(
        runtime,
        view(1, NOON, **told),
        view(2, NOON, "/b", visitor="bob", device="mobile"),
        view(3, NOON + DAY, "/b"),
        view(4, NOON + DAY, kind="bot"),
        view(5, NOON + 2 * DAY, kind="feed"),
    )
    return runtime


def test_a_report_has_a_row_for_each_day(blog: Runtime, publisher: Client) -> None:
    del blog
    reply = publisher.get(f"/stats/{SITE}?from=2026-03-01&to=2026-03-04")

    assert reply.json == {
        "rows": [
            {"period": f"2026-03-0{n}T00:00:00Z", "hits": h, "visitors": v, "bots": b, "feeds": f}
            for n, h, v, b, f in ((1, 2, 2, 0, 0), (2, 1, 1, 1, 0), (3, 0, 0, 0, 1))
        ],
        "next": None,
    }


@pytest.mark.parametrize(
    ("group", "found"),
    [
        ("path", [("/a", 1), ("/b", 1)]),
        ("referrer", [("r.example", 1)]),
        ("campaign", [("letter", 1)]),
        ("device", [("desktop", 1), ("mobile", 1)]),
        ("country", [("DE", 1)]),
    ],
)
def test_a_report_is_grouped(
    blog: Runtime, publisher: Client, group: str, found: list[tuple[str, int]]
) -> None:
    del blog
    reply = publisher.get(f"/stats/{SITE}?{SPAN}&group={group}")

    assert [(row[group], row["hits"]) for row in reply.json["rows"]] == found
    assert all(row["visitors"] == 1 for row in reply.json["rows"])


def test_longer_periods_have_visitor_days(blog: Runtime, publisher: Client) -> None:
    del blog
    for by in ("week", "month", "year"):
        reply = publisher.get(f"/stats/{SITE}?from=2026-01-01&to=2027-01-01&by={by}")
        assert sum(row["visitor_days"] for row in reply.json["rows"]) == 3
        assert "visitors" not in reply.json["rows"][0]
    by_hour = publisher.get(f"/stats/{SITE}?{SPAN}&by=hour").json["rows"]
    assert by_hour[0].keys() == {"period", "hits", "bots", "feeds"}


def test_a_report_is_read_page_by_page(blog: Runtime, publisher: Client) -> None:
    del blog
    target = f"/stats/{SITE}?from=2026-03-01&to=2026-03-04&group=path&limit=1"
    found, cursor = [], ""
    while cursor is not None:
        page = publisher.get(target + (f"&cursor={cursor}" if cursor else "")).json
        found += page["rows"]
        cursor = page["next"]

    assert [(row["period"][:10], row["path"]) for row in found] == [
        ("2026-03-01", "/a"),
        ("2026-03-01", "/b"),
        ("2026-03-02", "/a"),
        ("2026-03-02", "/b"),
        ("2026-03-03", "/a"),
    ]


def test_pages_go_on_behind_the_longest_path(runtime: Runtime, publisher: Client) -> None:
    """A stranger may choose it: a quotation mark is two characters of JSON."""
    site(runtime)
    longest = "/" + '"' * 511
    count(runtime, view(1, at("2026-03-01 08:00"), longest), view(2, at("2026-03-01 08:00"), "/z"))
    target = f"/stats/{SITE}?from=2026-03-01&to=2026-03-02&group=path&limit=1"

    first = publisher.get(target).json
    rest = publisher.get(f"{target}&cursor={first['next']}").json

    assert [page["rows"][0]["path"] for page in (first, rest)] == [longest, "/z"]


def test_dates_are_the_zones_own(blog: Runtime, publisher: Client) -> None:
    count(blog, view(9, at("2026-03-01 17:00"), "/late"))

    zone = "tz=Asia/Shanghai"
    reply = publisher.get(f"/stats/{SITE}?from=2026-03-02&to=2026-03-03&group=path&{zone}")

    assert {row["path"] for row in reply.json["rows"]} == {"/a", "/b", "/late"}
    assert {row["period"] for row in reply.json["rows"]} == {"2026-03-01T16:00:00Z"}


def test_a_report_comes_as_a_file(blog: Runtime, publisher: Client) -> None:
    count(blog, view(8, NOON, "/b", ref="r.example"), view(9, NOON, campaign="=cmd()"))

    csv = {"Accept": "text/csv"}
    by_path = publisher.request("GET", f"/stats/{SITE}?{SPAN}&group=path", headers=csv)
    campaigns = publisher.request("GET", f"/stats/{SITE}?{SPAN}&group=campaign", headers=csv)

    assert by_path.headers["Content-Disposition"] == 'attachment; filename="blog-day.csv"'
    assert by_path.body.decode().splitlines() == [
        "\ufeffperiod,path,hits,visitors,bots,feeds",
        "2026-03-01T00:00:00+00:00,/a,2,1,0,0",
        "2026-03-01T00:00:00+00:00,/b,2,2,0,0",
    ]
    # What a spreadsheet would take for a formula is none.
    assert "'=cmd()" in campaigns.body.decode()


def test_the_rows_of_a_file_are_dated_in_the_zone_of_its_report(
    blog: Runtime, publisher: Client
) -> None:
    count(blog, view(9, at("2026-03-01 17:00"), "/late"))
    target = f"/stats/{SITE}?from=2026-03-01&to=2026-03-03&tz=Asia/Shanghai"

    file = publisher.request("GET", target, headers={"Accept": "text/csv"})

    assert file.body.startswith(b"\xef\xbb\xbfperiod,hits,visitor_days,bots,feeds\r\n")
    assert [row.split(",")[:2] for row in file.body.decode().splitlines()[1:]] == [
        ["2026-03-01T00:00:00+08:00", "2"],
        ["2026-03-02T00:00:00+08:00", "2"],
    ]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r=", "\n=", "\uff1d", "\uff20"])
def test_no_text_of_a_file_is_a_formula(sign: str) -> None:
    text = as_csv([{"name": f"{sign}cmd", "hits": -1}], ["name", "hits"], "UTC")

    (_, row) = csv.reader(io.StringIO(text, newline=""))
    assert row == [f"'{sign}cmd", "-1"]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("/b;=1+1", "/b;'=1+1"),
        ("/b;\uff1d1", "/b;'\uff1d1"),
        ("x\t@cmd", "x\t'@cmd"),
        ("/a;b", "/a;b"),
        ("/a-b+c=d", "/a-b+c=d"),
    ],
)
def test_no_part_between_semicolons_is_a_formula(name: str, cell: str) -> None:
    """Spreadsheets split at semicolons where the decimal sign is a comma."""
    text = as_csv([{"name": name}], ["name"], "UTC")

    assert text.splitlines()[1] == cell


def test_a_day_of_another_zone_has_visitor_days(blog: Runtime, publisher: Client) -> None:
    """One reader before and after midnight of UTC: two visitors, as nobody is known for longer."""
    count(blog, view(8, at("2026-03-01 23:50"), visitor="v1"))
    count(blog, view(9, at("2026-03-02 01:17"), visitor="v2"))
    target = f"/stats/{SITE}?from=2026-03-01&to=2026-03-02&tz="

    (shifted,) = publisher.get(target + "America/Los_Angeles").json["rows"]
    for zone in ("UTC", "Africa/Abidjan", "Europe/London"):
        (row,) = publisher.get(target + zone).json["rows"]
        assert "visitor_days" not in row
        assert row["visitors"] == 3

    assert "visitors" not in shifted
    assert shifted["visitor_days"] == 4


def test_a_report_that_names_no_zone_is_in_its_sites_own(blog: Runtime, publisher: Client) -> None:
    count(blog, view(9, at("2026-03-01 17:00"), "/late"))
    target = f"/stats/{SITE}?from=2026-03-02&to=2026-03-03&group=path"
    in_utc = publisher.get(target).json
    in_zone = publisher.get(f"{target}&tz=Asia/Shanghai").json
    assert in_utc["rows"] != in_zone["rows"]

    assert publisher.put(f"/sites/{SITE}/analytics", time_zone="Asia/Shanghai").status == 200

    assert publisher.get(target).json == in_zone
    assert publisher.get(f"{target}&tz=UTC").json == in_utc


@pytest.mark.usefixtures("blog")
def test_a_span_that_is_empty_in_its_sites_zone_is_refused(publisher: Client) -> None:
    publisher.put(f"/sites/{SITE}/analytics", time_zone="America/Los_Angeles")
    target = f"/stats/{SITE}?from=2026-03-01&to=2026-03-01T"

    for end in ("05:00:00Z", "08:00:00Z"):
        refused = publisher.get(target + end)
        assert (refused.status, refused.json["errors"][0]["code"]) == (422, "before_from")
    assert publisher.get(f"{target}08:01:00Z").status == 200


@pytest.mark.bounds(analytics={"csv_rows": 1})
def test_a_file_has_an_end(blog: Runtime, publisher: Client) -> None:
    del blog
    target = f"/stats/{SITE}?{SPAN}&group=path"

    reply = publisher.request("GET", target, headers={"Accept": "text/csv"})

    assert reply.code == "report_too_large"


def test_a_file_of_long_paths_ends_before_an_answer_does(
    blog: Runtime, publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(blog, *(view(n, NOON, f"/{n}" + '"' * 500) for n in range(20, 30)))
    target, csv = f"/stats/{SITE}?{SPAN}&group=path", {"Accept": "text/csv"}
    whole = publisher.request("GET", target, headers=csv)
    monkeypatch.setattr(responses, "MAX_BYTES", responses.sent_bytes(whole.body.decode()))
    fits = publisher.request("GET", target, headers=csv)
    monkeypatch.setattr(responses, "MAX_BYTES", responses.MAX_BYTES - 1)
    too_large = publisher.request("GET", target, headers=csv)

    assert whole.body.count(b'"') > 10_000
    assert (fits.status, fits.body) == (200, whole.body)
    assert (too_large.status, too_large.code) == (422, "report_too_large")


@pytest.mark.parametrize(
    "query",
    [
        "from=2026-03-02&to=2026-03-01",
        "from=2026-03-01&to=2026-03-01",
        "from=2026-03-01&to=2026-03-04&by=minute",
        "from=2026-01-01&to=2026-03-05&by=hour",
        "from=2020-01-01&to=2026-03-05",
        "from=1999-01-01&to=1999-01-02",
        "from=2026-03-01T00:00:00&to=2026-03-02",
        f"{SPAN}&tz=Mars/Olympus",
        f"{SPAN}&tz=../../etc/passwd",
        f"{SPAN}&group=user",
        f"{SPAN}&by=century",
        f"{SPAN}&path=/a&group=device",
        f"{SPAN}&path=..",
        "from=2026-03-01",
        f"{SPAN}&more=1",
    ],
)
def test_a_bad_question_is_refused(blog: Runtime, publisher: Client, query: str) -> None:
    del blog
    assert publisher.get(f"/stats/{SITE}?{query}").code == "invalid_request"


def test_reports_are_the_publishers_until_they_are_public(
    blog: Runtime, client: Client, publisher: Client
) -> None:
    del blog
    other = client.as_("pat", roles=["publisher"], sites=["other"])
    targets = [f"/stats/{SITE}?{SPAN}", f"/stats/{SITE}/now", f"/page-counts?site={SITE}&paths=/a"]
    for target in targets:
        assert [who.get(target).status for who in (client, other, publisher)] == [401, 403, 200]

    publisher.put(f"/sites/{SITE}/analytics", public=True)

    for target in targets:
        assert client.get(target).status == 200
    assert client.get(f"/stats/{SITE}/hits").status == 401
    assert client.get("/stats/nobody/now").code == "unknown_site"


def test_now_is_the_last_five_minutes(blog: Runtime, publisher: Client) -> None:
    now = blog.now()
    minute = timedelta(minutes=1)
    count(
        blog,
        view(11, now - 6 * minute, "/old", visitor="old"),
        view(12, now - 4 * minute, "/x", visitor="cat"),
        view(13, now, "/x", visitor="dan"),
        view(14, now, "/y", visitor="dan"),
        view(15, now, "/y", kind="bot"),
    )

    assert publisher.get(f"/stats/{SITE}/now").json == {
        "visitors": 2,
        "paths": [{"path": "/x", "hits": 2}, {"path": "/y", "hits": 1}],
    }


def test_pages_are_counted_in_one_round_trip(blog: Runtime, publisher: Client) -> None:
    count(blog, view(21, NOON, "/c,d"))

    reply = publisher.get(f"/page-counts?site={SITE}&paths=/a,/b,/c%252Cd,/none")

    assert reply.json == {"/a": 1, "/b": 2, "/c,d": 1, "/none": 0}
    wrong = publisher.get(f"/page-counts?site={SITE}&paths=/a,{'x' * 3_000},,/b")
    assert wrong.json == {"/a": 1, "/b": 2}
    many = ",".join(f"/{n}" for n in range(101))
    assert publisher.get(f"/page-counts?site={SITE}&paths={many}").code == "invalid_request"
    assert publisher.get(f"/page-counts?site={SITE}&paths=").code == "invalid_request"
    assert "public" not in reply.headers.get("Cache-Control", "")


def test_raw_hits_are_listed_as_long_as_they_are_kept(blog: Runtime, publisher: Client) -> None:
    del blog
    first = publisher.get(f"/stats/{SITE}/hits?limit=2").json
    rest = publisher.get(f"/stats/{SITE}/hits?limit=2&cursor={first['next']}").json
    of_path = publisher.get(f"/stats/{SITE}/hits?path=/b&to=2026-03-02T00:00:00Z").json

    assert first["hits"][0] == {
        "id": "hit-000000000001",
        "at": "2026-03-01T12:00:00Z",
        "path": "/a",
        "kind": "view",
        "referrer": "r.example",
        "campaign": "letter",
        "visitor": "ann",
        "device": "desktop",
        "country": "DE",
    }
    assert [hit["id"][-1] for hit in first["hits"] + rest["hits"]] == ["1", "2", "3", "4"]
    assert [hit["id"][-1] for hit in of_path["hits"]] == ["2"]


def test_a_path_leaves_the_reports_and_the_log(blog: Runtime, publisher: Client) -> None:
    count(blog, *(view(n, NOON, "/spam", visitor=f"v{n}") for n in range(30, 40)))
    count(blog, view(40, NOON, "/spam", kind="bot"))

    assert publisher.delete(f"/stats/{SITE}?path=/spam").status == 204

    (row,) = rows(blog, at("2026-03-01"), at("2026-03-02"))
    assert (row["hits"], row["bots"]) == (2, 0)
    assert {each["key"] for each in rows(blog, NOON - DAY, NOON + DAY, group="path")} == {
        "/a",
        "/b",
    }
    # The site's visitors stay: they may have read other pages too; and its sources.
    for each in differences(blog, NOON):
        if each["subject"].dimension is None:
            assert {**each["hits"], "visitors": 0} == {**each["reported"], "visitors": 0}
    assert publisher.delete(f"/stats/{SITE}?path=/spam").status == 204
    whole = Span(SITE, NOON - DAY, NOON + 5 * DAY)
    assert [len(log.read(whole, None, 50)) for log in logs(blog)] == [5]


def test_a_path_cannot_leave_a_time_series(runtime: Runtime, publisher: Client) -> None:
    site(runtime, "timeseries")

    assert publisher.delete(f"/stats/{SITE}?path=/a").code == "log_cannot_forget"


def test_a_reports_query_reads_its_own_documents(blog: Runtime) -> None:
    """By the index, as many as there are, for each kind of question."""
    count(blog, *(view(n, NOON, f"/{n}") for n in range(50, 90)))
    site(blog, name="other")
    days = {"$gte": at("2026-03-01"), "$lt": at("2026-03-02")}
    for where in (
        {"site": SITE, "path": "*", "day": days},
        {"site": SITE, "day": days, "path": {"$ne": "*"}},
    ):
        command = {"find": "hit.day", "filter": where}
        told = blog.database.command({"explain": command, "verbosity": "executionStats"})[
            "executionStats"
        ]
        assert told["totalDocsExamined"] == told["nReturned"] > 0
        assert told["totalKeysExamined"] <= told["nReturned"] + 3


def test_a_site_without_analytics_is_unknown(publisher: Client) -> None:
    span = "?from=2026-03-01&to=2026-03-02"
    for target in (
        f"/stats/{SITE}{span}",
        f"/stats/{SITE}/now",
        f"/stats/{SITE}/hits",
        f"/stats/{SITE}/sessions{span}",
        f"/page-counts?site={SITE}&paths=/a",
        f"/hits/{SITE}/pixel?path=/a",
    ):
        assert publisher.get(target).code == "unknown_site"
    assert publisher.delete(f"/stats/{SITE}?path=/a").code == "unknown_site"


def test_a_cursor_of_another_listing_is_refused(blog: Runtime, publisher: Client) -> None:
    del blog
    span = "from=2026-03-01&to=2026-03-04"
    cursor = publisher.get(f"/stats/{SITE}?{span}&limit=1").json["next"]

    for target in (
        f"/stats/{SITE}/hits?",
        f"/stats/{SITE}/sessions?{span}&",
        f"/stats/{SITE}?{span}&by=hour&",
    ):
        assert publisher.get(f"{target}cursor={cursor}").code == "invalid_cursor"

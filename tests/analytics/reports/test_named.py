"""Every name that a report shows can be asked for and removed by that name, and no other goes."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from chalice.local import LocalChalice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app import create_app
from chalicelib.analytics import jobs
from chalicelib.analytics.hits import OTHER, Dimension
from chalicelib.analytics.logs.log import Span
from chalicelib.analytics.sessions import making
from chalicelib.analytics.settings import LogName
from chalicelib.analytics.visitors import paths
from chalicelib.runtime import Runtime
from chalicelib.texts import normalise
from tests.analytics.support.hits import SITE, at, count, logs, rows, site, view
from tests.analytics.visitors.test_visitors import ADDRESSES
from tests.support.http_client import Client
from tests.support.isolation import empty_collections

# An example reads and removes a whole day's names. script/test --long tries many.
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "6"))
NOON = at("2026-03-01 12:00")
TODAY = (at("2026-03-01"), at("2026-03-02"))
SPAN = "from=2026-03-01&to=2026-03-02"
GROUPS = ("path", "referrer", "campaign", "device", "country")
Names = dict[tuple[str, str], dict[str, Any]]

# Names as they are stored: of pages by today's rules or by those of an earlier release.
STORED = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=6)
OLD = st.sampled_from(
    ["/?spam", "/", "/a#b", "/100%", "/100%25", "/%41", "/A", "/a&b=c", "/+", "/ "]
)
PATHS = st.one_of(
    OLD,
    ADDRESSES.map(lambda address: paths.find(address) or "/"),
    STORED.map(lambda name: normalise(f"/{name.strip('/')}")),
)
SOURCES = st.one_of(st.none(), st.sampled_from(["a", "a/b", " a", "%", "?", "+"]))
HITS = st.lists(st.tuples(PATHS, SOURCES, SOURCES), min_size=1, max_size=5)


def names(publisher: Client) -> Names:
    """Return every row of every report of the day, by its group and name."""
    found: Names = {}
    for group in GROUPS:
        for row in publisher.get(f"/stats/{SITE}?{SPAN}&group={group}&limit=200").json["rows"]:
            found[group, row[group]] = row
    return found


def asked(publisher: Client, group: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of one name, asked for by that name."""
    rows_of_name: list[dict[str, Any]] = publisher.get(
        f"/stats/{SITE}?{SPAN}&group={group}&{group}={quote(name, safe='')}"
    ).json["rows"]
    return rows_of_name


def remove(publisher: Client, group: str, name: str) -> int:
    return publisher.delete(f"/stats/{SITE}?{group}={quote(name, safe='')}").status


@settings(max_examples=2_000)
@given(ADDRESSES)
def test_a_path_as_a_report_shows_it_names_itself(address: str) -> None:
    path = paths.find(address)
    if path is not None:
        assert TypeAdapter(paths.PathName).validate_python(path) == path


@pytest.mark.parametrize("address", ["/%3F%CC%87spam", "/%FE%CC%81"])
def test_a_page_whose_name_has_a_mark_behind_an_escape_is_found_and_removed(
    runtime: Runtime, publisher: Client, address: str
) -> None:
    site(runtime)
    count(runtime, view(1, NOON, paths.clean(address)))
    ((group, name),) = (each for each in names(publisher) if each[0] == "path")

    assert len(asked(publisher, group, name)) == 1
    assert remove(publisher, group, name) == 204
    assert asked(publisher, group, name) == []


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(hits=HITS, number=st.integers(0, 100))
def test_a_name_of_any_report_is_found_and_removed_by_itself(
    runtime: Runtime, publisher: Client, hits: list[Any], number: int
) -> None:
    empty_collections(runtime.database)
    site(runtime)
    told = [
        view(n, NOON, path, ref=ref, campaign=campaign, country="DE")
        for n, (path, ref, campaign) in enumerate(hits)
    ]
    count(runtime, *told)
    before = names(publisher)
    for (group, name), row in before.items():
        assert asked(publisher, group, name) == [row]
    group, name = sorted(before)[number % len(before)]

    assert remove(publisher, group, name) == 204

    left = {key: row for key, row in before.items() if key != (group, name)}
    assert names(publisher) == left
    of_path = [each for each in hits if group == "path" and each[0] == name]
    whole = rows(runtime, *TODAY)
    assert sum(row["hits"] for row in whole) == len(hits) - len(of_path)


def test_spam_with_a_question_mark_is_removed_and_the_front_page_stays(
    runtime: Runtime, refused: Runtime, publisher: Client
) -> None:
    site(runtime)
    page = replace(publisher, app=create_app(refused, LocalChalice))
    for path in ("/", "/%3Fspam", "/%253Fspam"):
        assert page.post("/hits", site=SITE, hits=[{"path": path}]).status == 202
    shown = {name for group, name in names(publisher) if group == "path"}
    assert shown == {"/", "/%3Fspam", "/%253Fspam"}

    assert remove(publisher, "path", "/%3Fspam") == 204

    assert {name for group, name in names(publisher) if group == "path"} == {"/", "/%253Fspam"}
    (log,) = logs(runtime)
    held = log.read(Span(SITE, *TODAY), None, 10)
    assert sorted(hit["path"] for hit in held) == ["/", "/%253Fspam"]


@pytest.mark.parametrize("log", ["expiring", "rotating", "capped"])
@pytest.mark.parametrize(
    ("group", "field"), [("referrer", "ref"), ("campaign", "campaign"), ("country", "country")]
)
def test_a_source_leaves_the_reports_and_the_log_and_its_hits_stay(
    runtime: Runtime, publisher: Client, log: LogName, group: Dimension, field: str
) -> None:
    site(runtime, log)
    count(runtime, view(1, NOON, **{field: "XX"}), view(2, NOON, **{field: "DE"}))
    count(runtime, view(3, NOON - timedelta(days=1), **{field: "XX"}))

    assert [remove(publisher, group, "XX") for _ in range(2)] == [204, 204]

    span = (TODAY[0] - timedelta(days=1), TODAY[1])
    assert [row["key"] for row in rows(runtime, *span, group=group)] == ["DE"]
    assert [row["hits"] for row in rows(runtime, *span)] == [1, 2]
    held = list(_fields(runtime, field))
    assert held == [None, None, "DE"]


def _fields(runtime: Runtime, field: str) -> Iterator[Any]:
    (log,) = logs(runtime)
    for hit in log.read(Span(SITE, TODAY[0] - timedelta(days=1), TODAY[1]), None, 10):
        yield hit.get(field)


def test_a_source_cannot_leave_a_time_series(runtime: Runtime, publisher: Client) -> None:
    site(runtime, "timeseries")
    count(runtime, view(1, NOON, ref="spam.example"))

    reply = publisher.delete(f"/stats/{SITE}?referrer=spam.example")

    assert (reply.code, reply.json["errors"][0]["field"]) == ("log_cannot_forget", "referrer")
    assert [row["key"] for row in rows(runtime, *TODAY, group="referrer")] == ["spam.example"]


@pytest.mark.parametrize("group", ["path", "referrer"])
def test_a_name_that_one_log_of_a_move_cannot_forget_stays_whole(
    runtime: Runtime, publisher: Client, group: str
) -> None:
    site(runtime, "timeseries")
    moving = {"log_from": "timeseries", "log_to": "expiring", "announced_at": NOON}
    stored = runtime.database["hit.site"]
    switched = {"log": "expiring", "moving": {**moving, "switched_at": NOON}}
    stored.update_one({"_id": SITE}, {"$set": switched, "$inc": {"generation": 1}})
    count(runtime, view(1, NOON, "/spam", ref="/spam"))
    before = publisher.get(f"/stats/{SITE}/hits").json["hits"]

    assert before[0]["path"] == "/spam"

    reply = publisher.delete(f"/stats/{SITE}?{group}=/spam")

    assert (reply.code, reply.json["errors"][0]["field"]) == ("log_cannot_forget", group)
    assert publisher.get(f"/stats/{SITE}/hits").json["hits"] == before
    assert [row["key"] for row in rows(runtime, *TODAY, group=group)] == ["/spam"]


@pytest.mark.bounds(analytics={"paths": 1})
def test_what_is_beyond_a_days_names_is_removed_by_its_name_too(
    runtime: Runtime, publisher: Client
) -> None:
    site(runtime)
    count(runtime, *(view(n, NOON, f"/{n}") for n in range(3)))
    assert asked(publisher, "path", OTHER)[0]["hits"] == 2

    assert remove(publisher, "path", OTHER) == 204

    left = {name: row["hits"] for (of, name), row in names(publisher).items() if of == "path"}
    assert left == {"/0": 1}
    assert rows(runtime, *TODAY)[0]["hits"] == 1


@pytest.mark.parametrize(
    "query", ["", "path=/a&referrer=b", "referrer=", "path=a", "path=*", "title=T", "path=%FF"]
)
def test_a_removal_names_one_page_or_one_source(
    runtime: Runtime, publisher: Client, query: str
) -> None:
    site(runtime)

    assert publisher.delete(f"/stats/{SITE}?{query}").code == "invalid_request"


def test_a_cursor_of_one_source_is_no_cursor_of_another(
    runtime: Runtime, publisher: Client
) -> None:
    site(runtime)
    runtime.now.advance(days=2)  # type: ignore[attr-defined]
    days = (NOON + timedelta(days=n) for n in range(2))
    count(runtime, *(view(n, day, ref="a.example") for n, day in enumerate(days)))
    target = f"/stats/{SITE}?from=2026-03-01&to=2026-03-04&limit=1&referrer="

    first = publisher.get(f"{target}a.example").json

    assert [row["referrer"] for row in first["rows"]] == ["a.example"]
    cursor = first["next"]
    assert publisher.get(f"{target}a.example&cursor={cursor}").json["rows"][0]["hits"] == 1
    assert publisher.get(f"{target}b.example&cursor={cursor}").code == "invalid_cursor"


def test_sessions_forget_a_page_that_was_removed(runtime: Runtime, publisher: Client) -> None:
    """Of a day that is over, and whose sessions nothing else makes anew."""
    site(runtime)
    count(runtime, view(1, NOON - timedelta(hours=4), "/spam"), view(2, NOON - timedelta(hours=2)))
    runtime.now.advance(days=2)  # type: ignore[attr-defined]
    for _ in range(3):
        jobs.roll_up(runtime)
        runtime.now.advance(minutes=20)  # type: ignore[attr-defined]
    assert making.DUE.of(runtime.database).count_documents({"site": SITE}) == 0
    entries = publisher.get(f"/stats/{SITE}/sessions?{SPAN}").json["rows"][0]["entries"]
    assert {each["path"] for each in entries} == {"/spam", "/a"}

    remove(publisher, "path", "/spam")
    jobs.roll_up(runtime)

    entries = publisher.get(f"/stats/{SITE}/sessions?{SPAN}").json["rows"][0]["entries"]
    assert {each["path"] for each in entries} == {"/a"}


def test_the_views_of_an_older_name_stay_with_its_page(runtime: Runtime, publisher: Client) -> None:
    """An earlier release stored the path of `/what%3F` as `/what?`."""
    site(runtime)
    count(runtime, view(1, NOON, "/what?"), view(2, NOON, "/what%3F"), view(3, NOON, "/what"))

    reply = publisher.get(f"/page-counts?site={SITE}&paths=/what%253F,/what")

    assert reply.json == {"/what%3F": 2, "/what": 1}

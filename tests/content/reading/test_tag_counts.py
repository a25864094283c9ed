"""Numbers of tags: at each moment those of the visible pages, whoever has tidied up or not."""

import itertools
import threading
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymongo.errors import PyMongoError

from chalicelib import deadlines
from chalicelib.content import tag_counts
from chalicelib.content.jobs import run_due
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import tending
from chalicelib.content.tag_counts import TAG_COUNTS
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    SITE,
    editor,
    node,
    publish,
    published,
    publisher,
    save,
    write,
)
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client

TAGS = ("a", "b", "c")
SLUGS = itertools.count()
MINUTE = timedelta(minutes=1)
number = st.integers(0, 3)
some_tags = st.lists(st.sampled_from(TAGS), max_size=3, unique=True)
minutes = st.none() | st.integers(1, 4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), number, some_tags, minutes, minutes),
        st.tuples(st.just("unpublish"), number),
        st.tuples(st.just("delete"), number),
        st.tuples(st.just("wait"), st.integers(1, 3)),
        st.tuples(st.just("tend")),
        st.tuples(st.just("count")),
        st.tuples(st.just("forget"), number),
    ),
    min_size=6,
    max_size=20,
)


def tags_shown(client: Client) -> dict[str, int]:
    reply = client.get(f"/content/{SITE}/tags")
    assert reply.status == 200, reply.body
    return {each["tag"]: each["count"] for each in reply.json["tags"]}


def recount(runtime: Runtime) -> dict[str, int]:
    return tag_counts.recount(runtime, SITE, runtime.now())


def numbers_of(runtime: Runtime) -> dict[str, int]:
    rows = TAG_COUNTS.of(runtime.database).find({"site": SITE})
    return {each["tag"]: each["pages"] for each in rows}


def shift(clock: Clock, after: int) -> str:
    return (clock.time + after * MINUTE).isoformat()


class Desk:
    """Four pages of a site, and steps that change them or let time pass."""

    def __init__(self, client: Client, runtime: Runtime, clock: Clock) -> None:
        self.client, self.runtime, self.clock = client, runtime, clock
        self.pages: dict[int, str] = {}

    def take(self, step: tuple[Any, ...]) -> None:
        name, *given = step
        getattr(self, f"_{name}")(*given)

    def _publish(self, number: int, tags: list[str], at: int | None, until: int | None) -> None:
        page = self.pages.get(number)
        if page is None:
            page = self.pages[number] = write(editor(self.client), f"p{next(SLUGS)}", tags=tags)
        else:
            version = editor(self.client).get(node(page)).json["version"]
            assert save(editor(self.client), page, version, tags=tags).status == 200
        version = editor(self.client).get(node(page)).json["version"]
        times: dict[str, Any] = {"at": shift(self.clock, at)} if at else {}
        times["until"] = shift(self.clock, until + (at or 0)) if until else None
        assert publish(self.client, page, version, **times).status == 200

    def _unpublish(self, number: int) -> None:
        if number in self.pages:
            reply = publisher(self.client).post(f"{node(self.pages[number])}/unpublish")
            assert reply.status == 200, reply.body

    def _delete(self, number: int) -> None:
        if number in self.pages:
            assert publisher(self.client).delete(node(self.pages.pop(number))).status == 204

    def _wait(self, many: int) -> None:
        self.clock.time += many * MINUTE

    def _tend(self) -> None:
        run_due(self.runtime)

    def _count(self) -> None:
        tag_counts.count_due(self.runtime)

    def _forget(self, number: int) -> None:
        """Make a page as release 0.3.0 stored it, counted for nothing."""
        page = self.pages.get(number)
        where: Any = {"_id": page, "site": SITE, "counted_tags": []}
        fields = {"counted_tags": "", "count_due": ""}
        NODES.of(self.runtime.database).update_one(where, {"$unset": fields})


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_numbers_are_those_of_a_recount_after_each_step(
    site: Client, runtime: Runtime, clock: Clock, steps: list[tuple[Any, ...]]
) -> None:
    for collection in (NODES, TAG_COUNTS):
        collection.of(runtime.database).delete_many({"site": SITE})
    desk = Desk(site, runtime, clock)
    for step in steps:
        desk.take(step)
        assert tags_shown(site) == recount(runtime), step

    tag_counts.count_due(runtime)
    assert numbers_of(runtime) == recount(runtime) == tags_shown(site)


def test_tags_come_and_end_at_the_instant_itself(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    now = clock.time
    later = write(editor(site), "later", tags=["a", "b"])
    times: dict[str, Any] = {"at": shift(clock, 5), "until": shift(clock, 9)}
    assert publish(site, later, **times).status == 200
    published(site, "moon", tags=["b"])

    for after, numbers in {
        MINUTE * 5 - timedelta(milliseconds=1): {"b": 1},
        MINUTE * 5: {"b": 2, "a": 1},
        MINUTE * 9 - timedelta(milliseconds=1): {"b": 2, "a": 1},
        MINUTE * 9: {"b": 1},
    }.items():
        clock.time = now + after
        assert tags_shown(site) == numbers
        tag_counts.count_due(runtime)
        assert tags_shown(site) == numbers_of(runtime) == numbers


@pytest.mark.parametrize("due", [99, 100, 101])
def test_a_list_is_right_however_many_pages_are_due(
    site: Client, runtime: Runtime, due: int
) -> None:
    first = published(site, "moon", tags=["a"])
    page = NODES.of(runtime.database).find_one({"_id": first, "site": SITE})
    assert page is not None
    copies: list[Any] = [{**page, "_id": f"copy{n:012}", "discussion": None} for n in range(due)]
    for each in copies:
        del each["counted_tags"], each["count_due"]
    NODES.of(runtime.database).insert_many(copies)

    assert numbers_of(runtime) == {"a": 1}
    assert tags_shown(site) == {"a": due + 1}
    assert tag_counts.count_due(runtime) == due
    assert numbers_of(runtime) == tags_shown(site) == {"a": due + 1}
    assert tag_counts.count_due(runtime) == 0


@pytest.mark.bounds(content={"listed_tags": 2})
def test_a_tag_that_falls_behind_makes_room(site: Client, clock: Clock) -> None:
    published(site, "one", tags=["a", "b", "c", "d"])
    published(site, "two", tags=["a", "b", "c"])
    ending = write(editor(site), "three", tags=["a", "b"])
    assert publish(site, ending, until=shift(clock, 1)).status == 200
    assert list(tags_shown(site).items()) == [("a", 3), ("b", 3)]
    published(site, "four", tags=["c"])
    clock.time += MINUTE

    assert list(tags_shown(site).items()) == [("c", 3), ("a", 2)]


def test_two_publishers_at_once_are_both_counted(site: Client, runtime: Runtime) -> None:
    pages = [write(editor(site), f"page-{n}", tags=["a", f"own-{n}"]) for n in range(4)]
    start = threading.Barrier(len(pages))

    def run(page: str) -> None:
        start.wait()
        assert publish(site, page).status == 200

    threads = [threading.Thread(target=run, args=(page,)) for page in pages]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert numbers_of(runtime) == recount(runtime) == {"a": 4, **{f"own-{n}": 1 for n in range(4)}}


def test_a_crash_within_a_publication_counts_nothing(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = write(editor(site), "moon", tags=["a"])
    count = tag_counts.count

    def die(*given: Any) -> Any:
        count(*given)
        raise PyMongoError("the container ends")

    monkeypatch.setattr(tag_counts, "count", die)
    assert publish(site, page).status >= 500
    assert numbers_of(runtime) == tags_shown(site) == {}
    monkeypatch.undo()

    assert publish(site, page).status == 200
    assert numbers_of(runtime) == tags_shown(site) == {"a": 1}


def test_two_schedules_at_once_count_a_page_once(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    published(site, "moon", tags=["a"], at=shift(clock, 1))
    clock.time += MINUTE
    start = threading.Barrier(2)

    def run() -> None:
        start.wait()
        tag_counts.count_due(runtime)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert numbers_of(runtime) == {"a": 1}


@pytest.mark.parametrize("wrong", ["page", "number", "missing", "left over"])
def test_the_schedule_mends_wrong_numbers_within_a_day(
    site: Client, runtime: Runtime, clock: Clock, wrong: str
) -> None:
    """A container of release 0.3.0 changes a page alone, or an operator changes numbers."""
    page = published(site, "moon", tags=["a"])
    published(site, "sun", tags=["a", "b"])
    rows = TAG_COUNTS.of(runtime.database)
    if wrong == "page":
        where = {"_id": page, "site": SITE}
        NODES.of(runtime.database).update_one(where, {"$set": {"published": None, "live": None}})
    elif wrong == "number":
        rows.update_one({"_id": f"{SITE}:a", "site": SITE}, {"$set": {"pages": 7}})
    elif wrong == "missing":
        rows.delete_many({"site": SITE})
    else:
        rows.insert_one({"_id": f"{SITE}:x", "site": SITE, "tag": "x", "pages": 1})
    assert tags_shown(site) != recount(runtime)

    mended = []
    begin = clock.time
    for minute in range(24 * 60):
        clock.time = begin + minute * MINUTE
        mended += tag_counts.repair(runtime)

    assert mended == [SITE]
    assert tags_shown(site) == numbers_of(runtime) == recount(runtime) != {}


def test_a_site_that_cannot_be_compared_keeps_no_other_from_its_comparison(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(site, "moon", tags=["a"])
    TAG_COUNTS.of(runtime.database).delete_many({"site": SITE})
    compare = tag_counts._is_right

    def fail_first(here: Runtime, name: str, now: Any) -> bool:
        if name == "aaa":
            raise Unavailable
        return compare(here, name, now)

    monkeypatch.setattr(tag_counts, "_is_right", fail_first)
    monkeypatch.setattr(tag_counts, "minute_of", lambda _site: tag_counts._minute(runtime.now()))
    row = NODES.of(runtime.database).find_one({"site": SITE})
    assert row is not None
    NODES.of(runtime.database).insert_one({**row, "_id": "other", "site": "aaa"})

    assert tag_counts.repair(runtime) == [SITE]
    assert numbers_of(runtime) == {"a": 1}


def test_a_mend_without_time_for_all_pages_ends_with_right_numbers_of_the_counted(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(site, "moon", tags=["a"])
    TAG_COUNTS.of(runtime.database).delete_many({"site": SITE})
    monkeypatch.setattr(deadlines, "share", lambda _part: lambda: False)

    tag_counts._mend(runtime, SITE)

    assert numbers_of(runtime) == {"a": 1}


def test_a_list_of_tags_takes_two_round_trips(
    site: Client, listened: Runtime, commands: Commands, clock: Clock
) -> None:
    for name in ("moon", "sun", "sea"):
        published(site, name, tags=["a", name])
    tag_counts.most_used(listened, SITE)
    commands.names.clear()

    assert tag_counts.most_used(listened, SITE)[0] == ("a", 3)
    assert commands.names == ["find", "find"]

    published(site, "later", tags=["a"], at=shift(clock, 1))
    clock.time += MINUTE
    commands.names.clear()
    assert tag_counts.most_used(listened, SITE)[0] == ("a", 4)
    assert commands.names == ["find", *["find"] * 3, "commitTransaction"]


def test_a_list_of_tags_reads_no_page_of_a_large_site(site: Client, runtime: Runtime) -> None:
    first = published(site, "moon", tags=["a"])
    page = NODES.of(runtime.database).find_one({"_id": first, "site": SITE})
    assert page is not None
    copies: list[Any] = [{**page, "_id": f"copy{n:012}", "discussion": None} for n in range(500)]
    NODES.of(runtime.database).insert_many(copies)
    # A plan that was best for the few pages of another test may be kept for these.
    runtime.database.command("planCacheClear", NODES.name)
    runtime.database.command("profile", 2)
    try:
        tag_counts.most_used(runtime, SITE)
    finally:
        runtime.database.command("profile", 0)

    # A schedule of an earlier test may still look at pages, of all sites.
    ours = [{"ns": {"$regex": "tag$"}}, {"command.filter.site": SITE}]
    read = {"op": "query", "ns": {"$regex": "content[.](node|tag)$"}, "$or": ours}
    profiled = list(runtime.database["system.profile"].find(read))
    runtime.database.drop_collection("system.profile")
    reads = [(each["ns"], each["docsExamined"], each["keysExamined"]) for each in profiled]
    assert reads != []
    # The tag, and no share of the 501 pages. The server may look at a document twice.
    assert sum(docs for _, docs, _ in reads) <= 3, reads
    assert sum(keys for _, _, keys in reads) <= 5, reads


def test_tending_counts_what_it_changes(site: Client, runtime: Runtime, clock: Clock) -> None:
    page = published(site, "moon", tags=["old"])
    assert save(editor(site), page, 1, tags=["new"]).status == 200
    assert publish(site, page, 2, at=shift(clock, 1)).status == 200
    clock.time += MINUTE

    assert tending.make_live(runtime) == 1

    assert numbers_of(runtime) == tags_shown(site) == {"new": 1}
    assert tag_counts.count_due(runtime) == 0

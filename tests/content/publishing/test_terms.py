"""Rows of words: of what readers see of a page, after any crash and any two calls at once."""

import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pymongo.errors import PyMongoError

from chalicelib import deadlines
from chalicelib.content import terms
from chalicelib.content.jobs import run_due
from chalicelib.content.nodes import NODES
from chalicelib.runtime import Runtime
from tests.content.reading.test_tag_counts import STEPS, TAGS, Desk
from tests.content.support.factories import (
    SITE,
    editor,
    listed,
    node,
    publish,
    published,
    publisher,
    republish,
    save,
    write,
)
from tests.content.support.searching import found, rows
from tests.content.support.wordpress import bring, item
from tests.support.clock import Clock
from tests.support.http_client import Client


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_a_search_finds_what_the_lists_have_after_each_step(
    site: Client, runtime: Runtime, clock: Clock, steps: list[tuple[Any, ...]]
) -> None:
    for collection in (NODES, terms.TERMS):
        collection.of(runtime.database).delete_many({"site": SITE})
    desk = Desk(site, runtime, clock)
    for step in steps:
        desk.take(step)
        for tag in TAGS:
            assert sorted(found(site, tag, 1)) == sorted(listed(site, f"&tag={tag}")), step


def test_imported_pages_are_found(site: Client, runtime: Runtime) -> None:
    bring(runtime, item(1, "<p>The <b>ferry</b></p>"), item(2, "<p>ferry</p>", wp__status="draft"))

    assert found(site, "ferry") == listed(site) != []


def test_a_stale_row_shows_no_page_that_is_withdrawn(site: Client, runtime: Runtime) -> None:
    """A container of release 0.3.0 changes the page alone."""
    page = published(site, detail={"text": "ferry"})
    own: Any = {"_id": page, "site": SITE}
    NODES.of(runtime.database).update_one(own, {"$set": {"published": None, "live": None}})

    assert rows(runtime).keys() == {page}
    assert found(site, "ferry") == []


def test_the_schedule_finds_pages_that_another_release_has_published(
    site: Client, runtime: Runtime
) -> None:
    pages = [published(site, f"p{number}", detail={"text": "ferry"}) for number in range(3)]
    write(editor(site), "draft", detail={"text": "ferry"})
    # Pages of release 0.3.0 have no rules and no rows; the last has rows of an edition before.
    terms.TERMS.of(runtime.database).delete_many({"site": SITE, "_id": {"$in": pages[:2]}})
    where: Any = {"site": SITE, "_id": {"$in": pages}}
    NODES.of(runtime.database).update_many(where, {"$unset": {"live.terms_rules": ""}})
    last: Any = {"site": SITE, "_id": pages[2]}
    other = {"$set": {"live.title": "Boat", "live.version": 2}}
    NODES.of(runtime.database).update_one(last, other)
    assert found(site, "ferry") == []

    assert terms.index_due(runtime) == 3

    assert sorted(found(site, "ferry")) == ["p0", "p1", "p2"]
    assert found(site, "boat") == ["p2"]
    assert terms.index_due(runtime) == 0


@pytest.mark.bounds(content={"tended_at_once": 2})
def test_the_schedule_indexes_a_bounded_number_in_a_run(site: Client, runtime: Runtime) -> None:
    for number in range(5):
        published(site, f"p{number}", detail={"text": "ferry"})
    NODES.of(runtime.database).update_many({"site": SITE}, {"$unset": {"live.terms_rules": ""}})
    terms.TERMS.of(runtime.database).delete_many({"site": SITE})

    for number in (2, 4, 5):
        run_due(runtime)
        assert len(found(site, "ferry")) == number


def test_a_run_of_long_pages_leaves_the_others_to_the_next(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        published(site, f"p{number}", detail={"text": "ferry"})
    NODES.of(runtime.database).update_many({"site": SITE}, {"$unset": {"live.terms_rules": ""}})
    store, left = terms.store, [30.0]
    monkeypatch.setattr(deadlines, "remaining", lambda: left[0])

    def be_slow(*given: Any) -> None:
        left[0] -= 8
        store(*given)

    def run() -> int:
        left[0] = 30
        return terms.index_due(runtime)

    monkeypatch.setattr(terms, "store", be_slow)

    assert [run() for _ in range(3)] == [2, 1, 0]


def test_new_rules_of_words_replace_all_rows(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = published(site, detail={"text": "ferry"})
    monkeypatch.setattr(terms, "_DUE", {**terms._DUE, "live.terms_rules": {"$not": {"$gte": 9}}})
    monkeypatch.setattr(terms, "RULES", 9)
    monkeypatch.setattr(terms, "index_tokens", lambda text: iter([f"new-{len(text)}"]))

    assert (terms.index_due(runtime), terms.index_due(runtime)) == (1, 0)

    assert all(each.startswith("new-") for each in rows(runtime)[page])


def test_a_crash_between_a_page_and_its_words_leaves_neither(
    site: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = published(site, detail={"text": "ferry"})
    assert save(editor(site), page, 1, detail={"text": "train"}).status == 200
    store = terms.store

    def die(*given: Any) -> None:
        store(*given)
        raise PyMongoError("the container ends")

    monkeypatch.setattr(terms, "store", die)
    assert publish(site, page, 2).status >= 500
    assert publisher(site).post(f"{node(page)}/unpublish").status >= 500
    monkeypatch.undo()
    assert (found(site, "ferry"), found(site, "train")) == (["moon"], [])

    assert publish(site, page, 2).status == 200
    assert publish(site, page, 2).status == 200
    assert (found(site, "ferry"), found(site, "train")) == ([], ["moon"])


def test_of_two_publishers_at_once_the_words_are_those_that_readers_see(
    site: Client, runtime: Runtime
) -> None:
    page = published(site, detail={"text": "ferry"})
    assert save(editor(site), page, 1, detail={"text": "train"}).status == 200
    start = threading.Barrier(3)

    def run(act: str) -> None:
        start.wait()
        if act == "publish":
            assert publish(site, page, 2).status == 200
        elif act == "unpublish":
            assert publisher(site).post(f"{node(page)}/unpublish").status == 200
        else:
            run_due(runtime)

    NODES.of(runtime.database).update_one(
        {"_id": page, "site": SITE}, {"$unset": {"live.terms_rules": ""}}
    )
    acts = ("publish", "unpublish", "tend")
    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    stored = NODES.of(runtime.database).find_one({"_id": page, "site": SITE})
    assert stored is not None
    right = {row["_id"]: row["terms"] for row in terms.rows_of(stored)}
    assert rows(runtime) == right
    is_live = listed(site) == ["moon"]
    assert is_live == bool(right)
    assert found(site, "train") == (["moon"] if is_live else [])
    assert found(site, "ferry") == []


def test_an_older_reading_of_a_page_replaces_no_newer_row(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = published(site, detail={"text": "ferry"})
    NODES.of(runtime.database).update_one(
        {"_id": page, "site": SITE}, {"$unset": {"live.terms_rules": ""}}
    )
    store, calls = terms.store, []

    def be_late(*given: Any) -> None:
        calls.append(given)
        if len(calls) == 1:
            # Another container, whose publication comes between the reading and the row.
            monkeypatch.setattr(terms, "store", store)
            republish(site, page, 1, "train")
        store(*given)

    monkeypatch.setattr(terms, "store", be_late)
    assert terms.index_due(runtime) == 1

    assert (found(site, "ferry"), found(site, "train")) == ([], ["moon"])

"""Discussions of other systems beside living ones: whole, in order, once."""

from datetime import timedelta

import pytest

from chalicelib.comments import jobs
from chalicelib.comments.entries.kind import KIND
from chalicelib.comments.importing.shapes import Item
from chalicelib.marks.verification import verify
from chalicelib.people.ids import IMPORTED_ID
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.entries import NONE, difference, entries, entry
from tests.comments.support.importing import (
    at_url,
    bring,
    brought,
    comment,
    everything,
    thread,
    told,
)
from tests.support.clock import START, Clock

THREADED = Layout("documents", threaded=True)


def test_a_thread_becomes_the_discussion_of_its_page(runtime: Runtime) -> None:
    items = [comment("2", 5, parent="1"), comment("1", 10), comment("3", 1)]

    done = bring(runtime, [thread(locked=True), *items])

    discussion = at_url(runtime)
    assert discussion.node_id == "default:a-page"
    assert discussion.texts() == ["text of 1", "text of 2", "text of 3"]
    assert discussion.node["locked"]
    assert discussion.node["counts"] == {"visible": 3, "pending": 0}
    assert discussion.node["last_seq"] == 3
    assert difference(discussion) == NONE
    assert (done["status"], done["counts"]) == (
        "done",
        {"threads": 1, "comments": 3, "imported": 3},
    )
    shown = discussion.page()["comments"]
    assert [each["posted_at"] for each in shown] == [
        START - timedelta(minutes=each) for each in (10, 5, 1)
    ]
    assert discussion.get(shown[0]["id"])["reply_count"] == 1


def test_living_comments_keep_their_ids_and_find_their_places_in_time(
    discussion: Discussion, clock: Clock
) -> None:
    """In every store."""
    runtime = discussion.runtime
    ids = [discussion.post("first", by="ann")["id"]]
    clock.advance(minutes=10)
    ids.append(discussion.post("second", by="bob")["id"])
    if discussion.node["threaded"]:
        ids.append(discussion.post("a reply", ids[0], by="bob")["id"])
    store, before = discussion.node["store"], discussion.walk()
    between = comment("between", -5)

    bring(runtime, [thread(), comment("old", 5), between, comment("older", 60)])

    old = ["text of older", "text of old"]
    tail = ["first", "a reply"] if len(ids) > 2 else ["first"]
    assert discussion.texts() == [*old, *tail, "text of between", "second"]
    kept = [each for each in discussion.walk() if each["id"] in ids]
    assert [{**each, "slug": 0} for each in kept] == [{**each, "slug": 0} for each in before]
    assert [each["slug"] for each in kept] == [each["slug"] for each in before]
    assert discussion.node["store"] == store
    assert discussion.node["counts"]["visible"] == len(ids) + 3
    assert difference(discussion) == NONE
    clock.advance(minutes=1)
    assert discussion.post("third")["seq"] == len(ids) + 4
    assert discussion.texts()[-1] == "third"


def test_no_reply_comes_before_its_parent(runtime: Runtime) -> None:
    items = [
        comment("child", 30, parent="parent"),
        comment("grandchild", 40, parent="child"),
        comment("parent", 10),
        comment("between", 20),
    ]

    discussion = brought(runtime, *items)

    names = ["between", "parent", "child", "grandchild"]
    assert [text for text, _ in told(discussion)] == [f"text of {name}" for name in names]
    assert [each["depth"] for each in discussion.walk()] == [0, 0, 1, 2]
    assert difference(discussion) == NONE


def test_a_reply_without_parent_and_a_circle_are_roots_and_told(runtime: Runtime) -> None:
    items = [
        comment("lost", 9, parent="nobody"),
        comment("a", 8, parent="b"),
        comment("b", 7, parent="a"),
        comment("itself", 6, parent="itself"),
        comment("below", 8.5, parent="a"),
    ]

    done = bring(runtime, [thread(), *items])

    discussion = at_url(runtime)
    assert {each["text"]: each["depth"] for each in discussion.walk()} == {
        "text of lost": 0,
        "text of a": 0,
        "text of b": 1,
        "text of itself": 0,
        "text of below": 1,
    }
    assert done["counts"]["unknown_parent"] == 1
    assert done["counts"]["circle"] == 2
    assert {each["reason"] for each in done["samples"]} == {"unknown_parent", "circle"}
    assert difference(discussion) == NONE


def test_a_reply_whose_parent_is_missing_stands_below_the_root_of_its_thread(
    runtime: Runtime,
) -> None:
    items = [
        comment("orphan", 9, parent="gone", root="root"),
        comment("root", 8),
        comment("reply", 7, parent="root", root="root"),
        comment("answer", 6, parent="reply", root="root"),
        comment("late", 5, parent="gone", root="gone too"),
    ]

    done = bring(runtime, [thread(), *items])

    discussion = at_url(runtime)
    assert [(each["text"], each["depth"]) for each in discussion.walk()] == [
        ("text of root", 0),
        ("text of orphan", 1),
        ("text of reply", 1),
        ("text of answer", 2),
        ("text of late", 0),
    ]
    assert done["counts"]["unknown_parent"] == 1
    assert difference(discussion) == NONE
    again = bring(runtime, [thread(), *items, comment("7", 1, parent="x", root="root")], digest="2")
    assert again["counts"]["imported"] == 1
    assert discussion.walk()[-2]["text"] == "text of 7"


def test_a_reply_below_the_deepest_level_stands_beside_what_it_answers(runtime: Runtime) -> None:
    Discussion.make(runtime, THREADED, max_depth=2)
    chain = [
        comment(str(number), 60 - number, parent=str(number - 1) if number > 1 else None)
        for number in range(1, 7)
    ]

    discussion = brought(runtime, *chain)

    shown = discussion.walk()
    assert [each["depth"] for each in shown] == [0, 1, 2, 2, 2, 2]
    assert shown[4]["reply_to"]["id"] == shown[3]["id"]
    assert difference(discussion) == NONE


@pytest.mark.parametrize("layout", [Layout("documents", threaded=False)], ids=str)
def test_a_flat_discussion_takes_replies_as_comments(discussion: Discussion) -> None:
    done = bring(discussion.runtime, [thread(), comment("1", 9), comment("2", 8, parent="1")])

    assert discussion.texts() == ["text of 1", "text of 2"]
    assert done["counts"]["flattened"] == 1
    assert difference(discussion) == NONE


def test_states_stay(runtime: Runtime, clock: Clock) -> None:
    items = [
        comment("waits", 9, state="pending"),
        comment("spam", 8, state="spam"),
        comment("hidden", 7, state="hidden"),
        comment("gone", 6, state="deleted", text="", author=None),
        comment("reply", 5, parent="gone"),
        comment("gone too", 4, state="deleted", text="", author=None),
    ]

    discussion = brought(runtime, *items)

    assert [state for _, state in told(discussion)] == [
        "pending",
        "spam",
        "hidden",
        "deleted",
        "visible",
        "removed",
    ]
    assert discussion.texts() == [None, "text of reply"]
    assert discussion.node["counts"] == {"visible": 1, "pending": 1}
    assert runtime.database["comments.pending"].count_documents({}) == 1
    found = {
        row["excerpt"]: row["reasons"] for row in entries(discussion).values() if "excerpt" in row
    }
    assert found == {"text of waits": ["before"], "text of spam": ["spam_check"]}
    assert difference(discussion) == NONE
    clock.advance(hours=1)
    jobs.run_due(runtime)
    # Old spam begins its time here.
    assert ("text of spam", "spam") in told(discussion)


def test_votes_come_over_with_and_without_their_voters(runtime: Runtime) -> None:
    named = comment("named", 9, ups=3, downs=1, votes=(("eve", 1), ("joe", -1)))

    discussion = brought(runtime, named, comment("totals", 8, ups=5, downs=2))

    first, second = (entry(discussion, each["id"]) for each in discussion.walk())
    assert (first["up"], first["down"], first["base"]) == (1, 1, {"up": 2, "down": 0})
    assert (second["up"], second["base"]) == (0, {"up": 5, "down": 2})
    assert (second["top"], first["top"]) == (3, 2)
    assert verify(runtime.database, KIND).wrong == 0
    assert runtime.database["mark"].count_documents({}) == 2
    assert all(IMPORTED_ID.fullmatch(row["user_id"]) for row in runtime.database["mark"].find())


def test_the_same_file_twice_changes_nothing(discussion: Discussion, clock: Clock) -> None:
    runtime = discussion.runtime
    discussion.post("living")
    items: list[Item] = [
        thread(),
        comment("1", 9, ups=2, votes=(("eve", 1),)),
        comment("2", 8, parent="1", state="pending"),
        comment("3", 7, state="deleted", text="", author=None),
        comment("4", -5),
    ]
    bring(runtime, items)
    before = everything(runtime, ["comments.import"])
    clock.advance(minutes=30)

    done = bring(runtime, items, digest="another name")

    assert everything(runtime, ["comments.import"]) == before
    assert done["counts"]["present"] == 4
    assert "imported" not in done["counts"]


def test_a_later_export_adds_what_is_new(runtime: Runtime, clock: Clock) -> None:
    first = [comment("1", 9), comment("gone", 8, state="deleted", text="", author=None)]
    discussion = brought(runtime, *first)
    living = discussion.post("living")
    clock.advance(minutes=10)

    bring(
        runtime,
        [thread(), *first, comment("2", 7, parent="1"), comment("3", 6, parent="gone")],
        digest="later",
    )

    assert [text for text, _ in told(discussion)] == [
        "text of 1",
        "",
        "text of 2",
        "text of 3",
        "living",
    ]
    assert told(discussion)[1] == ("", "deleted")
    assert discussion.get(living["id"])["text"] == "living"
    assert difference(discussion) == NONE


def test_what_was_deleted_here_stays_deleted(runtime: Runtime) -> None:
    items = [comment("1", 9), comment("2", 8)]
    discussion = brought(runtime, *items)
    discussion.delete(discussion.walk()[0]["id"])

    brought(runtime, *items, digest="again")

    assert discussion.texts() == ["text of 2"]

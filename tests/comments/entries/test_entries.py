"""An entry beside every comment: made with it, settled with it, and found again after a crash."""

import pytest

from chalicelib.comments import notifications, personal_data, repair
from chalicelib.comments.entries import upkeep, writing
from chalicelib.comments.entries.comparing import Difference
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.forms import PendingQuery
from chalicelib.comments.jobs import run_due
from chalicelib.comments.lifecycle import relocation, vacancies
from chalicelib.comments.moderation import queue
from chalicelib.comments.moderation.queue import PENDING
from chalicelib.comments.store import Added
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.discussion import PEOPLE, Discussion, Layout
from tests.comments.support.entries import NONE, difference, entries, entry
from tests.support.clock import Clock


def test_a_comment_has_an_entry(discussion: Discussion, clock: Clock) -> None:
    posted = discussion.post("first")

    assert entry(discussion, posted["id"]) == {
        "_id": f"a-page/{posted['id']}",
        "site": "default",
        "node_id": "a-page",
        "id": posted["id"],
        "seq": 1,
        "depth": 0,
        "posted": clock(),
        "author_id": "ann",
        "author_key": "ann",
        "root": posted["id"],
        "state": "visible",
        "ranked": True,
        "thread": 1,
        "up": 0,
        "down": 0,
        "reactions": {},
        "best": 0,
        "top": 0,
        "contro": 0,
        "queue": None,
        "todo": clock(),
    }


def test_entries_agree_with_comments_after_every_change(
    discussion: Discussion, layout: Layout
) -> None:
    root = discussion.post("root")["id"]
    above = root if layout.threaded else None
    reply = discussion.post("reply", above, by="bob")["id"]
    for state in ("hidden", "pending", "visible"):
        discussion.set_state(root, state)
        assert difference(discussion) == NONE
    discussion.edit(reply, "edited")
    discussion.delete(root)
    assert difference(discussion) == NONE
    discussion.delete(reply)

    assert difference(discussion) == NONE
    assert [row["author_id"] for row in entries(discussion).values()] == [None, None]


def test_a_thread_is_counted_at_its_root(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    root = discussion.post("root")["id"]
    reply = discussion.post("reply", root)["id"]
    discussion.post("below", reply)

    found = entries(discussion)

    assert (found[root]["thread"], found[reply]["thread"]) == (3, 1)
    assert (found[root]["ranked"], found[reply]["ranked"]) == (True, False)


@pytest.mark.parametrize("state", ["hidden", "pending"])
def test_a_root_that_is_not_shown_is_listed_with_its_replies_alone(
    runtime: Runtime, state: str
) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    alone, answered = discussion.post("alone")["id"], discussion.post("answered")["id"]
    discussion.post("reply", answered)
    for root in (alone, answered):
        discussion.set_state(root, state)  # type: ignore[arg-type]

    found = entries(discussion)

    assert (found[alone]["ranked"], found[answered]["ranked"]) == (False, True)


def test_a_tombstone_loses_its_keys_and_keeps_its_votes(discussion: Discussion) -> None:
    root = discussion.post("root")["id"]
    voted = {"up": 9, "best": 7_000, "top": 9, "contro": 3}
    ENTRIES.of(discussion.runtime.database).update_one(
        {"_id": f"a-page/{root}", "site": "default"}, {"$set": voted}
    )

    discussion.delete(root)

    found = entry(discussion, root)
    assert [found[name] for name in voted] == [9, 0, 0, 0]


def test_what_waits_is_queued_with_its_beginning(discussion: Discussion, clock: Clock) -> None:
    waiting = discussion.post("$waits" + "x" * 500)["id"]
    discussion.set_state(waiting, "pending")
    posted = clock()
    clock.advance(minutes=1)
    discussion.edit(waiting, "$edited")

    queued = entry(discussion, waiting)
    discussion.set_state(waiting, "visible")

    names = ("queue", "queued_at", "excerpt", "author_name", "edited")
    values = [queued[name] for name in names]
    assert values == ["pending", posted, "$edited", "Ann", clock()]
    settled = entry(discussion, waiting)
    assert settled["queue"] is None
    assert settled.keys().isdisjoint(names[1:])


def test_a_move_to_another_store_leaves_entries_alone(
    discussion: Discussion, layout: Layout
) -> None:
    discussion.post("first")
    before = entries(discussion)

    discussion.move("documents" if layout.store == "embedded" else "embedded")

    assert entries(discussion) == before
    assert difference(discussion) == NONE


def _vote(discussion: Discussion, comment_id: str, up: int) -> None:
    ENTRIES.of(discussion.runtime.database).update_one(
        {"_id": f"{discussion.node_id}/{comment_id}", "site": "default"},
        {"$inc": {"up": up, "reactions.heart": up}},
    )


def test_a_move_to_another_id_carries_entries_with_their_votes(discussion: Discussion) -> None:
    ids = [discussion.post(text)["id"] for text in "abc"]
    _vote(discussion, ids[1], up=5)

    relocation.relocate(discussion.runtime, "a-page", "blog:b-page")

    moved = Discussion(discussion.runtime, "blog:b-page")
    assert difference(moved) == NONE
    assert entries(moved)[ids[1]]["up"] == 5
    assert entries(moved)[ids[1]]["reactions"] == {"heart": 5}
    assert ENTRIES.of(discussion.runtime.database).count_documents({"site": "default"}) == 0


def test_votes_on_both_sides_of_a_move_that_crashed_are_added_up(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    comment = discussion.post("voted")["id"]
    _vote(discussion, comment, up=5)
    with monkeypatch.context() as patched:
        patched.setattr(relocation, "carry", crash)
        with pytest.raises(Crash):
            relocation.relocate(discussion.runtime, "a-page", "b-page")
    moved = Discussion(discussion.runtime, "b-page")
    clock.advance(minutes=60)
    repair.repair_counts(discussion.runtime)
    _vote(moved, comment, up=2)

    for _ in range(3):
        run_due(discussion.runtime)
        clock.advance(minutes=60)

    (found,) = entries(moved).values()
    assert (found["_id"], found["up"], found["reactions"]) == (
        f"b-page/{comment}",
        7,
        {"heart": 7},
    )
    assert difference(moved) == NONE


def test_a_deleted_node_leaves_no_entry(discussion: Discussion) -> None:
    discussion.post("first")

    vacancies.delete(discussion.runtime, "a-page")

    assert ENTRIES.of(discussion.runtime.database).count_documents({}) == 0


def test_a_post_that_ended_before_its_comment_leaves_an_entry_that_is_swept(
    discussion: Discussion, layout: Layout, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    root = discussion.post("root")["id"]
    with monkeypatch.context() as patched:
        patched.setattr(type(store_of(discussion.runtime, discussion.node)), "add", crash)
        with pytest.raises(Crash):
            discussion.post("lost", root if layout.threaded else None)
    assert difference(discussion).extra == 1
    clock.advance(minutes=14)
    assert upkeep.sweep(discussion.runtime, notifications.agree) == 0
    clock.advance(minutes=1)

    assert upkeep.sweep(discussion.runtime, notifications.agree) == 1

    assert difference(discussion) == NONE
    assert entry(discussion, root)["todo"] is None
    assert upkeep.sweep(discussion.runtime, notifications.agree) == 0


def test_an_entry_of_an_attempt_that_ended_is_taken_over(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "chalicelib.comments.writing.draft.new_comment_id", lambda _rng: "aaaaaaaaaa"
    )
    with monkeypatch.context() as patched:
        patched.setattr(type(store_of(discussion.runtime, discussion.node)), "add", crash)
        with pytest.raises(Crash):
            discussion.post("lost", by="bob")

    discussion.post("again")

    assert entry(discussion, "aaaaaaaaaa")["seq"] == 2
    assert difference(discussion) == NONE


def test_an_id_of_a_comment_without_an_entry_stays_that_comments(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = iter(["aaaaaaaaaa", "aaaaaaaaaa", "bbbbbbbbbb"])
    monkeypatch.setattr("chalicelib.comments.writing.draft.new_comment_id", lambda _rng: next(ids))
    discussion.post("without an entry", by="bob")
    ENTRIES.of(discussion.runtime.database).delete_many({})
    discussion.post("new")

    assert difference(discussion) == NONE
    assert {row["author_id"] for row in entries(discussion).values()} == {"ann", "bob"}


def test_old_comments_get_their_entries_while_people_post(
    discussion: Discussion, layout: Layout
) -> None:
    root = discussion.post("old")["id"]
    discussion.post("old reply", root if layout.threaded else None)
    discussion.set_state(discussion.post("waits")["id"], "pending")
    expected = entries(discussion)
    ENTRIES.of(discussion.runtime.database).delete_many({})

    told = upkeep.compare_nodes(discussion.runtime)

    assert told == {"missing": 3, "wrong": 0, "extra": 0, "next": None}
    todo = {"todo": None}
    assert entries(discussion) == {key: row | todo for key, row in expected.items()}


def test_comparing_without_repairing_changes_nothing(discussion: Discussion) -> None:
    discussion.post("old")
    ENTRIES.of(discussion.runtime.database).delete_many({})

    told = upkeep.compare_nodes(discussion.runtime, is_repairing=False)

    assert (told["missing"], difference(discussion)) == (1, Difference(missing=1))


def test_missing_entries_are_made_by_the_schedule(discussion: Discussion, clock: Clock) -> None:
    discussion.post("first")
    ENTRIES.of(discussion.runtime.database).delete_many({})
    clock.advance(minutes=15)

    run_due(discussion.runtime)

    assert difference(discussion) == NONE


def test_entries_that_are_wrong_are_repaired_and_keep_their_votes(
    discussion: Discussion, clock: Clock
) -> None:
    comment = discussion.post("first")["id"]
    _vote(discussion, comment, up=3)
    wrong = {"state": "hidden", "ranked": False, "thread": 9, "author_id": "zed"}
    ENTRIES.of(discussion.runtime.database).update_many({}, {"$set": wrong})
    assert difference(discussion) == Difference(wrong=1)
    clock.advance(minutes=15)

    assert repair.repair_counts(discussion.runtime) == 1

    assert difference(discussion) == NONE
    assert entry(discussion, comment)["up"] == 3


def test_an_entry_that_changes_meanwhile_is_not_repaired(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    comment = discussion.post("first")["id"]
    ENTRIES.of(discussion.runtime.database).update_many({}, {"$set": {"thread": 9}})
    store = type(store_of(discussion.runtime, discussion.node))
    export = store.export

    def hidden_meanwhile(*args: object) -> object:
        batches = list(export(*args))  # type: ignore[arg-type]
        discussion.set_state(comment, "hidden")
        return iter(batches)

    with monkeypatch.context() as patched:
        patched.setattr(store, "export", hidden_meanwhile)
        upkeep.compare_nodes(discussion.runtime)

    assert entry(discussion, comment)["state"] == "hidden"


def test_a_rename_reaches_what_is_queued(discussion: Discussion) -> None:
    waiting = discussion.post("waits")["id"]
    discussion.set_state(waiting, "pending")

    personal_data.rename(discussion.runtime, "ann", "Anna")

    assert entry(discussion, waiting)["author_name"] == "Anna"


def test_an_erasure_leaves_nobody_in_an_entry(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion.set_state(discussion.post("waits")["id"], "pending")
    with monkeypatch.context() as patched:
        patched.setattr(type(store_of(discussion.runtime, discussion.node)), "add", crash)
        with pytest.raises(Crash):
            discussion.post("never stored")

    personal_data.erase(discussion.runtime, "ann")

    assert {row["author_id"] for row in entries(discussion).values()} == {None}
    assert all("author_name" not in row for row in entries(discussion).values())


def test_what_the_last_release_queued_is_in_the_queue(discussion: Discussion) -> None:
    waiting = [discussion.post(str(number))["id"] for number in range(5)]
    for comment in waiting:
        discussion.set_state(comment, "pending")
    database = discussion.runtime.database
    ENTRIES.of(database).delete_many({"id": {"$in": waiting[1:3]}})
    PENDING.of(database).delete_many({"id": {"$in": waiting[2:4]}})
    moderator = PEOPLE["mo"]
    assert moderator is not None

    first = queue.list_pending(discussion.runtime, PendingQuery(limit=2), moderator)
    rest = queue.list_pending(
        discussion.runtime, PendingQuery(limit=9, cursor=first["next"]), moderator
    )

    listed = [row["id"] for row in [*first["comments"], *rest["comments"]]]
    assert sorted(listed) == sorted(set(waiting) - {waiting[2]})


def test_a_comment_that_was_stored_twice_is_entered_once(discussion: Discussion) -> None:
    comment = discussion.post("first")

    assert not writing.add(
        discussion.runtime.database, discussion.node, comment, discussion.runtime.now()
    )
    assert store_of(discussion.runtime, discussion.node).add(discussion.node, comment) is (
        Added.DUPLICATE
    )

"""Imports that end early, run twice at once, or meet living writers: nothing is lost or doubled."""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from pymongo.collection import Collection

from chalicelib.comments import jobs, nodes
from chalicelib.comments.discussion import highlighting
from chalicelib.comments.entries.kind import KIND
from chalicelib.comments.errors import ImportRunning
from chalicelib.comments.importing import applying, lease, running, settling, staging
from chalicelib.comments.importing.lease import LEASE, ImportTakenOver
from chalicelib.comments.importing.rows import STAGED, THREADS
from chalicelib.comments.importing.running import ImportOrder, ImportProgress
from chalicelib.comments.importing.shapes import ImportedComment, Item
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.writing import post
from chalicelib.errors import InvalidCursor, Unavailable
from chalicelib.foreign.broken import BrokenFile
from chalicelib.marks.verification import verify
from chalicelib.runtime import Runtime
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.discussion import PUBLISHER, Discussion, Layout
from tests.comments.support.entries import NONE, difference, entries
from tests.comments.support.importing import (
    at_url,
    bring,
    comment,
    everything,
    thread,
    told,
)
from tests.support.clock import START, Clock
from tests.support.isolation import empty_collections

THREADED = Layout("documents", threaded=True)
ITEMS: list[Item] = [
    thread(),
    comment("1", 9, ups=2, votes=(("eve", 1),)),
    comment("2", 8, parent="1", state="pending"),
    comment("3", 7, parent="nobody"),
    comment("4", 6, state="deleted", text="", author=None),
    thread("u", "https://blog.example/other"),
    comment("1", 5, thread="u", parent="2"),
    comment("2", 4, thread="u"),
    # Its id is that of another comment: it stays out, once.
    comment("1", 3, thread="u"),
]
# All of one thread.
FEW = ITEMS[:5]
EVERY_STEP = os.environ.get("PLAZA_TEST_EVERY_STEP") == "1"


def outcome(runtime: Runtime) -> Any:
    """Return all that readers and moderators see after an import, and its report."""
    found = {}
    for url in runtime.database["comments.node"].distinct("url"):
        discussion = at_url(runtime, url)
        shown = [{**each, "can": 0, "editable_until": 0} for each in discussion.walk(by="mo")]
        rows = sorted(
            (row["id"], row["seq"], row["state"], row["up"], row["best"], row["thread"])
            for row in entries(discussion).values()
        )
        found[url] = (told(discussion), shown, discussion.node["counts"], rows)
        assert difference(discussion) == NONE
    (done,) = runtime.database["comments.import"].find()
    assert verify(runtime.database, KIND).wrong == 0
    pending = sorted(row["_id"] for row in runtime.database["comments.pending"].find())
    left = runtime.database["comments.staged"].count_documents({})
    return found, pending, left, done["status"], done["counts"], done["samples"]


@pytest.mark.processes
@pytest.mark.parametrize("store", ["documents", "embedded"][: 2 if EVERY_STEP else 1])
def test_an_import_that_is_killed_anywhere_goes_on_to_the_same_end(
    runtime: Runtime, clock: Clock, mongodb_uri: str, store: Any
) -> None:
    def prepare() -> None:
        empty_collections(runtime.database)
        runtime.random.seed(7)
        clock.time = START
        Discussion.make(runtime, Layout(store, threaded=True)).post("living")

    prepare()
    bring(runtime, FEW)
    unbroken = outcome(runtime)
    prepare()
    points = 0
    for number in crash_everywhere(runtime, mongodb_uri, lambda ending: bring(ending, FEW)):
        living = at_url(runtime)
        assert "living" in living.texts()
        assert len(living.walk(by="mo")) in {1, 4}
        if not is_done(runtime):
            clock.advance(minutes=2)
            bring(runtime, FEW)
        assert outcome(runtime) == unbroken, f"after a crash at {number}"
        prepare()
        points = number
    assert points > 40


def is_done(runtime: Runtime) -> bool:
    """Return whether an import has ended before the crash."""
    return runtime.database["comments.import"].count_documents({"status": "done"}) == 1


def test_two_imports_of_a_site_do_not_run_at_once(runtime: Runtime, clock: Clock) -> None:
    def read() -> Iterator[Item]:
        with pytest.raises(ImportRunning) as refused:
            bring(runtime, ITEMS)
        assert (refused.value.status, refused.value.code) == (409, "import_running")
        assert refused.value.facts == {"until": (clock() + LEASE).isoformat(timespec="seconds")}
        # Another site's import is of no concern.
        bring(runtime, ITEMS, site="other")
        yield from ITEMS

    running.run(runtime, ImportOrder("default", "isso", "of the file"), read)

    assert told(Discussion(runtime, "default:a-page"))[0] == ("text of 1", "visible")


def test_two_beginnings_in_one_moment_are_one_import(runtime: Runtime) -> None:
    both, ends = threading.Barrier(2), list[str]()

    def begin() -> None:
        both.wait()
        try:
            bring(runtime, ITEMS)
            ends.append("done")
        except ImportRunning:
            ends.append("refused")

    workers = [threading.Thread(target=begin) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()

    # The second may begin after the first, and then changes nothing.
    assert sorted(ends) in (["done", "done"], ["done", "refused"])
    assert len(told(at_url(runtime))) == 4
    assert difference(at_url(runtime)) == NONE


def test_who_was_away_for_longer_than_the_lease_stores_nothing_more(
    runtime: Runtime, clock: Clock
) -> None:
    def read() -> Iterator[Item]:
        yield from ITEMS[:2]
        clock.time += 2 * LEASE
        bring(runtime, ITEMS)
        yield from ITEMS[2:]

    with pytest.raises(ImportTakenOver):
        running.run(runtime, ImportOrder("default", "isso", "of the file"), read)

    assert outcome(runtime)[3] == "done"


def test_a_file_that_breaks_off_brings_nothing(runtime: Runtime, clock: Clock) -> None:
    def read() -> Iterator[Item]:
        yield from ITEMS
        raise BrokenFile("line 9", "it ends early")

    with pytest.raises(BrokenFile):
        running.run(runtime, ImportOrder("default", "isso", "of the file"), read)

    assert runtime.database["comments.node"].count_documents({}) == 0
    clock.time += 2 * LEASE
    bring(runtime, ITEMS, digest="of the mended file")
    assert outcome(runtime)[2] == 0


def test_readers_see_a_discussion_before_or_after(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    discussion = Discussion.make(runtime, THREADED)
    discussion.post("living")
    monkeypatch.setattr(applying, "_switch", crash)

    with pytest.raises(Crash):
        bring(runtime, ITEMS)

    assert discussion.texts() == ["living"]
    clock.advance(milliseconds=runtime.settings.lease_ms)
    assert discussion.post("goes on")["seq"] == 2


@pytest.mark.parametrize("layout", [THREADED, Layout("embedded", threaded=True)], ids=str)
@pytest.mark.parametrize("is_stored", [False, True], ids=["before", "after"])
def test_a_post_that_an_import_overtakes_comes_last_and_once(
    discussion: Discussion,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_stored: bool,
) -> None:
    """The import runs between the number of a post and its comment, or its confirmation."""
    runtime = discussion.runtime
    root = discussion.post("root")["id"]
    clock.advance(minutes=1)
    add = post._add

    def overtaken(over: Runtime, node: Node, made: Comment) -> Any:
        monkeypatch.setattr(post, "_add", add)
        added = add(over, node, made) if is_stored else None
        bring(runtime, ITEMS)
        return added if is_stored else add(over, node, made)

    monkeypatch.setattr(post, "_add", overtaken)
    posted = discussion.post("reply", root, by="bob")

    texts = [text for text, _ in told(discussion)]
    assert texts[-2:] == ["root", "reply"]
    assert texts.count("reply") == 1
    assert discussion.get(posted["id"])["slug"] == f"{root}/{posted['id']}"
    assert discussion.get(root)["reply_count"] == 1
    assert discussion.node["counts"]["visible"] == 4
    assert difference(discussion) == NONE
    clock.advance(minutes=1)
    assert discussion.post("next")["seq"] == 7


def test_posts_during_an_import_are_kept_in_order(runtime: Runtime, clock: Clock) -> None:
    discussion = Discussion.make(runtime, THREADED)
    discussion.post("0")
    stop, posted = threading.Event(), list[str]()

    def write() -> None:
        while not stop.is_set():
            clock.advance(milliseconds=1)
            posted.append(discussion.post(str(len(posted) + 1), by="bob")["id"])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            many = [comment(f"{number}-{each}", 90 + each) for each in range(600)]
            bring(runtime, [thread(), *many], digest=str(number))
    finally:
        stop.set()
        writer.join()

    texts = [text for text, _ in told(discussion)]
    assert len(posted) > 3
    assert texts[1_800:] == [str(number) for number in range(len(posted) + 1)]
    assert discussion.node["counts"]["visible"] == len(texts)
    assert discussion.node["last_seq"] >= len(texts)


def test_an_import_ends_cursors_of_former_numbers(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, THREADED)
    for number in range(3):
        discussion.post(str(number))
    cursors = {
        order: discussion.page(order, limit=1)["next"] for order in ("oldest", "newest", "best")
    }
    assert all(cursors.values())

    bring(runtime, ITEMS)

    for order, cursor in cursors.items():
        with pytest.raises(InvalidCursor):
            discussion.page(order, limit=1, cursor=cursor)  # type: ignore[arg-type]


def test_ranked_pages_are_whole_before_the_entries_follow(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    discussion = Discussion.make(runtime, THREADED)
    for text in ("a", "b"):
        root = discussion.post(text)["id"]
        discussion.post(f"reply to {text}", root)
    monkeypatch.setattr(running, "settle", crash)

    with pytest.raises(Crash):
        bring(runtime, ITEMS)

    assert discussion.texts("best") == ["a", "reply to a", "b", "reply to b"]
    monkeypatch.setattr(running, "settle", settling.settle)
    clock.time += 2 * LEASE
    bring(runtime, ITEMS)
    assert set(discussion.texts("best")) == set(discussion.texts())
    assert "imported" not in discussion.node


def test_the_schedule_may_make_the_entries_before_an_import_goes_on(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(running, "settle", crash)
    with pytest.raises(Crash):
        bring(runtime, ITEMS)
    clock.advance(minutes=20)
    jobs.run_due(runtime)
    first = at_url(runtime).walk()[0]["id"]
    assert "base" not in entries(at_url(runtime))[first]

    monkeypatch.setattr(running, "settle", settling.settle)
    bring(runtime, ITEMS)

    row = entries(at_url(runtime))[first]
    assert (row["up"], row["base"], row["top"]) == (1, {"up": 1, "down": 0}, 2)
    assert verify(runtime.database, KIND).wrong == 0


FEATURED: list[Item] = [
    thread(),
    comment("1", 9, own={"state": "visible", "featured": START - timedelta(minutes=5)}),
]


def test_a_comment_is_featured_as_its_file_says_although_the_schedule_made_its_entry(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(running, "settle", crash)
    with pytest.raises(Crash):
        bring(runtime, FEATURED, format="plaza")
    clock.advance(minutes=20)
    jobs.run_due(runtime)

    monkeypatch.setattr(running, "settle", settling.settle)
    bring(runtime, FEATURED, format="plaza")

    (row,) = entries(at_url(runtime)).values()
    assert row["featured"] == START - timedelta(minutes=5)


def test_an_import_that_goes_on_features_nothing_that_a_moderator_took_back(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(lease.Lease, "end_thread", crash)
        with pytest.raises(Crash):
            bring(runtime, FEATURED, format="plaza")
    discussion = at_url(runtime)
    (comment_id,) = entries(discussion)
    highlighting.unfeature(runtime, discussion.node_id, comment_id, PUBLISHER)
    clock.time += 2 * LEASE
    bring(runtime, FEATURED, format="plaza")

    (row,) = entries(at_url(runtime)).values()
    assert "featured" not in row


def test_an_import_waits_for_another_move(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, THREADED)
    monkeypatch.setattr(applying, "_MOVES_WAITED_SECONDS", 0.0)
    held = nodes.NODES.of(runtime.database)
    expiry = datetime(2027, 1, 1, tzinfo=runtime.now().tzinfo)
    move = {"owner": "other", "expires_at": expiry, "generation": 1}
    held.update_one({}, {"$set": {"moving": move, "last_generation": 1}})

    with pytest.raises(Unavailable):
        bring(runtime, ITEMS)

    held.update_one({}, {"$set": {"moving": None}})
    assert discussion.texts() == []


def test_an_order_that_changed_begins_anew(runtime: Runtime, clock: Clock) -> None:
    def read() -> Iterator[Item]:
        yield from ITEMS
        raise BrokenFile("line 9", "it ends early")

    with pytest.raises(BrokenFile):
        running.run(runtime, ImportOrder("default", "isso", "of the file"), read)
    with pytest.raises(ImportRunning):
        bring(runtime, ITEMS, digest="other")
    clock.time += 2 * LEASE

    bring(runtime, [thread(), comment("9", 3)], digest="other")

    assert at_url(runtime).texts() == ["text of 9"]
    assert everything(runtime)["comments.staged"] == []


def test_an_order_after_a_week_begins_anew(runtime: Runtime, clock: Clock) -> None:
    """By then the first rows have gone by themselves."""

    def read() -> Iterator[Item]:
        yield from ITEMS
        raise BrokenFile("line 9", "it ends early")

    with pytest.raises(BrokenFile):
        running.run(runtime, ImportOrder("default", "isso", "of the file"), read)
    runtime.database["comments.import"].update_one({}, {"$set": {"position": len(ITEMS)}})
    clock.advance(days=6, seconds=1)

    bring(runtime, ITEMS)

    assert len(told(at_url(runtime))) == 4


def test_rows_of_a_former_order_stay_until_another_has_the_site(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> Iterator[Item]:
        yield from ITEMS
        raise BrokenFile("line 9", "it ends early")

    with pytest.raises(BrokenFile):
        running.run(runtime, ImportOrder("default", "isso", "of the file"), read)
    clock.time += 2 * LEASE
    held: list[str] = []
    remove = lease.remove_rows

    def note_and_remove(given: Runtime, run: str, keep: Callable[[], None]) -> None:
        found = given.database["comments.import"].find_one({"_id": "default"})
        assert found is not None
        held.append(found["digest"])
        remove(given, run, keep)

    monkeypatch.setattr(lease, "remove_rows", note_and_remove)
    bring(runtime, ITEMS, digest="other")

    assert held == ["other", "other"]


def test_an_import_keeps_its_site_while_its_rows_go(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step takes forty seconds, of a lease of a minute."""
    delete, held = Collection.delete_many, []

    def delete_slowly(rows: Any, where: Any, **details: Any) -> Any:
        done = delete(rows, where, **details)
        if rows.name in {STAGED.name, THREADS.name}:
            clock.advance(seconds=40)
            (stored,) = runtime.database["comments.import"].find()
            held.append(stored["leased_until"] > clock())
        return done

    monkeypatch.setattr(Collection, "delete_many", delete_slowly)

    assert bring(runtime, ITEMS)["status"] == "done"
    assert held == [True, True]


def test_parts_are_held_one_at_a_time(runtime: Runtime) -> None:
    """Each may have megabytes, of which its row has the first 10,000 characters."""
    alive: list[int] = []

    def read() -> Iterator[Item]:
        yield thread()
        for number in range(50):
            yield comment(str(number), number)
            alive.append(sum(type(each) is ImportedComment for each in gc.get_objects()))

    former = sum(type(each) is ImportedComment for each in gc.get_objects())
    running.run(runtime, ImportOrder("default", "isso", "x"), read)

    assert max(alive) - former <= 2


def test_parts_with_many_votes_are_stored_in_smaller_batches(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "_BALLOTS_AT_ONCE", 4)
    votes = tuple((f"voter{number}", 1) for number in range(3))
    items: list[Item] = [
        thread(),
        *(comment(str(each), each, ups=3, votes=votes) for each in range(5)),
    ]
    heard: list[ImportProgress] = []

    running.run(runtime, ImportOrder("default", "isso", "x"), lambda: items, heard.append)

    assert [each.done for each in heard if each.part == "reading"] == [3, 5, 6]


def test_each_thread_of_a_trial_is_told(runtime: Runtime) -> None:
    items = [thread(str(each), f"https://blog.example/{each}") for each in range(3)]
    heard: list[ImportProgress] = []
    order = ImportOrder("default", "isso", "x", is_dry_run=True)

    running.run(runtime, order, lambda: items, heard.append)

    assert [each.part for each in heard] == ["reading", "storing", "storing", "storing"]


def test_progress_is_told(runtime: Runtime) -> None:
    heard: list[ImportProgress] = []

    running.run(runtime, ImportOrder("default", "isso", "x"), lambda: ITEMS, heard.append)

    assert heard[0] == ImportProgress("reading", len(ITEMS))
    assert heard[-1].part == "storing"

"""Processes that end at any point leave entries that equal the comments after the sweep."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.entries import upkeep
from chalicelib.comments.entries.comparing import verify
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.forms import NewComment, StateChange
from chalicelib.comments.jobs import run_due
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.writing import decisions, edit, post
from chalicelib.runtime import Runtime
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import PEOPLE, Discussion, Layout
from tests.comments.support.entries import NONE, difference, entries, vote
from tests.support.clock import Clock

KILLS = 12
NODES = ("threads", "pages", "together")


def the_schedule(runtime: Runtime, clock: Clock) -> None:
    """Let the schedule run when no process of before can be at work."""
    for _ in range(3):
        clock.advance(minutes=61)
        run_due(runtime)


def test_a_post_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, layout: Layout, clock: Clock
) -> None:
    root = discussion.post("root")["id"]
    new = NewComment(text="reply", parent=root if layout.threaded else None)
    ann = PEOPLE["ann"]
    assert ann is not None

    points = list(
        crash_everywhere(
            runtime, mongodb_uri, lambda ending: post.post_comment(ending, "a-page", new, ann)
        )
    )

    assert len(points) > 3
    assert set(discussion.stored()) <= set(entries(discussion)), "one too many, never too few"
    the_schedule(runtime, clock)
    assert difference(discussion) == NONE


def _change(discussion: Discussion, state: str) -> Callable[[Runtime], object]:
    wanted = StateChange.model_validate({"state": state})
    comment, mo = discussion.post("changes")["id"], PEOPLE["mo"]
    assert mo is not None
    return lambda ending: decisions.set_state(ending, "a-page", comment, wanted, Actor(mo))


@pytest.mark.parametrize("state", ["hidden", "pending"])
def test_a_change_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock, state: str
) -> None:
    for _ in crash_everywhere(runtime, mongodb_uri, _change(discussion, state)):
        the_schedule(runtime, clock)
        assert difference(discussion) == NONE


def test_a_deletion_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, layout: Layout, clock: Clock
) -> None:
    root = discussion.post("root")["id"]
    discussion.post("reply", root if layout.threaded else None)
    mo = PEOPLE["mo"]
    assert mo is not None

    def delete(ending: Runtime) -> None:
        if discussion.stored()[root]["state"] == "visible":
            edit.delete_comment(ending, "a-page", root, mo)

    for _ in crash_everywhere(runtime, mongodb_uri, delete):
        the_schedule(runtime, clock)
        assert difference(discussion) == NONE


def test_a_move_to_another_id_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, clock: Clock
) -> None:
    made: list[tuple[Discussion, str]] = []

    def move(ending: Runtime) -> None:
        number = len(made)
        layout = Layout("documents", threaded=True)
        discussion = Discussion.make(runtime, layout, f"a-{number}")
        root = discussion.post("root")["id"]
        discussion.post("reply", root)
        vote(discussion, root, up=5)
        made.append((discussion, root))
        relocation.relocate(ending, f"a-{number}", f"b-{number}")

    for number in crash_everywhere(runtime, mongodb_uri, move):
        the_schedule(runtime, clock)
        discussion, root = made[number]
        left = nodes.look(runtime.database, discussion.node_id)
        if left is None or "vacant" in left:
            discussion = Discussion(runtime, f"b-{number}")
        assert difference(discussion) == NONE
        assert entries(discussion)[root]["up"] == 5

    assert ENTRIES.of(runtime.database).count_documents({}) == 2 * len(made)


def test_making_old_comments_entries_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion
) -> None:
    discussion.post("old")
    runtime.database["comments.entry"].delete_many({})

    for _ in crash_everywhere(runtime, mongodb_uri, upkeep.compare_nodes):
        pass

    assert difference(discussion) == NONE


@pytest.fixture
def writers(runtime: Runtime, mongodb_uri: str) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start writers in processes of their own; all are over afterwards."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        worker = [sys.executable, "-m", "tests.comments.support.entry_worker"]
        process = subprocess.Popen(
            [*worker, mongodb_uri, runtime.settings.database, ",".join(NODES)],
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.processes
def test_entries_equal_comments_after_writers_were_killed(
    runtime: Runtime, clock: Clock, writers: Callable[[], subprocess.Popen[str]]
) -> None:
    layouts = (
        Layout("documents", threaded=True),
        Layout("buckets", threaded=False),
        Layout("embedded", threaded=True),
    )
    made = [
        Discussion.make(runtime, layout, name) for name, layout in zip(NODES, layouts, strict=True)
    ]
    rng = random.Random(20)

    for _ in range(KILLS // 2):
        pair = [writers(), writers()]
        for process in pair:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in pair:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.05, 0.5))
            process.kill()
            process.wait()

    clock.time = clock.time.replace(year=2100)
    the_schedule(runtime, clock)
    assert [verify(runtime, each.node) for each in made] == [NONE] * len(made)
    assert sum(len(each.stored()) for each in made) > KILLS

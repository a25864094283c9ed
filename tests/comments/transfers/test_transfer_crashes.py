"""Transfers whose worker ends anywhere go on to the same end; a message twice is once."""

from typing import Any

import pytest

from chalicelib.assets import blobs
from chalicelib.assets.shapes import CHUNKS
from chalicelib.comments.transfers import exports, starting
from chalicelib.comments.transfers.forms import NewImport
from chalicelib.comments.transfers.rows import TRANSFERS, DiscussionTransfer
from chalicelib.runtime import Runtime
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.entries import NONE, difference
from tests.comments.support.importing import at_url
from tests.comments.transfers.support.files import URL, lines_file, run, sweep
from tests.support.clock import START, Clock
from tests.support.isolation import empty_collections

CONTENT = lines_file(3)


def started(runtime: Runtime) -> str:
    """Begin and start an import that applies its file; return its id."""
    wanted = NewImport(length=len(CONTENT), dry_run=False)
    row = starting.begin_import(runtime, "blog", wanted)
    starting.put_part(runtime, row, 1, CONTENT)
    return starting.start(runtime, row)["_id"]


def stored(runtime: Runtime, transfer: str) -> DiscussionTransfer:
    row = TRANSFERS.of(runtime.database).find_one({"_id": transfer})
    assert row is not None
    return row


def go_on(runtime: Runtime, clock: Clock, transfer: str) -> DiscussionTransfer:
    """Have the schedule find what a crash left, and a worker do it."""
    for _ in range(3):
        clock.advance(minutes=2)
        sweep(runtime)
        run(runtime, transfer)
    return stored(runtime, transfer)


@pytest.mark.processes
def test_an_import_may_end_anywhere(runtime: Runtime, mongodb_uri: str, clock: Clock) -> None:
    def prepare() -> str:
        empty_collections(runtime.database)
        runtime.random.seed(7)
        clock.time = START
        return started(runtime)

    transfer, points = prepare(), 0
    names = [transfer]
    for number in crash_everywhere(runtime, mongodb_uri, lambda ending: run(ending, names[0])):
        done = go_on(runtime, clock, names[0])
        assert (done["state"], done["counts"]["imported"]) == ("done", 3), number
        assert len(at_url(runtime, URL).walk()) == 3
        assert difference(at_url(runtime, URL)) == NONE
        names[0] = prepare()
        points = number
    assert points > 20


@pytest.mark.processes
def test_an_export_may_end_anywhere_and_leaves_no_other_file(
    runtime: Runtime, mongodb_uri: str, clock: Clock
) -> None:
    def prepare() -> str:
        return starting.begin_export(runtime, "blog", "plaza")["_id"]

    run(runtime, started(runtime))
    names, points = [prepare()], 0
    for number in crash_everywhere(runtime, mongodb_uri, lambda ending: run(ending, names[0])):
        done = go_on(runtime, clock, names[0])
        assert (done["state"], done["counts"]) == ("done", {"comments": 3}), number
        clock.advance(days=8)
        sweep(runtime)
        sweep(runtime)
        assert CHUNKS.of(runtime.database).distinct("files_id") == []
        names[0] = prepare()
        points = number
    assert points > 3


def test_a_message_that_comes_twice_is_once(runtime: Runtime) -> None:
    transfer = started(runtime)
    for _ in range(3):
        run(runtime, transfer)

    assert stored(runtime, transfer)["counts"]["imported"] == 3
    export = starting.begin_export(runtime, "blog", "plaza")["_id"]
    for _ in range(2):
        run(runtime, export)
    assert len(stored(runtime, export)["files"]) == 1


def test_a_message_of_nothing_does_nothing(runtime: Runtime) -> None:
    run(runtime, "aaneGAECAwQFBgcI")


def test_a_worker_that_was_overtaken_ends_no_export(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(runtime, started(runtime))
    export = starting.begin_export(runtime, "blog", "plaza")["_id"]
    write = blobs.write
    ends: list[Any] = []

    def overtaken(*given: Any) -> None:
        monkeypatch.setattr(exports, "write", write)
        clock.advance(minutes=5)
        run(runtime, export)
        ends.append(stored(runtime, export))
        write(*given)

    monkeypatch.setattr(exports, "write", overtaken)
    run(runtime, export)

    assert stored(runtime, export) == ends[0]
    assert ends[0]["state"] == "done"

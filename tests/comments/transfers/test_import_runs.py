"""Runs of an import by the API: stopped, ended in time, waiting, given up, and cleared away."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, BinaryIO

import pytest

from chalicelib.assets.blobs.gridfs import GridFsBlobs
from chalicelib.assets.errors import StoreUnavailable
from chalicelib.assets.shapes import CHUNKS
from chalicelib.comments.importing import running, settling
from chalicelib.comments.importing.formats.detection import PARSERS
from chalicelib.comments.importing.shapes import Item
from chalicelib.comments.importing.staging import BATCH
from chalicelib.comments.transfers import endings, files, imports, starting
from chalicelib.comments.transfers.rows import DiscussionTransfer
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.comments.transfers.support.files import IMPORTS, begin, lines_file, read, run, sweep
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


def stored_files(runtime: Runtime) -> int:
    return len(CHUNKS.of(runtime.database).distinct("files_id"))


def test_an_import_that_waits_is_stopped_at_once(publisher: Client) -> None:
    begun = begin(publisher, "blog", lines_file(1))

    stopped = publisher.request("DELETE", f"{IMPORTS}/{begun['id']}")

    assert (stopped.status, stopped.json["state"]) == (202, "stopped")
    assert publisher.post(IMPORTS, length=10).status == 201


@pytest.mark.parametrize("is_tried", [False, True])
def test_an_import_that_begins_while_it_is_stopped_is_stopped(
    publisher: Client,
    workers: Workers,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_tried: bool,
) -> None:
    """Another publisher starts or applies it after the call has read that it waits."""
    begun = begin(publisher, "blog", lines_file(1), dry_run=is_tried)
    if is_tried:
        publisher.post(f"{IMPORTS}/{begun['id']}/start")
        run(runtime, begun["id"])
    step, end = ("apply" if is_tried else "start"), endings.end

    def late(*given: Any) -> bool:
        monkeypatch.undo()
        assert publisher.post(f"{IMPORTS}/{begun['id']}/{step}").status == 202
        return end(*given)

    monkeypatch.setattr(starting, "end", late)

    asked = publisher.request("DELETE", f"{IMPORTS}/{begun['id']}")
    assert (asked.status, asked.json["state"]) == (202, "running")
    workers.drain()

    stopped = read(publisher, begun["id"])
    assert (stopped["state"], stopped["counts"].get("imported", 0)) == ("stopped", 0)


def test_a_running_import_is_stopped_between_two_discussions(
    publisher: Client, workers: Workers, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in its place stays, and the same file brings the others later."""
    content = lines_file(3, pages=4)
    begun = begin(publisher, "blog", content, dry_run=False)
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    monkeypatch.setattr(imports, "RUN_SECONDS", 0.0)
    for _ in range(2):
        run(runtime, begun["id"])
    halfway = read(publisher, begun["id"])
    assert halfway["progress"] == {"part": "storing", "done": 1, "total": 4}

    asked = publisher.request("DELETE", f"{IMPORTS}/{begun['id']}")
    assert asked.json["state"] == "running"
    workers.drain()

    stopped = read(publisher, begun["id"])
    assert stopped["state"] == "stopped"
    assert stopped["counts"]["imported"] == 6
    assert runtime.database["comments.staged"].count_documents({}) == 0
    monkeypatch.undo()
    again = begin(publisher, "blog", content, dry_run=False)
    publisher.post(f"{IMPORTS}/{again['id']}/start")
    workers.drain()
    counts = read(publisher, again["id"])["counts"]
    assert (counts["imported"], counts["present"]) == (6, 6)


def test_an_import_that_is_stopped_after_a_week_reports_what_came_over(
    publisher: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = begin(publisher, "blog", lines_file(3, pages=4), dry_run=False)
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    monkeypatch.setattr(imports, "RUN_SECONDS", 0.0)
    for _ in range(2):
        run(runtime, begun["id"])
    clock.advance(days=6, seconds=1)

    assert publisher.request("DELETE", f"{IMPORTS}/{begun['id']}").status == 202
    run(runtime, begun["id"])

    stopped = read(publisher, begun["id"])
    assert (stopped["state"], stopped["counts"]["imported"]) == ("stopped", 6)


def test_a_run_ends_in_time_and_the_next_goes_on(
    publisher: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = begin(publisher, "blog", lines_file(600, pages=3), dry_run=False)
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    assert read(publisher, begun["id"])["progress"]["part"] == "reading"
    monkeypatch.setattr(imports, "RUN_SECONDS", 0.0)
    seen = []
    for _ in range(20):
        run(runtime, begun["id"])
        found = read(publisher, begun["id"])
        seen.append(found["progress"] and found["progress"]["part"])
        if found["state"] != "running":
            break

    assert found["state"] == "done"
    assert found["counts"]["imported"] == 1_800
    assert seen.count("reading") >= 3
    assert seen.count("storing") >= 2


@pytest.mark.parametrize("fault", [RuntimeError("a mistake of a parser"), Unavailable()])
def test_an_import_without_progress_is_given_up(
    publisher: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    begun = begin(publisher, "blog", lines_file(1))
    publisher.post(f"{IMPORTS}/{begun['id']}/start")

    def break_down(*_given: Any) -> Any:
        raise fault

    monkeypatch.setattr(imports, "_bring", break_down)
    for _ in range(imports._MOST_TRIES):
        with pytest.raises(type(fault)):
            run(runtime, begun["id"])
    run(runtime, begun["id"])

    assert read(publisher, begun["id"])["failure"]["code"] == "gave_up"


def test_an_outage_of_the_store_uses_up_no_try(
    publisher: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = begin(publisher, "blog", lines_file(1))
    publisher.post(f"{IMPORTS}/{begun['id']}/start")

    def read_nothing(*_given: Any) -> bytes:
        raise Unavailable

    with monkeypatch.context() as patched:
        patched.setattr(GridFsBlobs, "read", read_nothing)
        for _ in range(2 * imports._MOST_TRIES):
            clock.advance(minutes=5)
            with pytest.raises(Unavailable):
                run(runtime, begun["id"])
    clock.advance(minutes=5)
    run(runtime, begun["id"])

    assert read(publisher, begun["id"])["state"] == "tried"


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the parser break down at a part after the first batch."""
    parse = PARSERS["plaza"]

    def parse_and_break(stream: BinaryIO) -> Iterator[Item]:
        for number, item in enumerate(parse(stream)):
            if number == BATCH + 100:
                raise RuntimeError("a mistake of a parser")
            yield item

    monkeypatch.setattr(imports, "PARSERS", {"plaza": parse_and_break})


@pytest.mark.usefixtures("breaks")
def test_parts_that_are_read_again_are_no_progress(
    publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    begun = begin(publisher, "blog", lines_file(700))
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    crashes = crashes_to_the_end(publisher, runtime, clock, begun["id"])

    assert read(publisher, begun["id"])["failure"]["code"] == "gave_up"
    assert crashes == imports._MOST_TRIES + 1
    assert publisher.post(IMPORTS, length=10).status == 201


@pytest.mark.usefixtures("breaks")
def test_an_import_whose_file_breaks_the_parser_is_stopped(
    publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    begun = begin(publisher, "blog", lines_file(700))
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    with pytest.raises(RuntimeError):
        run(runtime, begun["id"])
    publisher.request("DELETE", f"{IMPORTS}/{begun['id']}")
    clock.advance(minutes=5)

    run(runtime, begun["id"])

    assert read(publisher, begun["id"])["state"] == "stopped"
    assert runtime.database["comments.staged"].count_documents({}) == 0


def test_an_import_is_stopped_while_it_reads_known_parts_again(
    publisher: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = begin(publisher, "blog", lines_file(1_200))
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    monkeypatch.setattr(imports, "RUN_SECONDS", 0.0)
    for _ in range(2):
        run(runtime, begun["id"])
    parse, parts = PARSERS["plaza"], 0

    def parse_and_stop(stream: BinaryIO) -> Iterator[Item]:
        nonlocal parts
        for parts, item in enumerate(parse(stream), 1):
            if parts == 1:
                publisher.request("DELETE", f"{IMPORTS}/{begun['id']}")
            yield item

    monkeypatch.setattr(imports, "PARSERS", {"plaza": parse_and_stop})
    run(runtime, begun["id"])

    assert read(publisher, begun["id"])["state"] == "stopped"
    assert parts == BATCH


def test_comments_that_are_settled_again_are_no_progress(
    publisher: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = begin(publisher, "blog", lines_file(600), dry_run=False)
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    settle = settling.settle

    def settle_and_break(*given: Any) -> Iterator[int]:
        yield next(settle(*given))
        raise RuntimeError("a mistake beside a comment")

    monkeypatch.setattr(running, "settle", settle_and_break)
    crashes = crashes_to_the_end(publisher, runtime, clock, begun["id"])

    assert read(publisher, begun["id"])["failure"]["code"] == "gave_up"
    assert crashes == imports._MOST_TRIES + 1


def test_an_import_by_the_command_is_waited_for(
    publisher: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    begun = begin(publisher, "blog", lines_file(2), dry_run=False)
    held = {
        "run": "of the command",
        "format": "isso",
        "digest": "of another file",
        "is_dry_run": False,
        "at": clock(),
        "status": "applying",
        "position": 0,
        "counts": {},
        "samples": [],
        "taken_by": "the command",
        "leased_until": clock() + timedelta(minutes=10),
    }
    runtime.database["comments.import"].insert_one({"_id": "blog", **held})
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    for _ in range(9):
        workers.drain()
        clock.advance(minutes=1, seconds=1)
        sweep(runtime)
    assert read(publisher, begun["id"])["state"] == "running"

    clock.advance(minutes=2)
    sweep(runtime)
    workers.drain()
    clock.advance(minutes=30)
    sweep(runtime)
    workers.drain()

    assert read(publisher, begun["id"])["state"] == "done"


def test_files_go_once_nobody_needs_them(
    publisher: Client, start: Callable[..., Any], runtime: Runtime, clock: Clock
) -> None:
    done = start(lines_file(3), dry_run=False)
    assert stored_files(runtime) == 1

    clock.advance(minutes=16)

    assert sweep(runtime) == 1
    assert stored_files(runtime) == 0
    assert read(publisher, done["id"])["state"] == "done"
    assert sweep(runtime) == 0


def test_files_that_cannot_be_removed_keep_no_others(
    start: Callable[..., Any],
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = start(lines_file(3), dry_run=False)
    clock.advance(seconds=1)
    start(lines_file(4), dry_run=False)
    drop = files.drop_all

    def fail_first(given: Runtime, row: DiscussionTransfer) -> None:
        if row["_id"] == first["id"]:
            raise StoreUnavailable
        drop(given, row)

    clock.advance(minutes=16)
    with monkeypatch.context() as patched:
        patched.setattr(files, "drop_all", fail_first)
        with pytest.raises(StoreUnavailable):
            sweep(runtime)
    assert stored_files(runtime) == 1
    assert sweep(runtime) == 0

    clock.advance(hours=1)

    assert sweep(runtime) == 1
    assert stored_files(runtime) == 0


@pytest.mark.parametrize(("is_started", "days"), [(False, 1), (True, 7)])
def test_a_file_that_nobody_goes_on_with_ends_its_import(  # noqa: PLR0913
    publisher: Client,
    runtime: Runtime,
    clock: Clock,
    workers: Workers,
    *,
    is_started: bool,
    days: int,
) -> None:
    begun = begin(publisher, "blog", lines_file(3))
    if is_started:
        publisher.post(f"{IMPORTS}/{begun['id']}/start")
        workers.drain()
    clock.advance(days=days)
    sweep(runtime)

    assert read(publisher, begun["id"])["state"] == "stopped"
    assert stored_files(runtime) == 1
    clock.advance(minutes=16)
    sweep(runtime)
    assert stored_files(runtime) == 0
    assert publisher.post(IMPORTS, length=10).status == 201


def crashes_to_the_end(publisher: Client, runtime: Runtime, clock: Clock, id_: str) -> int:
    """Run an import until it is over; return how many runs a parser or a step ended."""
    crashes = 0
    while read(publisher, id_)["state"] == "running":
        try:
            run(runtime, id_)
        except RuntimeError:
            crashes += 1
        clock.advance(minutes=5)
    return crashes

"""What other releases wrote, read by this one, and what this one writes, read by the last.

With PLAZA_TEST_RECORD=1 it first writes down what this release writes.
"""

import dataclasses
import json
import os
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice

import chalicelib
from app import create_app
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.http import paging
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime
from chalicelib.social.messages import Trim
from deploy.declared import declared_queues
from tests.recorded_messages import corpus
from tests.recorded_messages.corpus import RecordedCursor, RecordedMessage, Release
from tests.recorded_messages.examples import EXAMPLES
from tests.recorded_messages.listings import NoChance, World, build, listings
from tests.support.clock import Clock
from tests.support.http_client import Client

RELEASES = [each.version for each in corpus.releases()]


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    return dataclasses.replace(runtime, random=NoChance())


@pytest.fixture
def world(runtime: Runtime, client: Client, clock: Clock, workers: Any) -> World:
    return build(runtime, client, clock, workers)


def first_cursors(world: World) -> tuple[RecordedCursor, ...]:
    """Read the first page of every listing."""
    found = []
    for name, listing in listings(world).items():
        reply = listing.reader.get(f"{listing.path}limit=1")
        assert reply.status == 200, (name, reply.body)
        assert reply.json["next"], name
        found.append(RecordedCursor(name, reply.json["next"]))
    return tuple(found)


@pytest.mark.skipif(not os.environ.get("PLAZA_TEST_RECORD"), reason="records only when told to")
def test_record_this_release(world: World) -> None:
    version = chalicelib.__version__
    assert not corpus.is_released(version), f"{version} is released: raise __version__ first"
    corpus.write(Release(version, corpus.record(EXAMPLES), first_cursors(world)))


def test_every_message_has_an_example() -> None:
    missing = corpus.message_types().keys() - EXAMPLES.keys()

    assert not missing, f"add them to tests/recorded_messages/examples.py, then: {corpus.COMMAND}"


def test_the_messages_of_this_release_are_recorded_as_they_are() -> None:
    assert chalicelib.__version__ in RELEASES, f"run `{corpus.COMMAND}`"
    release = corpus.read(chalicelib.__version__)

    assert not corpus.differences(release, corpus.message_types())


def test_every_listing_of_this_release_is_recorded(world: World) -> None:
    """A listing that is newer than a released version is recorded with the next one."""
    version, known = chalicelib.__version__, listings(world).keys()
    recorded = {each.listing for each in corpus.read(version).cursors}

    assert recorded <= known
    assert recorded == known or corpus.is_released(version), f"run `{corpus.COMMAND}`"


@pytest.mark.parametrize("version", RELEASES)
def test_the_workers_handle_what_a_release_sent(app: Chalice, world: World, version: str) -> None:
    """Through the queues' own handlers, each message with those of its queue."""
    workers = {str(source.queue): source.name for source in declared_queues(app)}
    for message in corpus.read(version).messages:
        queue = corpus.message_types()[message.type].queue
        handler = app.handler_map[workers[world.runtime.queues.name_of(queue)]]
        record = {"messageId": message.type, "body": json.dumps(message.body)}

        assert handler({"Records": [record]}, None) == {"batchItemFailures": []}, message.type


@pytest.mark.parametrize("version", RELEASES)
def test_a_worker_of_a_release_can_read_what_is_sent_now(version: str) -> None:
    assert not corpus.unreadable_by(corpus.read(version), EXAMPLES)


@pytest.mark.parametrize("version", RELEASES)
def test_the_cursors_that_a_release_gave_out_go_on(world: World, version: str) -> None:
    where = listings(world)
    for each in corpus.read(version).cursors:
        listing = where[each.listing]
        first = listing.reader.get(f"{listing.path}limit=1").json
        reply = listing.reader.get(f"{listing.path}limit=1&cursor={each.cursor}")

        assert reply.status == 200, (each.listing, reply.body)
        assert shown(reply.json), each.listing
        assert shown(reply.json) != shown(first), each.listing


def shown(page: dict[str, Any]) -> Any:
    """Return what a page lists, by whatever name; one of comments has others beside them."""
    if "comments" in page:
        return page["comments"]
    (rows,) = [value for value in page.values() if isinstance(value, list)]
    return rows


def test_the_listings_are_all_that_read_cursors(
    runtime: Runtime, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each module that reads cursors reads one here, so that none is left unrecorded."""
    read_by: set[str] = set()

    def note(module: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any) -> Any:
            read_by.add(module)
            return function(*given)

        return noted

    readers = corpus.modules_with(paging.Cursors)
    # Its positions are those of a site's list, and its cursors stand in the addresses of its pages.
    del readers["chalicelib.content.feeds.reading"]
    for name, module in readers.items():
        noted = type("Noted", (paging.Cursors,), {"position": note(name, paging.Cursors.position)})
        monkeypatch.setattr(module, "Cursors", noted)
    by_hand = corpus.modules_with(paging.decode_cursor)
    for name, module in by_hand.items():
        monkeypatch.setattr(module, "decode_cursor", note(name, paging.decode_cursor))
    client = Client(create_app(runtime, LocalChalice), world.client.token)
    for name, listing in listings(dataclasses.replace(world, client=client)).items():
        cursor = {each.listing: each for each in first_cursors(world)}[name].cursor
        assert listing.reader.get(f"{listing.path}limit=1&cursor={cursor}").status == 200

    assert read_by == {*readers, *by_hand}


class Changed(Message):
    """A message that a later release may have changed without saying so."""

    queue: ClassVar[str] = "promotion"
    node_id: str
    store: str


class ChangedAndSaid(Changed):
    version: int = 2


def recorded(*messages: Message) -> Release:
    return Release("0.0.9", corpus.record({type(each).__name__: each for each in messages}), ())


def test_a_changed_message_is_noticed_and_the_way_out_named() -> None:
    release = recorded(MoveNode(node_id="moon"), Trim(user_id="ann"))

    (problem,) = corpus.differences(release, {"MoveNode": Changed, "Trim": Trim})

    assert problem.startswith("MoveNode has changed since 0.0.9.")
    assert "raise chalicelib.__version__" in problem
    assert corpus.COMMAND in problem


def test_a_message_that_is_new_or_gone_is_noticed() -> None:
    problems = corpus.differences(recorded(MoveNode(node_id="moon")), {"Trim": Trim})

    assert [problem.split(".")[0] for problem in problems] == [
        "MoveNode is gone",
        "Trim was not there in 0",
    ]


def test_a_change_of_prose_is_no_change() -> None:
    class Trim(Message):
        """Other words."""

        queue: ClassVar[str] = "social-errands"
        user_id: str

    before = recorded(Trim(user_id="ann"))
    Trim.__doc__ = "Other words still."

    assert not corpus.differences(before, {"Trim": Trim})


def test_what_the_last_release_cannot_read_needs_a_new_version() -> None:
    release = recorded(Changed(node_id="moon", store="buckets"))

    silent = corpus.unreadable_by(release, {"Changed": MoveNode(node_id="moon")})
    said = corpus.unreadable_by(
        release, {"Changed": ChangedAndSaid(node_id="moon", store="documents")}
    )

    assert silent == ["Changed: 'store' is a required property; raise its `version`"]
    assert said == []


def test_a_recording_comes_back_as_it_was() -> None:
    release = corpus.read(RELEASES[0])

    assert corpus.parse(corpus.format_release(release)) == release
    assert all(isinstance(each, RecordedMessage) for each in release.messages)

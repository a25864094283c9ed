"""Whether a reader's copy is current: each write changes the tag, and none too early."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pymongo import MongoClient, monitoring

from chalicelib.comments.discussion import reading
from chalicelib.comments.forms import CommentsQuery
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, PEOPLE, Discussion, Layout
from tests.comments.support.writes import WRITES, prepare

Page = tuple[str, Any]


def read(discussion: Discussion, by: str | None = "mo") -> Page:
    listing = reading.list_comments(
        discussion.runtime, discussion.node_id, CommentsQuery(), PEOPLE[by]
    )
    return listing.tag, listing.body


class Between(monitoring.CommandListener):
    """Calls something before each command of a client, and keeps the failures of it."""

    def __init__(self) -> None:
        self.call: Callable[[str], object] | None = None
        self.failures: list[BaseException] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if self.call is None:
            return
        try:
            self.call(event.command_name)
        # The driver would only print it.
        except BaseException as failure:  # noqa: BLE001
            self.failures.append(failure)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


@pytest.fixture
def between() -> Iterator[Between]:
    between = Between()
    yield between
    assert between.failures == []


@pytest.fixture
def watched(runtime: Runtime, mongodb_uri: str, between: Between) -> Iterator[Runtime]:
    """A runtime before whose commands another one can act."""
    with MongoClient[Document](mongodb_uri, event_listeners=[between]) as client:
        yield dataclasses.replace(
            runtime, database=open_database(client, runtime.settings.database)
        )


@pytest.mark.parametrize("kind", WRITES)
def test_each_write_changes_the_tag(discussion: Discussion, kind: str) -> None:
    prepare(discussion)
    before = {by: read(discussion, by) for by in (None, "bob", "mo")}

    WRITES[kind](discussion)

    assert read(discussion)[1] != before["mo"][1] or kind in {"move", "repair"}
    for by, (tag, _) in before.items():
        assert read(discussion, by)[0] != tag, by


@pytest.mark.parametrize("kind", WRITES)
def test_no_reader_keeps_an_old_page_under_the_new_tag(
    runtime: Runtime, watched: Runtime, between: Between, layout: Layout, kind: str
) -> None:
    """Read before each command of the writer: the last tag belongs to the last page alone."""
    discussion = Discussion.make(runtime, layout)
    prepare(discussion)
    seen: list[Page] = []

    between.call = lambda _name: seen.append(read(discussion))
    WRITES[kind](Discussion(watched, discussion.node_id))
    between.call = None

    last_tag, last_page = read(discussion)
    assert seen
    assert [page for tag, page in seen if tag == last_tag and page != last_page] == []


@pytest.mark.parametrize("kind", WRITES)
def test_a_page_is_read_after_its_tag(
    runtime: Runtime, watched: Runtime, between: Between, layout: Layout, kind: str
) -> None:
    """Write between the commands of the reader: an old page has the old tag."""
    discussion = Discussion.make(runtime, layout)
    prepare(discussion)
    commands: list[str] = []

    def write(name: str) -> None:
        commands.append(name)
        if len(commands) == 2:
            WRITES[kind](discussion)

    between.call = write
    tag, page = read(Discussion(watched, discussion.node_id))

    last_tag, last_page = read(discussion)
    assert len(commands) >= 2
    assert tag != last_tag or page == last_page


@pytest.mark.parametrize("kind", ["post", "edit", "delete", "hide", "approve"])
@pytest.mark.parametrize("layout", [LAYOUTS[0], LAYOUTS[2], LAYOUTS[4]], ids=str)
@pytest.mark.parametrize("moved_at", range(2, 9))
def test_a_move_during_a_write_leaves_no_old_page_under_the_new_tag(
    watched: Runtime, between: Between, layout: Layout, kind: str, moved_at: int
) -> None:
    discussion = Discussion.make(watched, layout)
    prepare(discussion)
    seen: list[Page] = []
    commands: list[str] = []
    moved: list[str] = []

    def act(name: str) -> None:
        between.call = None
        commands.append(name)
        if len(commands) == moved_at:
            WRITES["move"](discussion)
            moved.append(name)
        seen.append(read(discussion))
        between.call = act

    between.call = act
    WRITES[kind](discussion)
    between.call = None

    # The shortest of these writes, a post, has four commands.
    assert moved or moved_at > 4
    last_tag, last_page = read(discussion)
    assert [page for tag, page in seen if tag == last_tag and page != last_page] == []

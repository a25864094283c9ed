"""Discussions of pages: the port to comments, and the job that updates title and address."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import ClassVar, Final, Literal, NamedTuple, Protocol

from pymongo.client_session import ClientSession

from chalicelib.content import settings
from chalicelib.content.nodes import NODES
from chalicelib.content.shapes import ContentNode, Telling
from chalicelib.content.visibility import coming, is_over
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending, lease_end
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime


class Discussed(NamedTuple):
    """The title, URL and public time of an edition of a page, for its discussion.

    public_from None: the page is not public. public_until None: no end. is_named False: the
    discussion's title and URL stay as they are. is_closed: a new discussion begins closed.
    """

    title: str
    url: str
    edition: int
    public_from: datetime | None
    public_until: datetime | None = None
    is_named: bool = True
    is_closed: bool = False


class Discussions(Protocol):
    """The port to the discussions of pages; a discussion has the id of its comments' node."""

    def begin(
        self, runtime: Runtime, discussion: str, page: Discussed, session: ClientSession
    ) -> None:
        """Create or adopt a discussion, in the transaction that publishes its page."""
        ...

    def tell(
        self, runtime: Runtime, discussion: str, page: Discussed, *, close: bool | None
    ) -> None:
        """Set a discussion's public time; for a named page, also its title and URL.

        Does nothing after a call for a later edition.
        close: True closes the discussion, False opens it, None changes neither.
        """
        ...

    def end(self, runtime: Runtime, discussion: str) -> None:
        """Delete a discussion with its comments, if it is there."""
        ...

    def at_address(
        self, runtime: Runtime, site: str, url: str, session: ClientSession
    ) -> str | None:
        """Return the id of the discussion that an import of comments makes for an address.

        None: another page has the discussion, or the discussion has moved to another id.
        """
        ...

    def counts(self, runtime: Runtime, discussions: Sequence[str]) -> dict[str, int]:
        """Return the number of public comments of each discussion."""
        ...

    def sitemaps(self, runtime: Runtime, site: str) -> list[str]:
        """Return the addresses of the sitemaps of a site's pages with discussions."""
        ...

    def in_sitemaps(self, runtime: Runtime, site: str, urls: Sequence[str]) -> set[str]:
        """Return the given addresses that the sitemaps of discussions have."""
        ...


def discussion_of(site: str, node_id: str) -> str:
    """Return the id of a page's discussion."""
    return f"{site}:{node_id}"


# The write of a page stores `telling`, a note that its discussion needs an update or its end. A
# message follows; the schedule sends it again until a worker has done the job. The job is
# idempotent.

RESENDING = Resending(
    at="telling.due", made_of="site", within="telling.", where={"telling": {"$exists": True}}
)


# The value of a page's `told`: its discussion has the public time, beside title and URL.
TOLD: Final = 1


class TellDiscussion(Message):
    """Update the discussion of a changed page."""

    queue: ClassVar[str] = "content"
    type: Literal["tell-discussion"] = "tell-discussion"
    site: str
    node_id: str


def note(runtime: Runtime) -> Telling:
    """Return the note of a pending update, to store with the change of a page."""
    key = new_id(runtime.now(), runtime.random)
    return {"key": key, "due": lease_end(runtime), "resends": 0}


def tell(runtime: Runtime, discussions: Discussions, message: TellDiscussion) -> None:
    """Update or end a page's discussion, if an update is pending.

    If the page changes meanwhile, note another update.
    """
    where = {"_id": message.node_id, "site": message.site}
    rows = NODES.of(runtime.database)
    node = rows.find_one(where, {"live.html": 0, "next.html": 0})
    if node is None or "telling" not in node:
        return
    if node["telling"].get("resends"):
        resending.note_taken(runtime, rows, RESENDING, {**where, "site": message.site})
    changed = _tell(runtime, discussions, node)
    same = {**where, "telling.key": node["telling"]["key"]}
    done = {"is_closed": node["is_closed"], "told": TOLD, **changed}
    ended = rows.update_one(same, {"$set": done, "$unset": {"telling": ""}})
    if not ended.matched_count:
        # The page has changed meanwhile. If the worker of that change was faster and the site has
        # a new base URL, this worker has overwritten it, and the new update repairs it.
        rows.update_one(where, {"$set": {**changed, "telling": note(runtime)}})


def tell_all(runtime: Runtime) -> int:
    """Note updates of discussions without the public time of their page; return their number.

    Discussions of release 0.3.0 lack it: without an update, each would stay public after its page.
    """
    rows = NODES.of(runtime.database)
    where = {"told": None, "discussion": {"$gt": ""}, "telling": None}
    found = list(rows.find(where, {"site": 1}).limit(runtime.bounds.content.tended_at_once))
    for row in found:
        rows.update_one({**where, **row}, {"$set": {"telling": note(runtime)}})
    runtime.queues.send(*_messages(found))
    return len(found)


def sweep(runtime: Runtime) -> None:
    """Send the messages of overdue updates again."""
    resending.sweep(runtime, NODES.of(runtime.database), RESENDING, _messages)


def _messages(rows: Iterable[ContentNode]) -> Iterator[TellDiscussion]:
    return (TellDiscussion(site=row["site"], node_id=row["_id"]) for row in rows)


def _tell(runtime: Runtime, discussions: Discussions, node: ContentNode) -> Document:
    """Update a page's discussion, or end it after a deletion; return the page's new fields."""
    discussion = node["discussion"]
    if discussion is None:
        return {}
    if node["removed"] is not None:
        discussions.end(runtime, discussion)
        return {"discussion": None}
    now = runtime.now()
    close = node["published"] is None or is_over(node, now)
    # The next edition if its instant has passed, or else the live edition. For a page without a
    # live edition, `is_named` is False: the discussion does not receive the draft's words.
    words = coming(node, now) or node["live"] or node["draft"]
    assert words is not None  # noqa: S101 - only a deleted page has none
    site = settings.get(runtime.database, node["site"])
    page = Discussed(
        words["title"],
        settings.url_of(site, words["slug"]),
        node["edition"],
        node["published"],
        node["until"],
        is_named=node["live"] is not None,
    )
    # A moderator's closing or opening stays until the page appears or disappears.
    changed = close if close != node["is_closed"] else None
    discussions.tell(runtime, discussion, page, close=changed)
    return {} if changed is None else {"is_closed": changed}

"""Moves of all addresses and drafts under a prefix.

A move is one transaction: at any instant, readers find all pages at the old addresses or all at the
new. Like publishing, it raises no version: an editor's next save meets no conflict.
"""

from collections.abc import Mapping

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.content.errors import AddressTaken, TooManyToMove
from chalicelib.content.nodes import NODES, RAISED
from chalicelib.content.publishing import addresses, discussions
from chalicelib.content.publishing.addresses import ADDRESSES
from chalicelib.content.publishing.forms import AddressMove
from chalicelib.content.shapes import MAX_SLUG_CHARACTERS, ContentNode, PageAddress
from chalicelib.database import Document, in_transaction, prefix_range
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.runtime import Runtime
from chalicelib.webhooks.rows import DueEvent

# A move does not read the texts: a thousand pages have many megabytes.
_TEXTS = ("detail", "html", "summary")
_WITHOUT_TEXTS = {f"{part}.{name}": 0 for part in ("draft", "live", "next") for name in _TEXTS}


def move(runtime: Runtime, site: str, given: AddressMove) -> int:
    """Change the prefix of the addresses of pages and drafts; return the number of pages.

    Sends messages for the first `told_at_once` discussions; the schedule sends the others. Raises
    TooManyToMove, AddressTaken, and InvalidRequest for too long an address.
    """
    moving = _Moving(runtime, site, given)
    moved = in_transaction(runtime.database, moving.run)
    told = [each["_id"] for each in moved if each["discussion"]]
    most = runtime.bounds.content.told_at_once
    messages = (discussions.TellDiscussion(site=site, node_id=each) for each in told[:most])
    runtime.queues.send(*messages)
    return len(moved)


class _Moving:
    """A move; its transaction may call `run` again."""

    def __init__(self, runtime: Runtime, site: str, given: AddressMove) -> None:
        self._runtime = runtime
        self._database = runtime.database
        self._site = site
        self._from, self._to = given.from_, given.to
        self._now = runtime.now()

    def run(self, session: ClientSession) -> list[ContentNode]:
        """Move the pages in a transaction; return the pages as they were before the move."""
        found = self._find(session)
        if not found:
            return []
        claimed = {slug: each for node in found for slug, each in self._new_addresses(node).items()}
        self._claim({self._new(slug): each for slug, each in claimed.items()}, session)
        # A page may move to the address of its coming edition.
        left = {addresses.key(self._site, slug) for slug in claimed}
        left -= {each["_id"] for each in claimed.values()}
        addresses.release(self._database, sorted(left), self._now, session)
        updates = [
            UpdateOne({"_id": node["_id"], "site": self._site}, self._update(node))
            for node in found
        ]
        NODES.of(self._database).bulk_write(updates, session=session)
        return found

    def _find(self, session: ClientSession) -> list[ContentNode]:
        """Return the pages with the prefix in an address or in the draft's slug."""
        most = self._runtime.bounds.content.moved_at_once
        moved = prefix_range(addresses.key(self._site, self._from))
        rows = ADDRESSES.of(self._database).find(
            {"_id": moved, "current": True}, {"node": 1}, session=session
        )
        ids = {row["node"] for row in rows.limit(2 * most + 1)}
        drafts = {"draft.slug": prefix_range(self._from)}
        either = [{"_id": {"$in": list(ids)}}, drafts]
        where = {"site": self._site, "removed": None, "$or": either}
        found = list(
            NODES.of(self._database).find(where, _WITHOUT_TEXTS, session=session).limit(most + 1)
        )
        if len(found) > most:
            raise TooManyToMove
        return found

    def _new_addresses(self, node: ContentNode) -> dict[str, PageAddress]:
        """Return the new addresses of a page by its old slugs."""
        editions = [each for each in (node["next"], node["live"]) if each is not None]
        return {
            each["slug"]: {
                "_id": addresses.key(self._site, self._new(each["slug"])),
                "node": node["_id"],
                "current": True,
                "since": max(each["shown_from"], self._now),
            }
            for each in editions
            if each["slug"].startswith(self._from)
        }

    def _claim(self, wanted: Mapping[str, PageAddress], session: ClientSession) -> None:
        rows, ids = ADDRESSES.of(self._database), [each["_id"] for each in wanted.values()]
        held = {each["_id"]: each for each in rows.find({"_id": {"$in": ids}}, session=session)}
        for slug, each in wanted.items():
            there = held.get(each["_id"])
            if there is not None and there["node"] != each["node"]:
                raise AddressTaken(slug, there["node"], is_current=there["current"])
        missing = [each for each in wanted.values() if each["_id"] not in held]
        if missing:
            rows.insert_many(missing, session=session)
        for each in wanted.values():
            if each["_id"] in held:
                change: Document = {"$set": {"current": True}, "$min": {"since": each["since"]}}
                rows.update_one({"_id": each["_id"]}, change, session=session)

    def _update(self, node: ContentNode) -> Document:
        parts = {"draft": node["draft"], "live": node["live"], "next": node["next"]}
        stored: Document = {
            f"{name}.slug": self._new(part["slug"])
            for name, part in parts.items()
            if part is not None and part["slug"].startswith(self._from)
        }
        if node.get("due_events"):
            stored["due_events"] = [self._moved(each) for each in node["due_events"]]
        if node["discussion"] is not None:
            stored["telling"] = discussions.note(self._runtime)
        return {"$set": {**stored, "updated": self._now}, "$inc": RAISED}

    def _moved(self, event: DueEvent) -> DueEvent:
        """Return an event of a page; an event to come has the new address."""
        slug = event["data"]["slug"]
        if event["at"] <= self._now or not slug.startswith(self._from):
            return event
        return {**event, "data": {**event["data"], "slug": self._new(slug)}}

    def _new(self, slug: str) -> str:
        moved = self._to + slug.removeprefix(self._from)
        if len(moved) > MAX_SLUG_CHARACTERS:
            told = f"the address of {slug} would have more than {MAX_SLUG_CHARACTERS} characters"
            raise InvalidRequest(errors=[FieldError("to", "string_too_long", told)])
        return moved

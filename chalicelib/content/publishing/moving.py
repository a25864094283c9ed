"""Moving all addresses with a prefix, with the drafts that are to have such a one.

One transaction: a reader finds every page at its old address or at its new one. As publishing, it
raises no version: an editor's next save fits.
"""

from collections.abc import Mapping

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.content.errors import AddressTaken, TooManyToMove
from chalicelib.content.nodes import NODES, RAISED
from chalicelib.content.publishing import addresses, discussions
from chalicelib.content.publishing.addresses import ADDRESSES
from chalicelib.content.publishing.forms import AddressMove
from chalicelib.content.shapes import Address, ContentNode
from chalicelib.content.slugs import MAX_SLUG_CHARACTERS
from chalicelib.database import Document, in_transaction
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.runtime import Runtime

# A thousand pages have many megabytes of them.
_TEXTS = ("detail", "html", "summary")
_WITHOUT_TEXTS = {f"{part}.{name}": 0 for part in ("draft", "live", "next") for name in _TEXTS}


def move(runtime: Runtime, site: str, given: AddressMove) -> int:
    """Move the pages of a site whose address begins with a prefix; return how many.

    Raises TooManyToMove, AddressTaken and InvalidRequest for an address that would be too long.
    """
    moving = _Moving(runtime, site, given)
    moved = in_transaction(runtime.database, moving.run)
    told = [each["_id"] for each in moved if each["discussion"]]
    most = runtime.bounds.content.told_at_once
    messages = (discussions.TellDiscussion(site=site, node_id=each) for each in told[:most])
    runtime.queues.send(*messages)
    return len(moved)


class _Moving:
    """One move; `run` may be repeated."""

    def __init__(self, runtime: Runtime, site: str, given: AddressMove) -> None:
        self._runtime = runtime
        self._database = runtime.database
        self._site = site
        self._from, self._to = given.from_, given.to
        self._now = runtime.now()

    def run(self, session: ClientSession) -> list[ContentNode]:
        """Move the pages in a transaction and return them as they were."""
        found = self._found(session)
        if not found:
            return []
        claimed = {slug: each for node in found for slug, each in self._claimed(node).items()}
        self._claim({self._new(slug): each for slug, each in claimed.items()}, session)
        self._release([addresses.key(self._site, slug) for slug in claimed], session)
        updates = [
            UpdateOne({"_id": node["_id"], "site": self._site}, self._update(node))
            for node in found
        ]
        NODES.of(self._database).bulk_write(updates, session=session)
        return found

    def _found(self, session: ClientSession) -> list[ContentNode]:
        """Return the pages with such an address, or whose draft is to have one."""
        most = self._runtime.bounds.content.moved_at_once
        begin = addresses.key(self._site, self._from)
        # "0" comes after "/", which every prefix ends with.
        rows = ADDRESSES.of(self._database).find(
            {"_id": {"$gte": begin, "$lt": f"{begin[:-1]}0"}, "current": True},
            {"node": 1},
            session=session,
        )
        ids = {row["node"] for row in rows.limit(2 * most + 1)}
        drafts = {"$gte": self._from, "$lt": f"{self._from[:-1]}0"}
        either = [{"_id": {"$in": list(ids)}}, {"draft.slug": drafts}]
        where = {"site": self._site, "removed": None, "$or": either}
        found = list(
            NODES.of(self._database).find(where, _WITHOUT_TEXTS, session=session).limit(most + 1)
        )
        if len(found) > most:
            raise TooManyToMove
        return found

    def _claimed(self, node: ContentNode) -> dict[str, Address]:
        """Return the addresses that a page has and that move, as it will have them."""
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

    def _claim(self, wanted: Mapping[str, Address], session: ClientSession) -> None:
        rows, ids = ADDRESSES.of(self._database), [each["_id"] for each in wanted.values()]
        held = {each["_id"]: each for each in rows.find({"_id": {"$in": ids}}, session=session)}
        for slug, each in wanted.items():
            there = held.get(each["_id"])
            if there is not None and there["node"] != each["node"]:
                raise AddressTaken(slug, there["node"], is_current=there["current"])
        missing = [each for each in wanted.values() if each["_id"] not in held]
        if missing:
            rows.insert_many(missing, session=session)
        for own in held:
            rows.update_one({"_id": own}, {"$set": {"current": True}}, session=session)

    def _release(self, ids: list[str], session: ClientSession) -> None:
        """Make the former addresses old ones; those that were never public are removed."""
        rows, former = ADDRESSES.of(self._database), {"_id": {"$in": ids}}
        rows.delete_many({**former, "since": {"$gt": self._now}}, session=session)
        rows.update_many(former, {"$set": {"current": False}}, session=session)

    def _update(self, node: ContentNode) -> Document:
        parts = {"draft": node["draft"], "live": node["live"], "next": node["next"]}
        stored: Document = {
            f"{name}.slug": self._new(part["slug"])
            for name, part in parts.items()
            if part is not None and part["slug"].startswith(self._from)
        }
        if node["discussion"] is not None:
            stored["telling"] = discussions.note(self._runtime)
        return {"$set": {**stored, "updated": self._now}, "$inc": RAISED}

    def _new(self, slug: str) -> str:
        moved = self._to + slug.removeprefix(self._from)
        if len(moved) > MAX_SLUG_CHARACTERS:
            told = f"the address of {slug} would have more than {MAX_SLUG_CHARACTERS} characters"
            raise InvalidRequest(errors=[FieldError("to", "string_too_long", told)])
        return moved

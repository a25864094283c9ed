"""Addresses: the page of each slug of a site, for ever from its first day before readers.

An old address leads to its page, not to the next address, so there are no chains. Each address is a
document, and a claim is a write to that document: of two pages at once, one succeeds.
"""

from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.content.errors import AddressTaken
from chalicelib.content.shapes import PageAddress
from chalicelib.database import Collection, Document

ADDRESSES = Collection("content.address", PageAddress)


def look(database: Database[Document], site: str, slug: str) -> PageAddress | None:
    """Return an address. None: no page has had it."""
    return ADDRESSES.of(database).find_one({"_id": key(site, slug)})


def key(site: str, slug: str) -> str:
    """Return the id of an address."""
    return f"{site}:{slug}"


def claim(
    database: Database[Document],
    address: PageAddress,
    session: ClientSession,
    *,
    take: bool = False,
) -> None:
    """Make an address the current address of its page.

    `take`: take over a former address of another page. Raises AddressTaken.
    """
    rows, where = ADDRESSES.of(database), {"_id": address["_id"]}
    held = rows.find_one(where, session=session)
    if held is None:
        rows.insert_one(address, session=session)
        return
    if held["node"] != address["node"] and (held["current"] or not take):
        slug = address["_id"].partition(":")[2]
        raise AddressTaken(slug, held["node"], is_current=held["current"])
    is_own = held["node"] == address["node"]
    since = min(held["since"], address["since"]) if is_own else address["since"]
    stored = {"node": address["node"], "current": True, "since": since}
    rows.update_one(where, {"$set": stored}, session=session)


def release(
    database: Database[Document], address_id: str, now: datetime, session: ClientSession
) -> None:
    """Make an address an old address of its page, or remove it if it was never public."""
    rows = ADDRESSES.of(database)
    rows.delete_one({"_id": address_id, "since": {"$gt": now}}, session=session)
    rows.update_one({"_id": address_id}, {"$set": {"current": False}}, session=session)

"""Addresses: where each slug of a site leads, for ever once it was public.

An old address leads to its page and not to the next address, so that there are no chains. Each is
one document, and claiming it a write to that document: of two pages one gets it.
"""

from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.content.errors import AddressTaken
from chalicelib.content.shapes import Address
from chalicelib.database import Collection, Document

ADDRESSES = Collection("content.address", Address)


def look(database: Database[Document], site: str, slug: str) -> Address | None:
    """Return what is stored of an address."""
    return ADDRESSES.of(database).find_one({"_id": key(site, slug)})


def key(site: str, slug: str) -> str:
    """Return the id of an address."""
    return f"{site}:{slug}"


def claim(
    database: Database[Document], address: Address, session: ClientSession, *, take: bool = False
) -> None:
    """Make an address its page's present one.

    `take` takes over one that another page had once. Raises AddressTaken.
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
    """Make an address lead to its page as an old one; one that was never public is removed."""
    rows = ADDRESSES.of(database)
    rows.delete_one({"_id": address_id, "since": {"$gt": now}}, session=session)
    rows.update_one({"_id": address_id}, {"$set": {"current": False}}, session=session)

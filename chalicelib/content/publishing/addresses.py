"""Addresses: a document for each slug of a site, with its page. A public address stays for ever.

A former address leads to its page, not to the next address, so redirects never chain. A claim
writes the document of the address: of two concurrent claims, one succeeds.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

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


def page_id(now: datetime) -> Document:
    """Return the aggregation expression for the id of the page that an address leads to now."""
    return {"$cond": [{"$gt": ["$since", now]}, "$former.node", "$node"]}


def leads_somewhere(now: datetime) -> Document:
    """Return the filter of the addresses that lead to a page now."""
    return {"$or": [{"since": {"$lte": now}}, {"former": {"$exists": True}}]}


def claim(
    database: Database[Document],
    address: PageAddress,
    now: datetime,
    session: ClientSession,
    *,
    take: bool = False,
) -> None:
    """Make an address the current address of its page.

    take: also claim a former address of another page; before `since` it leads to the other page.
    Raises AddressTaken if the address is another page's, unless it is former and `take` is True.
    """
    rows, where = ADDRESSES.of(database), {"_id": address["_id"]}
    held = rows.find_one(where, session=session)
    if held is None:
        rows.insert_one(address, session=session)
        return
    if held["node"] != address["node"] and (held["current"] or not take):
        slug = address["_id"].partition(":")[2]
        raise AddressTaken(slug, held["node"], is_current=held["current"])
    rows.replace_one(where, _after_claim(held, address, now), session=session)


def _after_claim(held: PageAddress, address: PageAddress, now: datetime) -> PageAddress:
    """Return the document of an address after a claim.

    If the address is already the page's and public, its `since` stays. Before a future `since`, the
    address leads to its former page, if any.
    """
    is_own = held["node"] == address["node"]
    if is_own and held["since"] <= now:
        return {**address, "since": held["since"]}
    former = held.get("former")
    if not is_own:
        former = {"node": held["node"], "since": held["since"]}
    is_public = address["since"] <= now
    return address if is_public or former is None else {**address, "former": former}


def release(
    database: Database[Document], ids: Sequence[str], now: datetime, session: ClientSession
) -> None:
    """Make addresses former addresses of their page.

    An address that is not public yet returns to its former page; without one, its document goes.
    """
    rows, where = ADDRESSES.of(database), {"_id": {"$in": list(ids)}}
    planned = {**where, "since": {"$gt": now}, "former": {"$exists": False}}
    rows.delete_many(planned, session=session)
    is_planned = {"$gt": ["$since", now]}
    old: Any = {
        "node": page_id(now),
        "since": {"$cond": [is_planned, "$former.since", "$since"]},
        "current": False,
        "former": "$$REMOVE",
    }
    rows.update_many(where, [{"$set": old}], session=session)

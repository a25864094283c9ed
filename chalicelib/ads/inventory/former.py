"""Former ads: landing pages and markup that a campaign no longer shows, but open pages link to.

A reader may leave a page open for weeks, and its ads have signed addresses. Former ads answer these
addresses after a change or the deletion of the campaign (docs/decisions/0216).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel, ReplaceOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.inventory.campaigns import StoredCampaign
from chalicelib.ads.inventory.creatives import StoredAdUnit, creative_id
from chalicelib.database import Collection, Document

PAGE_DAYS = 365
# A frame's address is valid until the end of the next day (UTC). For some seconds after a change,
# containers with an older zone in memory still sign addresses of the former markup.
MARKUP_HOURS = 49
# Former pages and markup of one campaign; further ones replace the oldest.
MAX_PAGES = 1_000
MAX_MARKUP = 200


class FormerPage(TypedDict):
    """The last landing page of a removed ad unit; `_id` is `campaign:ad unit`."""

    _id: str
    campaign_id: str
    url: str
    at: datetime


class FormerMarkup(TypedDict):
    """An HTML creative that its ad unit no longer shows; `_id` is `creatives.creative_id`."""

    _id: str
    campaign_id: str
    html: str
    at: datetime


def _indexes(hours: int) -> tuple[IndexModel, ...]:
    return (
        IndexModel([("campaign_id", ASCENDING), ("at", DESCENDING)]),
        IndexModel([("at", ASCENDING)], expireAfterSeconds=hours * 3_600),
    )


_OF_CAMPAIGN: Document = {"campaign_id": 1}
FORMER_PAGES = Collection(
    "ad.former_page", FormerPage, indexes=_indexes(PAGE_DAYS * 24), shard_key=_OF_CAMPAIGN
)
FORMER_MARKUP = Collection(
    "ad.former_markup", FormerMarkup, indexes=_indexes(MARKUP_HOURS), shard_key=_OF_CAMPAIGN
)


def keep(
    database: Database[Document],
    session: ClientSession,
    before: StoredCampaign,
    after: Sequence[StoredAdUnit],
    now: datetime,
) -> None:
    """Store the landing pages of removed ad units, and the markup that `after` no longer shows.

    Stores nothing for a campaign without a balance: it was never active.
    """
    if "balance" not in before:
        return
    campaign_id, units = before["_id"], before["ad_units"]
    shared = {"campaign_id": campaign_id, "at": now}
    left = _pages(campaign_id, after).keys() | _markup(campaign_id, after).keys()
    pages = _pages(campaign_id, units).items()
    markup = _markup(campaign_id, units).items()
    former_pages = [{"_id": name, "url": url, **shared} for name, url in pages if name not in left]
    former_markup = [
        {"_id": name, "html": html, **shared} for name, html in markup if name not in left
    ]
    _store(FORMER_PAGES.of(database), session, former_pages, MAX_PAGES)
    _store(FORMER_MARKUP.of(database), session, former_markup, MAX_MARKUP)


def _store(collection: Any, session: ClientSession, rows: Sequence[Document], most: int) -> None:
    if not rows:
        return
    own = {"campaign_id": rows[0]["campaign_id"]}
    writes = [ReplaceOne({"_id": row["_id"], **own}, row, upsert=True) for row in rows]
    collection.bulk_write(writes, session=session)
    newest = collection.find(own, {"_id": 1}, session=session).sort("at", DESCENDING)
    if surplus := [row["_id"] for row in newest.skip(most)]:
        collection.delete_many({**own, "_id": {"$in": surplus}}, session=session)


def _pages(campaign_id: str, units: Sequence[StoredAdUnit]) -> dict[str, str]:
    return {
        f"{campaign_id}:{unit['ad_unit_id']}": unit["creative"]["landing_url"] for unit in units
    }


def _markup(campaign_id: str, units: Sequence[StoredAdUnit]) -> dict[str, str]:
    return {
        creative_id(campaign_id, unit["ad_unit_id"], creative): creative["html"]
        for unit in units
        if (creative := unit["creative"])["type"] == "html"
    }


def find_page(database: Database[Document], campaign_id: str, ad_unit_id: str) -> str | None:
    """Return the last landing page of a removed ad unit; None: unknown."""
    this = {"_id": f"{campaign_id}:{ad_unit_id}", "campaign_id": campaign_id}
    found = FORMER_PAGES.of(database).find_one(this)
    return found["url"] if found else None


def find_markup(database: Database[Document], creative_id: str) -> str | None:
    """Return the markup of a creative that its campaign shows no more; None: unknown."""
    campaign_id = creative_id.rsplit(":", 2)[0]
    this = {"_id": creative_id, "campaign_id": campaign_id}
    found = FORMER_MARKUP.of(database).find_one(this)
    return found["html"] if found else None

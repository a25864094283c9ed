"""Hits of pages: as the queue's message, and as a log's row."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Literal, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, TypeAdapter

from chalicelib.messaging import Message

# A view is a person's. Bots count apart, and so do feed readers, through which people read.
Kind = Literal["view", "bot", "feed"]
Device = Literal["desktop", "mobile", "tablet"]
# The sources of views, and their fields in hits.
Dimension = Literal["referrer", "campaign", "device", "country"]
DIMENSIONS: Final[tuple[Dimension, ...]] = ("referrer", "campaign", "device", "country")
FIELD_OF: Final[dict[Dimension, str]] = {
    "referrer": "ref",
    "campaign": "campaign",
    "device": "device",
    "country": "country",
}
DAY = timedelta(days=1)
# An older hit does not count: it may have counted, with a receipt that has expired since. Dead
# letters stay for 14 days, and a page reports up to one day late.
OLDEST = 15 * DAY
# After this time the salt that identifies a visitor is gone (`visitors/salts.py`).
VISITOR_KNOWN = 2 * DAY
# The rows of an older message get no user: they could come after the last deletion of an erasure,
# 20 minutes after the erasure's end (`jobs/outbox.py`).
USER_KNOWN = timedelta(minutes=15)
HITS_AT_ONCE = 20
# The path of the reports over a whole site; real paths begin with a slash.
WHOLE_SITE = "*"
# The path for all names beyond the number that a day may have.
OTHER = "*other*"


class StoredHit(TypedDict):
    """A row of a log; `_id` is `site:id`, with the hit's own id.

    `visitor` identifies a visitor for one day. `campaign` is `source/medium/name`.
    """

    _id: str
    site: str
    ts: datetime
    path: str
    kind: Kind
    ref: NotRequired[str]
    campaign: NotRequired[str]
    visitor: NotRequired[str]
    user: NotRequired[str]
    device: NotRequired[Device]
    country: NotRequired[str]
    node: NotRequired[str]
    title: NotRequired[str]


class PageHit(BaseModel):
    """One hit of a message."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    ts: datetime
    path: str
    visitor: str | None = None
    ref: str | None = None
    campaign: str | None = None
    node: str | None = None
    title: str | None = None
    # A digest of the sender's network with the day's salt. It limits new names; no row stores it.
    network: str | None = None


class Dropped(BaseModel):
    """The faults of a beacon, each with its number.

    `id` is the first valid id among the beacon's hits, so that a repeat counts once; else a new
    id.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    at: datetime
    faults: dict[str, int]


class Hits(Message):
    """One beacon of one visitor, without IP address and user agent.

    `taken_at` is the time of the request; None: a message of an earlier release.
    """

    queue: ClassVar[str] = "hits"
    site: str
    kind: Kind
    hits: tuple[PageHit, ...]
    device: Device | None = None
    country: str | None = None
    user: str | None = None
    dropped: Dropped | None = None
    taken_at: datetime | None = None


HITS: TypeAdapter[Hits] = TypeAdapter(Hits)


def rows_of(message: Hits) -> list[StoredHit]:
    """Return the rows of a message's hits."""
    optional = {"device": message.device, "country": message.country, "user": message.user}
    known = {name: value for name, value in optional.items() if value is not None}
    shared: dict[str, Any] = {"site": message.site, "kind": message.kind, **known}
    return [_row(hit, message.site, shared) for hit in message.hits]


def networks_of(message: Hits) -> dict[str, str]:
    """Return the networks of a message's hits by the ids of their rows.

    Messages of an earlier release have no network. There a visitor counts as a network, and all
    hits without a visitor as one more.
    """
    site = message.site
    return {f"{site}:{hit.id}": hit.network or hit.visitor or "" for hit in message.hits}


def outdated_users(message: Hits, now: datetime) -> list[str]:
    """Return the ids of all rows of a message too old to name its user; else an empty list."""
    if message.user is None or message.taken_at is None or now - message.taken_at <= USER_KNOWN:
        return []
    return [f"{message.site}:{hit.id}" for hit in message.hits]


def _row(hit: PageHit, site: str, shared: dict[str, Any]) -> StoredHit:
    row: Any = {"_id": f"{site}:{hit.id}", "ts": hit.ts, "path": hit.path, **shared}
    # No loop: a worker makes thousands of rows a second.
    if hit.visitor is not None:
        row["visitor"] = hit.visitor
    if hit.ref is not None:
        row["ref"] = hit.ref
    if hit.campaign is not None:
        row["campaign"] = hit.campaign
    if hit.node is not None:
        row["node"] = hit.node
    if hit.title is not None:
        row["title"] = hit.title
    return row  # type: ignore[no-any-return]


def day_of(time: datetime) -> datetime:
    """Return the midnight (UTC) of a time's day."""
    return time.replace(hour=0, minute=0, second=0, microsecond=0)

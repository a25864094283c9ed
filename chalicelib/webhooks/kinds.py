"""The table of event kinds: hooks choose from it, and the API's document lists it."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.instants import Instant
from chalicelib.sites.ids import SiteId

CommentKind = Literal[
    "comment.created",
    "comment.edited",
    "comment.state_changed",
    "comment.deleted",
    "comment.flagged",
]
# The kinds of which a buyer with an account is notified, too.
BuyerKind = Literal["order.paid", "order.shipped", "order.cancelled", "order.refunded"]
OrderKind = Literal[BuyerKind, "order.refund_failed"]
PageKind = Literal["page.published", "page.unpublished"]
# The kinds that a hook chooses.
# Steps that an order takes once: their ids have no number.
ONCE = frozenset[str]({"order.paid", "order.shipped", "order.cancelled"})
Kind = CommentKind | OrderKind | PageKind
# A trial comes to its hook whatever the hook chose.
TRIAL: Literal["webhook.trial"] = "webhook.trial"
EventKindName = Kind | Literal["webhook.trial"]


class CommentEventData(TypedDict):
    """A comment at the time of its event, without its text and its author.

    `state`: as moderators see it.
    """

    id: Annotated[str, Field(max_length=100)]
    site: SiteId
    node_id: Annotated[str, Field(max_length=300)]
    parent_id: Annotated[str, Field(max_length=100)] | None
    state: Literal["visible", "pending", "hidden", "spam", "deleted"]
    posted_at: Instant
    permalink: Annotated[str, Field(max_length=2_100)]


class CommentEvent(TypedDict):
    """An event of a comment; read the comment for its text."""

    type: CommentKind
    timestamp: Instant
    data: CommentEventData


class OrderEventData(TypedDict):
    """An order at the time of its event, without its buyer and its lines.

    `amount_micros`: of the refund that was made or failed; null in other events.
    """

    id: Annotated[str, Field(max_length=100)]
    site: SiteId
    state: Literal["paid", "done", "declined", "void"]
    total_micros: Annotated[int, Field(ge=0)]
    amount_micros: Annotated[int, Field(ge=0)] | None
    currency: Annotated[str, Field(max_length=3)]
    at: Instant


class OrderEvent(TypedDict):
    """An event of an order; read the order for its lines and its buyer."""

    type: OrderKind
    timestamp: Instant
    data: OrderEventData


class PageEventData(TypedDict):
    """A page of content at the time of its event, without its words and its author.

    `version`: of the text that readers see, or saw.
    """

    id: Annotated[str, Field(max_length=100)]
    site: SiteId
    slug: Annotated[str, Field(max_length=300)]
    version: Annotated[int, Field(ge=1)]


class PageEvent(TypedDict):
    """An event of a page; read the page for its text."""

    type: PageKind
    timestamp: Instant
    data: PageEventData


class TrialEventData(TypedDict):
    """The hook of a trial."""

    hook: str
    site: SiteId


class TrialEvent(TypedDict):
    """An event that says nothing but that the hook works."""

    type: Literal["webhook.trial"]
    timestamp: Instant
    data: TrialEventData


class EventKind(NamedTuple):
    """A kind of events: a sentence for the API's document, and the type of the body."""

    summary: str
    payload: type


KINDS: Mapping[str, EventKind] = {
    "comment.created": EventKind("A comment was posted, in any state", CommentEvent),
    "comment.edited": EventKind("A comment has a new text", CommentEvent),
    "comment.state_changed": EventKind("A comment was shown, held or hidden", CommentEvent),
    "comment.deleted": EventKind("A comment was deleted", CommentEvent),
    "comment.flagged": EventKind("Moderators have one more flag to decide on", CommentEvent),
    "order.paid": EventKind("A buyer has paid an order", OrderEvent),
    "order.shipped": EventKind("The publisher marked an order as sent", OrderEvent),
    "order.cancelled": EventKind("An order ended without its payment", OrderEvent),
    "order.refunded": EventKind("Money of an order went back to its buyer", OrderEvent),
    "order.refund_failed": EventKind("Money of a refund did not reach its buyer", OrderEvent),
    "page.published": EventKind("Readers see a page, or a new text of it", PageEvent),
    "page.unpublished": EventKind("Readers see a page no more", PageEvent),
    TRIAL: EventKind("The publisher tries a hook", TrialEvent),
}


def body_of(kind: str, at: datetime, data: Mapping[str, Any]) -> str:
    """Return the JSON body of an event in ASCII; equal arguments give equal bytes."""
    stamp = _text_of(at)
    plain = {name: _text_of(x) if isinstance(x, datetime) else x for name, x in data.items()}
    return json.dumps({"type": kind, "timestamp": stamp, "data": plain}, separators=(",", ":"))


def _text_of(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

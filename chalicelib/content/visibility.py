"""Which edition of a page its readers see at an instant: pure, and the filter that says the same.

Nothing runs at the instant: a reader compares it with the clock. The schedule only tidies up.
"""

from datetime import datetime
from typing import Literal, get_args

from chalicelib.content.nodes import EVER
from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.database import Document

State = Literal["draft", "scheduled", "live", "ended"]
STATES: tuple[State, ...] = get_args(State)


def shown(node: ContentNode, now: datetime) -> Edition | None:
    """Return the edition that readers see now; None if they see nothing."""
    if node["published"] is None or node["published"] > now or is_over(node, now):
        return None
    return coming(node, now) or node["live"]


def coming(node: ContentNode, now: datetime) -> Edition | None:
    """Return the next edition if its instant has come, and it is not tidied up yet."""
    following = node["next"]
    return following if following is not None and following["shown_from"] <= now else None


def is_over(node: ContentNode, now: datetime) -> bool:
    """Return whether a page has ended."""
    return node["until"] is not None and node["until"] <= now


def state(node: ContentNode, now: datetime) -> State:
    """Return where a page is on its way; `ended` is one whose end has come."""
    if is_over(node, now):
        return "ended"
    if node["published"] is None:
        return "draft"
    return "live" if node["published"] <= now else "scheduled"


def in_state(wanted: State, now: datetime) -> Document:
    """Return the filter of the pages in a state."""
    going_on = {"until": {"$not": {"$lte": now}}}
    match wanted:
        case "draft":
            return {"published": None, **going_on}
        case "scheduled":
            return {"published": {"$gt": now}, **going_on}
        case "live":
            return shown_filter(now)
        case "ended":
            return {"until": {"$lte": now}}


def shown_filter(now: datetime) -> Document:
    """Return the filter of the pages that `shown` shows."""
    return {"published": {**EVER, "$lte": now}, "until": {"$not": {"$lte": now}}}


def tagged(tag: str, now: datetime) -> tuple[Document, Document]:
    """Return two filters: the pages whose shown edition has a tag are in one of them."""
    has_come = {"$lte": now}
    return (
        {"live.tags": tag, "next.shown_from": {"$not": has_come}},
        {"next.tags": tag, "next.shown_from": {**EVER, **has_come}},
    )


def next_change(node: ContentNode, now: datetime) -> datetime | None:
    """Return when readers will see something else of a page by the clock alone, if at all."""
    following = node["next"]["shown_from"] if node["next"] else None
    times = [each for each in (following, node["until"], node["published"]) if each and each > now]
    return min(times, default=None)

"""The edition of a page that readers see at an instant, as pure functions and as filters.

Nothing runs at the instant: each read compares it with the clock. The schedule only tidies up.
"""

from datetime import datetime
from typing import Literal

from chalicelib.content.nodes import EVER
from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.database import Document

State = Literal["draft", "scheduled", "live", "ended"]


def edition_at(node: ContentNode, now: datetime) -> Edition | None:
    """Return the edition that readers see now. None: no edition."""
    if node["published"] is None or node["published"] > now or is_over(node, now):
        return None
    return coming(node, now) or node["live"]


def date_of(node: ContentNode) -> datetime | None:
    """Return the date of a page that readers see. None: the page is not published."""
    return node.get("dated") or node["published"]


def coming(node: ContentNode, now: datetime) -> Edition | None:
    """Return the next edition if its instant has passed. None: no such edition.

    Soon after the instant, the schedule makes it live.
    """
    following = node["next"]
    return following if following is not None and following["shown_from"] <= now else None


def is_over(node: ContentNode, now: datetime) -> bool:
    """Return whether a page has ended."""
    return node["until"] is not None and node["until"] <= now


def state(node: ContentNode, now: datetime) -> State:
    """Return the state of a page. `ended`: its end has passed."""
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
            return {"until": {**EVER, "$lte": now}}


def shown_filter(now: datetime) -> Document:
    """Return the filter of the pages that readers see now."""
    return {"published": {**EVER, "$lte": now}, "until": {"$not": {"$lte": now}}}


def with_tag(tag: str, now: datetime) -> tuple[Document, Document]:
    """Return two filters that select pages with a tag among visible pages: by `live`, by `next`."""
    has_come = {"$lte": now}
    return (
        {"live.tags": tag, "next.shown_from": {"$not": has_come}},
        {"next.tags": tag, "next.shown_from": {**EVER, **has_come}},
    )


def next_change(node: ContentNode, now: datetime) -> datetime | None:
    """Return the next instant at which the clock alone changes a page. None: never."""
    following = node["next"]["shown_from"] if node["next"] else None
    times = [each for each in (following, node["until"], node["published"]) if each and each > now]
    return min(times, default=None)

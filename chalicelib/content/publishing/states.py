"""Publishing changes of a page, as pure functions; a transaction applies them.

From `published` on, readers see `live`; lists sort by `published`. A page that appears at a future
instant has that instant as `published`, and its date as `dated`. After the instant, the schedule
sets `published` to the date. A page that appears now has its date as `published` at once.
"""

from datetime import datetime
from typing import TypedDict

from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.visibility import coming, date_of, edition_at


class Publishing(TypedDict):
    """The fields of a page that publishing sets."""

    live: Edition | None
    next: Edition | None
    published: datetime | None
    dated: datetime | None
    first_published: datetime | None
    until: datetime | None


def apply_edition(
    node: ContentNode,
    edition: Edition,
    until: datetime | None,
    now: datetime,
    dated: datetime | None = None,
) -> Publishing:
    """Return the change that makes an edition live at its instant, or now.

    dated: the date that readers see, no later than the instant. None: the former date, or else the
    instant.
    """
    present, since = edition_at(node, now), edition["shown_from"]
    if present is not None:
        is_now = since <= now
        return {
            "live": edition if is_now else present,
            "next": None if is_now else edition,
            "published": dated or date_of(node),
            "dated": None,
            "first_published": dated or _first(node, now),
            "until": until,
        }
    had = _first(node, now)
    date = dated or had or since
    is_now = since <= now
    return {
        "live": edition,
        "next": None,
        "published": date if is_now else since,
        "dated": None if is_now or date == since else date,
        "first_published": date if is_now else had or since,
        "until": until,
    }


def hide(node: ContentNode, now: datetime) -> Publishing:
    """Return the change that hides a page; it removes an end, unless the end has passed."""
    until = node["until"]
    return {
        "live": None,
        "next": None,
        "published": None,
        "dated": None,
        "first_published": _first(node, now),
        "until": until if until is not None and until <= now else None,
    }


def make_next_live(node: ContentNode, now: datetime) -> Publishing:
    """Return the change that makes the next edition live, if its instant has come."""
    come = coming(node, now)
    return {
        "live": come or node["live"],
        "next": None if come else node["next"],
        "published": node["published"],
        "dated": node.get("dated"),
        "first_published": node["first_published"],
        "until": node["until"],
    }


def give_date(node: ContentNode, now: datetime) -> Publishing:
    """Return the change that sets `published` to the page's date, once `published` has passed."""
    has_come = node["published"] is not None and node["published"] <= now
    date = date_of(node)
    return {
        "live": node["live"],
        "next": node["next"],
        "published": date if has_come else node["published"],
        "dated": None if has_come else node.get("dated"),
        "first_published": _first(node, now) if has_come else node["first_published"],
        "until": node["until"],
    }


def slugs(live: Edition | None, following: Edition | None) -> set[str]:
    """Return the slugs that a page claims with its editions."""
    return {each["slug"] for each in (live, following) if each is not None}


def _first(node: ContentNode, now: datetime) -> datetime | None:
    """Return the first date of a page for its readers. None: no reader has seen it."""
    if node["published"] is not None and node["published"] <= now and node.get("dated"):
        return node.get("dated")
    first = node["first_published"]
    return first if first is not None and first <= now else None

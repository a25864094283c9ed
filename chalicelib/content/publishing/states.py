"""Publishing changes of a page, as pure functions; a transaction applies them.

From `published` on, readers see `live`. So a page that returns at a future instant has that instant
as `published`, and a page that returns now has its first instant.
"""

from datetime import datetime
from typing import TypedDict

from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.visibility import coming, edition_at


class Publishing(TypedDict):
    """The fields of a page that publishing sets."""

    live: Edition | None
    next: Edition | None
    published: datetime | None
    first_published: datetime | None
    until: datetime | None


def apply_edition(
    node: ContentNode, edition: Edition, until: datetime | None, now: datetime
) -> Publishing:
    """Return the change that makes an edition live at its instant, or now."""
    present, since = edition_at(node, now), edition["shown_from"]
    if present is not None:
        first, is_now = node["published"], since <= now
        return {
            "live": edition if is_now else present,
            "next": None if is_now else edition,
            "published": first,
            "first_published": node["first_published"],
            "until": until,
        }
    had = _first(node, now)
    return {
        "live": edition,
        "next": None,
        "published": had if had is not None and since <= now else since,
        "first_published": had or since,
        "until": until,
    }


def hide(node: ContentNode, now: datetime) -> Publishing:
    """Return the change that hides a page; an end that has passed stays."""
    until = node["until"]
    return {
        "live": None,
        "next": None,
        "published": None,
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
        "first_published": node["first_published"],
        "until": node["until"],
    }


def slugs(live: Edition | None, following: Edition | None) -> set[str]:
    """Return the slugs that a page claims with its editions."""
    return {each["slug"] for each in (live, following) if each is not None}


def _first(node: ContentNode, now: datetime) -> datetime | None:
    """Return the first instant of a page before readers. None: not yet."""
    first = node["first_published"]
    return first if first is not None and first <= now else None

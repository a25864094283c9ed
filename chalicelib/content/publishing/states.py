"""What publishing changes on a page: pure, and applied in one transaction.

A page whose `published` has come shows `live` from then on, so a republication to come has its own
instant as `published`, and one of now has the first.
"""

from datetime import datetime
from typing import TypedDict

from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.visibility import coming, shown


class Publishing(TypedDict):
    """The fields of a page that publishing sets."""

    live: Edition | None
    next: Edition | None
    published: datetime | None
    first_published: datetime | None
    until: datetime | None


def published(
    node: ContentNode, edition: Edition, until: datetime | None, now: datetime
) -> Publishing:
    """Return a page with an edition that is live at its instant; now, if that has passed."""
    present, since = shown(node, now), edition["shown_from"]
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


def unpublished(node: ContentNode, now: datetime) -> Publishing:
    """Return a page that readers do not see; its end stays, if it has come."""
    until = node["until"]
    return {
        "live": None,
        "next": None,
        "published": None,
        "first_published": _first(node, now),
        "until": until if until is not None and until <= now else None,
    }


def tidied(node: ContentNode, now: datetime) -> Publishing:
    """Return a page whose next edition, if its instant has come, is the live one."""
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
    """Return the first instant at which a page was shown; None if it never was."""
    first = node["first_published"]
    return first if first is not None and first <= now else None

"""A page's events for the webhooks of its site and for its author: also events to come.

A change of a page notes the events that follow from it, at the instants at which readers see them.
Events to come follow from the last change alone.
"""

from datetime import datetime

from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.visibility import edition_at, next_change
from chalicelib.webhooks.kinds import PageEventData, PageKind
from chalicelib.webhooks.rows import MAX_DUE, DueEvent


def events_after(
    before: ContentNode, after: ContentNode, now: datetime, by: str | None = None
) -> list[DueEvent]:
    """Return the due events of a page after a change: earlier events, and what readers will see.

    by: the person who made the change; without one, an event to come keeps its cause.
    """
    noted = before.get("due_events", [])
    found = [each for each in noted if each["at"] <= now]
    own = {each["data"]["version"] for each in noted if each.get("by_author")}
    shown, at = edition_at(before, now), now
    for number in range(MAX_DUE):
        seen = edition_at(after, at)
        if _version(seen) != _version(shown):
            event = _event(before, seen, shown, at, number)
            author = before["author"]["id"] if before["author"] else None
            is_own = event["data"]["version"] in own if by is None else by == author
            found.append({**event, "by_author": True} if is_own else event)
        shown, following = seen, next_change(after, at)
        if following is None:
            break
        at = following
    return found[-MAX_DUE:]


def _version(edition: Edition | None) -> int | None:
    return edition["version"] if edition else None


def _event(
    before: ContentNode, seen: Edition | None, shown: Edition | None, at: datetime, number: int
) -> DueEvent:
    """Return the event of a change of a page, the first or a later one, at an instant."""
    kind: PageKind = "page.published" if seen else "page.unpublished"
    edition = seen or shown
    assert edition is not None  # noqa: S101 - they differ
    data: PageEventData = {
        "id": before["_id"],
        "site": before["site"],
        "slug": edition["slug"],
        "version": edition["version"],
    }
    # No other change of the page has this edition.
    event_id = f"{before['_id']}-{kind.partition('.')[2]}-{before['edition'] + 1}-{number}"
    return {"id": event_id, "kind": kind, "at": at, "data": {**data}}

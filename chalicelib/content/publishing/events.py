"""A page's events, past and to come, for the site's webhooks and for the page's author.

A change of a page stores an event for each of its effects, with the instant at which readers see
the effect. The new events replace the events to come of earlier changes.
"""

from datetime import datetime

from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.visibility import edition_at, next_change
from chalicelib.webhooks.kinds import PageEventData, PageKind
from chalicelib.webhooks.rows import MAX_DUE, DueEvent


def events_after(
    before: ContentNode, after: ContentNode, now: datetime, by: str | None = None
) -> list[DueEvent]:
    """Return a page's due events after a change: past events, then the effects of the change.

    by: the id of the change's author. None: an event to come retains its `by_author`.
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
    """Return the event at an instant; `number` is its place among the effects of a change."""
    kind: PageKind = "page.published" if seen else "page.unpublished"
    edition = seen or shown
    assert edition is not None  # noqa: S101 - they differ
    data: PageEventData = {
        "id": before["_id"],
        "site": before["site"],
        "slug": edition["slug"],
        "version": edition["version"],
    }
    # Each change raises `edition`, so the id is unique.
    event_id = f"{before['_id']}-{kind.partition('.')[2]}-{before['edition'] + 1}-{number}"
    return {"id": event_id, "kind": kind, "at": at, "data": {**data}}

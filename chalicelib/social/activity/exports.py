"""A person's entries in an export, from the documents of the activity feed."""

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.people.features import ExportEntry, entry
from chalicelib.social.activity.actions.shapes import StoredAction, StoredActionEvent
from chalicelib.social.activity.feed.items import FeedItem
from chalicelib.social.activity.org.people import StoredPerson, StoredPlace, place_of


def action(stored: StoredAction) -> list[ExportEntry]:
    """Return an action of the person, without the ids of its audience."""
    return [
        entry(
            "action",
            id=stored["_id"],
            actor=stored["actor"],
            conducted_at=stored["conducted"],
            scope=stored.get("shown_scope", stored["scope"]),
            # The absence of an id would reveal a user who blocks the person.
            audience_count=len(stored["audience"]),
            refs=stored["refs"],
            descriptor=stored["descriptor"],
            tags=stored["tags"],
            team=stored["team"],
            department=stored["department"],
            is_hidden=stored["hidden"],
            is_deleted=stored["deleted"],
        )
    ]


def mention(stored: StoredAction) -> list[ExportEntry]:
    """Return the id and time of an action that names the person."""
    return [entry("mention", action_id=stored["_id"], conducted_at=stored["conducted"])]


def addressed_action(stored: StoredAction) -> list[ExportEntry]:
    """Return the id and time of an action whose audience names the person."""
    return [entry("addressed_action", action_id=stored["_id"], conducted_at=stored["conducted"])]


def event(stored: StoredActionEvent) -> list[ExportEntry]:
    """Return a comment on, or a reaction to, an action."""
    said = {name: stored[name] for name in ("text", "kind") if name in stored}
    fields = {"action_id": stored["action_id"], "posted_at": stored["ts"], "author": stored["by"]}
    return [entry(f"action_{stored['type']}", **fields, **said)]


def item(stored: FeedItem) -> list[ExportEntry]:
    """Return an action's place in the person's feed."""
    fields = {"action_id": stored["action_id"], "relevant_at": stored["relevancy"]}
    return [entry("feed_item", **fields, risen_at=stored["risen"], is_hidden=stored["hidden"])]


def person(stored: StoredPerson) -> list[ExportEntry]:
    """Return the person's present place, and the users that the person muted."""
    place = entry("place", **_place(stored), seen_at=stored["seen"])
    return [place, *(entry("muted_user", id=muted) for muted in stored["muted"])]


def past_place(stored: StoredPlace) -> list[ExportEntry]:
    """Return a past or present place of the person in the organisation, with its times."""
    times = {"since": stored["since"], "until": stored["until"]}
    return [entry("place_over_time", **times, **_place(stored))]


def other(kind: str) -> Callable[[Mapping[str, Any]], list[ExportEntry]]:
    """Return the exporter of others' rows that name the person: it shows only the others' ids."""

    def show(stored: Mapping[str, Any]) -> list[ExportEntry]:
        return [entry(kind, user_id=stored.get("user_id", stored["_id"]))]

    return show


def _place(stored: Mapping[str, Any]) -> dict[str, Any]:
    place = place_of(stored)
    return {
        "team": place["team"],
        "department": place["department"],
        "manager_id": place["manager"],
        "assigned_ref_ids": place["assigned"],
    }

"""Permission to see an action: pure rules on documents that the caller has read."""

from collections.abc import Set as AbstractSet

from chalicelib.social.activity.actions.shapes import VisibleAction
from chalicelib.social.activity.org.places import Org


def may_see(action: VisibleAction, reader_id: str, today: Org, blocked: AbstractSet[str]) -> bool:
    """Return whether a reader may see an action: as its actor, or as a member of its scope today.

    No reader sees a deleted action, and only its actor sees a hidden action. `blocked`: the users
    with a block with the reader, in either direction; the reader does not see their actions.
    """
    if action["deleted"]:
        return False
    if action["actor"]["id"] == reader_id:
        return True
    if action["actor"]["id"] in blocked:
        return False
    return not action["hidden"] and is_in_scope(action, reader_id, today)


def is_in_scope(action: VisibleAction, reader_id: str, today: Org) -> bool:
    """Return whether a reader is in an action's scope today, without the actor's own right."""
    match action["scope"]:
        case "team":
            return today.team is not None and today.team == action["team"]
        case "department":
            return today.department is not None and today.department == action["department"]
        case _:
            # The projection for a reader omits an audience without the reader.
            return reader_id in action.get("audience", ())

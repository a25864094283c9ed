"""Who may see an action: the rules alone, on what was read before."""

from collections.abc import Set as AbstractSet

from chalicelib.social.activity.actions.shapes import VisibleAction
from chalicelib.social.activity.org.places import Org


def may_see(action: VisibleAction, reader_id: str, today: Org, blocked: AbstractSet[str]) -> bool:
    """Return whether a reader may see an action: its actor may, and those of its scope today.

    Nobody sees a deleted action, and only its actor a hidden one. `blocked` are the users with
    whom the reader has a block; the reader does not see their actions.
    """
    if action["deleted"]:
        return False
    if action["actor"]["id"] == reader_id:
        return True
    if action["actor"]["id"] in blocked:
        return False
    return not action["hidden"] and is_in_scope(action, reader_id, today)


def is_in_scope(action: VisibleAction, reader_id: str, today: Org) -> bool:
    """Return whether an action is in a reader's scope, not considering its actor."""
    match action["scope"]:
        case "team":
            return today.team is not None and today.team == action["team"]
        case "department":
            return today.department is not None and today.department == action["department"]
        case _:
            # Read with the projection for a reader, an audience without that reader is missing.
            return reader_id in action.get("audience", ())

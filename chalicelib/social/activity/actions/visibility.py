"""Who may see an action: the rules alone, on what was read before."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from chalicelib.social.activity.org.places import Org


def may_see(
    action: Mapping[str, Any], reader_id: str, today: Org, blocked: AbstractSet[str]
) -> bool:
    """Tell whether a reader may see an action: its actor may, and those of its scope today.

    Nobody sees one that was deleted, and only its actor one that is hidden. `blocked` are those
    on the other side of a block with the reader, whose actions the reader does not see.
    """
    if action["deleted"]:
        return False
    if action["actor"]["id"] == reader_id:
        return True
    if action["actor"]["id"] in blocked:
        return False
    return not action["hidden"] and is_in_scope(action, reader_id, today)


def is_in_scope(action: Mapping[str, Any], reader_id: str, today: Org) -> bool:
    """Tell whether the scope of an action, its actor aside, brings it to a reader."""
    match action["scope"]:
        case "team":
            return today.team is not None and today.team == action["team"]
        case "department":
            return today.department is not None and today.department == action["department"]
        case _:
            # Read with the projection for a reader, an audience without that reader is missing.
            return reader_id in action.get("audience", ())

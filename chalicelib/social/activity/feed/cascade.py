"""What hiding, showing and deleting an action does to its items and events."""

from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.feed import items


def cascade(runtime: Runtime, action_id: str) -> None:
    """Make the items of an action follow it; the items and events of a deleted one are removed.

    A worker that delivers items in the meantime reads the action after writing them.
    """
    action = actions.ACTIONS.of(runtime.database).find_one({"_id": action_id})
    if action is None or action["deleted"]:
        items.remove(runtime.database, action_id)
        events.remove(runtime.database, action_id)
    else:
        items.show_or_hide(runtime.database, action)

"""What hiding, showing and deleting an action does to all that hangs on it."""

from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.feed import items


def cascade(runtime: Runtime, action_id: str) -> None:
    """Make the items of an action follow it; of one that is deleted nothing else stays.

    Whoever brings items meanwhile looks at the action after writing them.
    """
    action = actions.collection(runtime.database).find_one({"_id": action_id})
    if action is None or action["deleted"]:
        items.remove(runtime.database, action_id)
        events.remove(runtime.database, action_id)
    else:
        items.show_or_hide(runtime.database, action)

"""The effects of hiding, showing and deleting an action on its items and events."""

from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.feed import items


def cascade(runtime: Runtime, action_id: str) -> None:
    """Hide or show the items of an action as the action; if deleted, delete its items and events.

    Of a concealed action, only its actor keeps an item.
    A worker that delivers items meanwhile reads the action after it has written them.
    """
    action = actions.ACTIONS.of(runtime.database).find_one({"_id": action_id})
    if action is None or action["deleted"]:
        items.remove(runtime.database, action_id)
        events.remove(runtime.database, action_id)
    else:
        if "shown_scope" in action:
            items.remove(runtime.database, action_id, kept_for=action["actor"]["id"])
            # A delivery since a reveal may have written items that the removal took.
            actions.deliver_again(runtime, action_id)
        items.show_or_hide(runtime.database, action)

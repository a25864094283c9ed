"""The effects of hiding, showing and deleting an action on its items and events."""

from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.feed import items


def cascade(runtime: Runtime, action_id: str) -> None:
    """Bring an action's items up to its state: hide, show or delete them.

    Deletes the items and events of a deleted action, and all items of a concealed action but its
    actor's. A concurrent delivery reads the action again after its write, and corrects its items.
    """
    action = actions.ACTIONS.of(runtime.database).find_one({"_id": action_id})
    if action is None or action["deleted"]:
        items.remove(runtime.database, action_id)
        events.remove(runtime.database, action_id)
    else:
        if "shown_scope" in action:
            items.remove(runtime.database, action_id, kept_for=action["actor"]["id"])
            # After a reveal meanwhile, the removal may have deleted newly delivered items.
            actions.deliver_again(runtime, action_id)
        items.show_or_hide(runtime.database, action)

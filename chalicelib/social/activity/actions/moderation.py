"""What social moderators read of actions beyond what they see as readers."""

from typing import Any

from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.models import action_answer
from chalicelib.social.errors import UnknownAction
from chalicelib.social.posts.moderation import MARK


def read_action(runtime: Runtime, action_id: str, caller: Principal) -> dict[str, Any]:
    """Return an action to readers who may see it, and, marked, to moderators.

    Raises UnknownAction.
    """
    try:
        return action_answer(actions.find_visible(runtime.database, action_id, caller))
    except UnknownAction:
        if not caller.has("social_moderator"):
            raise
    action = actions.find(runtime.database, action_id)
    return {**action_answer(action), **MARK}

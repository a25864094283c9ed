"""The read of an action; a mark shows that only the moderator's role permits it."""

from typing import cast

from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, reactions
from chalicelib.social.activity.actions.answers import ReadActionAnswer, action_answer
from chalicelib.social.activity.actions.shapes import ShownAction
from chalicelib.social.errors import UnknownAction


def read_action(runtime: Runtime, action_id: str, caller: Principal) -> ReadActionAnswer:
    """Return an action that the caller may see, or any action to a social moderator.

    `read_as` marks an action that only the role permits. Raises UnknownAction.
    """
    try:
        found = actions.find_visible(runtime.database, action_id, caller)
        return _read(runtime, found, caller)
    except UnknownAction:
        if not caller.has("social_moderator"):
            raise
    action = actions.find(runtime.database, action_id)
    return {**_read(runtime, action, caller), "read_as": "moderator"}


def _read(runtime: Runtime, action: ShownAction, caller: Principal) -> ReadActionAnswer:
    own = reactions.of_reader(runtime.database, action["_id"], caller.id)
    return cast("ReadActionAnswer", {**action_answer(action), "own_reaction": own})

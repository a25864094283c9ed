"""Actions and their comments that social moderators read by their role: marked and audited."""

from typing import cast

from chalicelib.errors import Forbidden
from chalicelib.http import Request
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events, reactions
from chalicelib.social.activity.actions.answers import (
    ActionCommentsAnswer,
    ReadActionAnswer,
    action_answer,
)
from chalicelib.social.activity.actions.forms import ActionCommentsQuery
from chalicelib.social.activity.actions.shapes import ShownAction
from chalicelib.social.errors import UnknownAction


def read_action(request: Request, action_id: str, caller: Principal) -> ReadActionAnswer:
    """Return an action that the caller may see, or any action to a social moderator.

    `read_as` marks an action that only the role permits. Raises UnknownAction.
    """
    found = _find(request, action_id, caller)
    answer = _read(request.runtime, found, caller)
    if "read_as" in request.details:
        answer["read_as"] = "moderator"
    return answer


def list_comments(
    request: Request, action_id: str, caller: Principal, query: ActionCommentsQuery
) -> ActionCommentsAnswer:
    """Return a page of the comments on an action that the caller may see.

    Moderators read the comments on any action. Raises UnknownAction, and Forbidden if a reader
    other than the actor asks for comments that blocks hide.
    """
    found = _find(request, action_id, caller)
    if query.blocked and found["actor"]["id"] != caller.id:
        raise Forbidden("Only its actor can read what blocks hide under an action")
    hides_blocked = not (query.blocked or "read_as" in request.details)
    answer = events.page(request.runtime, action_id, caller.id, query, hides_blocked=hides_blocked)
    if "read_as" in request.details:
        answer["read_as"] = "moderator"
    return answer


def _find(request: Request, action_id: str, caller: Principal) -> ShownAction:
    """Return an action; mark a read by the role alone for the audit. Raises UnknownAction."""
    database = request.runtime.database
    try:
        return actions.find_visible(database, action_id, caller)
    except UnknownAction:
        if not caller.has("social_moderator"):
            raise
    found = actions.find(database, action_id)
    request.is_audited = True
    request.details["read_as"] = "moderator"
    return found


def _read(runtime: Runtime, action: ShownAction, caller: Principal) -> ReadActionAnswer:
    own = reactions.of_reader(runtime.database, action["_id"], caller.id)
    return cast("ReadActionAnswer", {**action_answer(action), "own_reaction": own})

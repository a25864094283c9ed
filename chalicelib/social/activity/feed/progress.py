"""The progress of an action's fan-out, and the actions with a failed fan-out."""

from chalicelib.errors import Forbidden
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.shapes import StoredAction
from chalicelib.social.activity.feed.action_fan_out import OF_ACTIONS, count_readers
from chalicelib.social.activity.feed.answers import FailedActionsAnswer, failed_action_answer
from chalicelib.social.delivery import engine
from chalicelib.social.delivery.progress import FanOutAnswer, failed_page, fan_out_answer
from chalicelib.social.errors import NotFailed


def of(runtime: Runtime, action_id: str, caller: Principal) -> FanOutAnswer:
    """Return the progress of an action's fan-out, for its actor and for staff.

    To the actor, a concealed action looks like any other (docs/decisions/0226). Raises
    UnknownAction, and Forbidden for other readers of the action.
    """
    action = actions.find(runtime.database, action_id)
    is_staff = caller.has("social_moderator")
    if caller.id != action["actor"]["id"] and not is_staff:
        actions.find_visible(runtime.database, action_id, caller)
        raise Forbidden("A fan-out is shown to the action's actor and to moderators")
    answer = fan_out_answer(action["fan_out"], staff=is_staff)
    # One reader: the delivery was to the actor alone. A larger number is from before the
    # concealment, and the actor may know it.
    if not is_staff and "shown_scope" in action and answer["total"] == 1:
        shown: StoredAction = {**action, "scope": action["shown_scope"]}
        answer["delivered"] = answer["total"] = count_readers(runtime.database, shown)
    return answer


def list_failures(runtime: Runtime, query: PageQuery) -> FailedActionsAnswer:
    """Return a page of the actions' failed fan-outs."""
    rows, following = failed_page(runtime, actions.ACTIONS, ["actor"], query)
    return {"fan_outs": [failed_action_answer(row) for row in rows], "next": following}


def retry(runtime: Runtime, action_id: str) -> None:
    """Continue an action's failed fan-out where it stopped.

    Raises UnknownAction, and NotFailed if the fan-out has not failed.
    """
    if not engine.retry(runtime, OF_ACTIONS, action_id):
        actions.find(runtime.database, action_id)
        raise NotFailed

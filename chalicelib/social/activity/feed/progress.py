"""The progress of an action's fan-out, and the actions with a failed fan-out."""

from chalicelib.errors import Forbidden
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.feed.action_fan_out import OF_ACTIONS
from chalicelib.social.activity.feed.answers import FailedActionsAnswer, failed_action_answer
from chalicelib.social.delivery import engine
from chalicelib.social.delivery.progress import FanOutAnswer, failed_page, fan_out_answer
from chalicelib.social.errors import NotFailed


def of(runtime: Runtime, action_id: str, caller: Principal) -> FanOutAnswer:
    """Return the progress of an action's fan-out, for its actor and for staff.

    Raises UnknownAction, and Forbidden for other readers of the action.
    """
    action = actions.find(runtime.database, action_id)
    is_staff = caller.has("social_moderator")
    if caller.id != action["actor"]["id"] and not is_staff:
        actions.find_visible(runtime.database, action_id, caller)
        raise Forbidden("A fan-out is shown to the action's actor and to moderators")
    return fan_out_answer(action["fan_out"], staff=is_staff)


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

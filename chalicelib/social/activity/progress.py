"""How far the fan-outs of actions have come, and those that failed, for actors and staff."""

from typing import Any

from chalicelib.errors import Forbidden, NotFailed
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social import delivery
from chalicelib.social.activity import actions
from chalicelib.social.activity.fan_out import OF_ACTIONS
from chalicelib.social.progress import answer_of, failed_of


def of(runtime: Runtime, action_id: str, caller: Principal) -> dict[str, Any]:
    """Return how far an action's fan-out has come, for its actor and for staff.

    Raises UnknownAction, and Forbidden for those who may see the action but not this.
    """
    action = actions.find(runtime.database, action_id)
    fan_out, is_staff = action["fan_out"], caller.has("moderator")
    if caller.id != action["actor"]["id"] and not is_staff:
        actions.find_visible(runtime.database, action_id, caller)
        raise Forbidden("A fan-out is shown to the action's actor and to moderators")
    return {**answer_of(fan_out), **({"reason": fan_out["reason"]} if is_staff else {})}


def failed(runtime: Runtime, query: PageQuery) -> dict[str, Any]:
    """Return a page of the actions' fan-outs that were given up: `{fan_outs, next}`."""
    found, following = failed_of(runtime, actions.ACTIONS.name, {"actor": 1, "fan_out": 1}, query)
    answers = [
        {
            "action": action["_id"],
            "actor": action["actor"],
            **answer_of(action["fan_out"]),
            "reason": action["fan_out"]["reason"],
        }
        for action in found
    ]
    return {"fan_outs": answers, "next": following}


def retry(runtime: Runtime, action_id: str) -> None:
    """Have an action's fan-out that was given up go on from where it stood.

    Raises UnknownAction, and NotFailed for one that was not given up.
    """
    if not delivery.retry(runtime, OF_ACTIONS, action_id):
        actions.find(runtime.database, action_id)
        raise NotFailed

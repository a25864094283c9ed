"""The API of actions: telling what happened, what others say to it, hiding and deleting it."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.http import PageQuery, Request, no_content, reply, router
from chalicelib.runtime import Runtime
from chalicelib.social.activity import actions, events, progress
from chalicelib.social.activity.models import (
    ActionId,
    Hiding,
    NewReaction,
    action_answer,
    new_action_model,
)
from chalicelib.social.models import NewComment, comment_answer


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of actions."""
    blueprint = Blueprint(__name__)
    _add_actions(blueprint, runtime)
    _add_events(blueprint, runtime)
    _add_fan_outs(blueprint, runtime)
    return blueprint


def _add_actions(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("POST", "/actions")
    def conduct(request: Request) -> Response:
        caller = request.principal()
        new = request.body(new_action_model())
        action = actions.conduct(request.runtime, caller, new)
        return reply(action_answer(action), HTTPStatus.CREATED)

    @route("GET", "/actions/{action}")
    def get_action(request: Request, action: ActionId) -> Response:
        caller = request.principal()
        return reply(action_answer(actions.find_visible(request.runtime.database, action, caller)))

    @route("PUT", "/actions/{action}/hidden")
    def hide(request: Request, action: ActionId) -> Response:
        caller = request.principal()
        hidden = request.body(Hiding).hidden
        actions.hide(request.runtime, action, caller, hidden=hidden)
        return no_content()

    @route("DELETE", "/actions/{action}")
    def delete_action(request: Request, action: ActionId) -> Response:
        actions.delete(request.runtime, action, request.principal())
        return no_content()


def _add_events(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("POST", "/actions/{action}/comments")
    def comment_action(request: Request, action: ActionId) -> Response:
        caller = request.principal()
        added = events.comment(request.runtime, action, caller, request.body(NewComment).text)
        return reply(comment_answer(added), HTTPStatus.CREATED)

    @route("GET", "/actions/{action}/comments")
    def list_action_comments(request: Request, action: ActionId) -> Response:
        query = request.query(PageQuery)
        return reply(events.list_comments(request.runtime, action, request.principal(), query))

    @route("PUT", "/actions/{action}/reaction")
    def react(request: Request, action: ActionId) -> Response:
        caller = request.principal()
        kind = request.body(NewReaction).kind
        events.react(request.runtime, action, caller, kind)
        return no_content()


def _add_fan_outs(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("GET", "/actions/{action}/fan-out")
    def get_action_fan_out(request: Request, action: ActionId) -> Response:
        return reply(progress.of(request.runtime, action, request.principal()))

    @route("POST", "/actions/{action}/fan-out")
    def retry_action_fan_out(request: Request, action: ActionId) -> Response:
        request.principal("moderator")
        progress.retry(request.runtime, action)
        return no_content()

    @route("GET", "/fan-outs/failed-actions")
    def list_failed_actions(request: Request) -> Response:
        request.principal("moderator")
        return reply(progress.failed(request.runtime, request.query(PageQuery)))

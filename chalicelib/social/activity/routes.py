"""The API of actions: telling what happened, what others say to it, hiding and deleting it."""

from http import HTTPStatus

from chalice.app import Response

from chalicelib.http import PageQuery, Request, Route, no_content, reply
from chalicelib.http.idempotency import once
from chalicelib.limits import ACTIONS, COMMENTS, EDITS
from chalicelib.social.activity import renaming
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.actions import moderation as actions_moderation
from chalicelib.social.activity.actions.models import (
    ActionId,
    Hiding,
    NewReaction,
    new_action_answer,
    new_action_model,
)
from chalicelib.social.activity.feed import progress
from chalicelib.social.activity.feed import routes as feed
from chalicelib.social.activity.org import routes as org
from chalicelib.social.activity.refs import RefId, RefSettings
from chalicelib.social.posts import moderation
from chalicelib.social.posts.models import NewPostComment, comment_answer

# An audience of 1,000 ids takes half of it.
ACTION_BYTES = 131_072


def declare(route: Route) -> None:
    """Declare the routes of actions, and of the names of what they are about."""
    _add_actions(route)
    _add_events(route)
    _add_fan_outs(route)
    _add_refs(route)
    feed.declare(route)
    org.declare(route)


def _add_actions(route: Route) -> None:
    @route("POST", "/actions", limit=ACTIONS, body_limit_bytes=ACTION_BYTES)
    def conduct(request: Request) -> Response:
        caller = request.principal()
        new = request.body(new_action_model())
        database = request.runtime.database
        action = once(
            request,
            lambda runtime: actions.conduct(runtime, caller, new),
            lambda made, _at: actions.find(database, made),
        )
        request.details["made"] = action["_id"]
        return reply(new_action_answer(action), HTTPStatus.CREATED)

    @route("GET", "/actions/{action}")
    def get_action(request: Request, action: ActionId) -> Response:
        caller = request.principal()
        found = actions_moderation.read_action(request.runtime, action, caller)
        return moderation.reply_audited(request, found)

    @route("PUT", "/actions/{action}/hidden")
    def hide(request: Request, action: ActionId) -> Response:
        caller = request.principal()
        hidden = request.body(Hiding).hidden
        actions.hide(request.runtime, action, caller, hidden=hidden)
        return no_content()

    @route("DELETE", "/actions/{action}", limit=EDITS)
    def delete_action(request: Request, action: ActionId) -> Response:
        actions.delete(request.runtime, action, request.principal())
        return no_content()


def _add_events(route: Route) -> None:
    @route("POST", "/actions/{action}/comments", limit=COMMENTS)
    def comment_action(request: Request, action: ActionId) -> Response:
        caller = request.principal()
        text = request.body(NewPostComment).text
        added = once(
            request,
            lambda runtime: events.comment(runtime, action, caller, text),
            lambda made, _at: events.find_comment(request.runtime.database, action, made),
        )
        request.details["made"] = added["id"]
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


def _add_fan_outs(route: Route) -> None:
    @route("GET", "/actions/{action}/fan-out")
    def get_action_fan_out(request: Request, action: ActionId) -> Response:
        return reply(progress.of(request.runtime, action, request.principal()))

    @route("POST", "/actions/{action}/fan-out")
    def retry_action_fan_out(request: Request, action: ActionId) -> Response:
        request.principal("social_moderator")
        progress.retry(request.runtime, action)
        return no_content()

    @route("GET", "/fan-outs/failed-actions")
    def list_failed_actions(request: Request) -> Response:
        request.principal("social_moderator")
        return reply(progress.failed(request.runtime, request.query(PageQuery)))


def _add_refs(route: Route) -> None:
    @route("PUT", "/refs/{ref}")
    def rename_ref(request: Request, ref: RefId) -> Response:
        request.principal("admin")
        renaming.put_ref(request.runtime, ref, request.body(RefSettings).name)
        return no_content()

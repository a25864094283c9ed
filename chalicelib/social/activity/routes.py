"""The API of actions: reports, comments, reactions, hiding and deletion."""

from chalicelib.errors import Forbidden, UnknownComment
from chalicelib.http import Created, NoContent, Ok, PageQuery, Request, Route
from chalicelib.http.callers import Admin, SocialModerator
from chalicelib.http.idempotency import once
from chalicelib.identity import Principal
from chalicelib.limits import ACTIONS, COMMENTS, EDITS
from chalicelib.social.activity import renaming
from chalicelib.social.activity.actions import (
    actions,
    comment_removal,
    events,
    moderation,
    reactions,
)
from chalicelib.social.activity.actions.answers import (
    ActionCommentAnswer,
    ActionCommentsAnswer,
    ActionReactionsAnswer,
    NewActionAnswer,
    ReadActionAnswer,
    comment_answer,
    new_action_answer,
)
from chalicelib.social.activity.actions.forms import (
    ActionCommentsQuery,
    ActionId,
    Hiding,
    NewAction,
    NewActionComment,
    NewReaction,
    ReactionsQuery,
)
from chalicelib.social.activity.feed import progress
from chalicelib.social.activity.feed import routes as feed
from chalicelib.social.activity.feed.answers import FailedActionsAnswer
from chalicelib.social.activity.org import routes as org
from chalicelib.social.activity.refs import RefId, RefSettings
from chalicelib.social.delivery.progress import FanOutAnswer
from chalicelib.social.errors import (
    NobodyToTell,
    NoOrgUnit,
    NotFailed,
    SpeaksForOthers,
    UnknownAction,
    UnknownPerson,
)
from chalicelib.social.posts.forms import PostCommentId

# An audience of 1,000 ids needs half of it.
ACTION_BYTES = 131_072


def declare(route: Route) -> None:
    """Declare the routes of actions, and of the names of refs."""
    _add_new_actions(route)
    _add_actions(route)
    _add_comments(route)
    _add_comment_removal(route)
    _add_reactions(route)
    _add_fan_outs(route)
    _add_refs(route)
    feed.declare(route)
    org.declare(route)


def _add_new_actions(route: Route) -> None:
    @route(
        "POST",
        "/actions",
        limit=ACTIONS,
        body_limit_bytes=ACTION_BYTES,
        takes_idempotency_key=True,
        # UnknownAction: a repeated call after the action's deletion.
        raises=(NoOrgUnit, SpeaksForOthers, UnknownPerson, NobodyToTell, UnknownAction),
    )
    def conduct_action(
        request: Request, caller: Principal, body: NewAction
    ) -> Created[NewActionAnswer]:
        """Report an action of yours, for the feeds of others.

        Workers deliver the action to everyone in its scope; `GET /actions/{action}/fan-out` shows
        their progress. Only a caller with the role `application` may name others in a descriptor.
        """
        database = request.runtime.database
        action = once(
            request,
            lambda runtime: actions.conduct(runtime, caller, body),
            lambda action_id, _at: actions.find(database, action_id),
        )
        request.details["made"] = action["_id"]
        return Created(new_action_answer(action), request.location(f"/actions/{action['_id']}"))


def _add_actions(route: Route) -> None:
    @route("GET", "/actions/{action}", raises=(UnknownAction,))
    def get_action(request: Request, action: ActionId, caller: Principal) -> Ok[ReadActionAnswer]:
        """Read an action that is for you, or any as a social moderator."""
        return Ok(moderation.read_action(request, action, caller))

    @route("PUT", "/actions/{action}/hidden", raises=(UnknownAction, Forbidden))
    def set_action_hidden(
        request: Request, action: ActionId, caller: Principal, body: Hiding
    ) -> NoContent:
        """Hide an action of yours from every feed, or show it again.

        A social moderator may hide or show any action; only a social moderator shows an action that
        a moderator hid. The action's place in the feeds stays.
        """
        actions.hide(request.runtime, action, caller, hidden=body.is_hidden)
        return NoContent()

    @route("DELETE", "/actions/{action}", limit=EDITS, raises=(UnknownAction, Forbidden))
    def delete_action(request: Request, action: ActionId, caller: Principal) -> NoContent:
        """Delete an action of yours, or any as a social moderator.

        A worker removes it from every feed, with its comments and reactions.
        """
        actions.delete(request.runtime, action, caller)
        return NoContent()


def _add_comments(route: Route) -> None:
    @route(
        "POST",
        "/actions/{action}/comments",
        limit=COMMENTS,
        takes_idempotency_key=True,
        # UnknownComment: a repeated call after the comment's deletion.
        raises=(UnknownAction, UnknownComment),
    )
    def comment_on_action(
        request: Request, action: ActionId, caller: Principal, body: NewActionComment
    ) -> Created[ActionCommentAnswer]:
        """Comment on an action; it rises in the feeds of people close to you."""
        added = once(
            request,
            lambda runtime: events.comment(runtime, action, caller, body.text),
            lambda comment_id, _at: events.find_comment(
                request.runtime.database, action, comment_id
            ),
        )
        request.details["made"] = added["id"]
        return Created(comment_answer(added))

    @route("GET", "/actions/{action}/comments", raises=(UnknownAction, Forbidden))
    def list_action_comments(
        request: Request, action: ActionId, caller: Principal, query: ActionCommentsQuery
    ) -> Ok[ActionCommentsAnswer]:
        """List the comments on an action that is for you, or on any as a social moderator.

        Oldest first. A page may be short before the end; `next` is null at the end.
        """
        return Ok(moderation.list_comments(request, action, caller, query))


def _add_comment_removal(route: Route) -> None:
    @route(
        "DELETE",
        "/actions/{action}/comments/{comment}",
        limit=EDITS,
        raises=(UnknownAction, UnknownComment, Forbidden),
    )
    def delete_action_comment(
        request: Request, action: ActionId, comment: PostCommentId, caller: Principal
    ) -> NoContent:
        """Delete a comment of yours, any on an action of yours, or any as a social moderator.

        The action keeps the place in feeds that the comment gave it.
        """
        remover = comment_removal.remove(request.runtime, action, comment, caller)
        request.details["removed_as"] = remover
        return NoContent()


def _add_reactions(route: Route) -> None:
    @route("PUT", "/actions/{action}/reaction", raises=(UnknownAction,))
    def react_to_action(
        request: Request, action: ActionId, caller: Principal, body: NewReaction
    ) -> NoContent:
        """React to an action; a second reaction replaces your first.

        With the first, the action rises in the feeds of people close to you.
        """
        reactions.react(request.runtime, action, caller, body.kind)
        return NoContent()

    @route("DELETE", "/actions/{action}/reaction", raises=(UnknownAction,))
    def withdraw_reaction(request: Request, action: ActionId, caller: Principal) -> NoContent:
        """Withdraw your reaction to an action; without one, nothing changes.

        The action's place in the feeds stays, and a later reaction does not raise the action.
        """
        reactions.withdraw(request.runtime, action, caller)
        return NoContent()

    @route("GET", "/actions/{action}/reactions", raises=(UnknownAction,))
    def list_action_reactions(
        request: Request, action: ActionId, caller: Principal, query: ReactionsQuery
    ) -> Ok[ActionReactionsAnswer]:
        """List the reactions to an action with their users, oldest first.

        A page may be short before the end; `next` is null at the end.
        """
        return Ok(reactions.list_all(request.runtime, action, caller, query))


def _add_fan_outs(route: Route) -> None:
    @route("GET", "/actions/{action}/fan-out", raises=(UnknownAction, Forbidden))
    def get_action_fan_out(
        request: Request, action: ActionId, caller: Principal
    ) -> Ok[FanOutAnswer]:
        """Read the progress of your action's fan-out, or of any fan-out as a social moderator."""
        return Ok(progress.of(request.runtime, action, caller))

    @route("POST", "/actions/{action}/fan-out", raises=(UnknownAction, NotFailed))
    def retry_action_fan_out(
        request: Request, action: ActionId, moderator: SocialModerator
    ) -> NoContent:
        """Retry a failed fan-out of an action from where it stopped."""
        del moderator
        progress.retry(request.runtime, action)
        return NoContent()

    @route("GET", "/fan-outs/failed-actions")
    def list_failed_action_fan_outs(
        request: Request, moderator: SocialModerator, query: PageQuery
    ) -> Ok[FailedActionsAnswer]:
        """List the actions with a failed fan-out, oldest first."""
        del moderator
        return Ok(progress.list_failures(request.runtime, query))


def _add_refs(route: Route) -> None:
    @route("PUT", "/refs/{ref}")
    def rename_ref(request: Request, ref: RefId, admin: Admin, body: RefSettings) -> NoContent:
        """Rename a ref in every action about it.

        Workers change the actions in the background. A user's name is the user's own, and stays.
        """
        del admin
        renaming.put_ref(request.runtime, ref, body.name)
        return NoContent()

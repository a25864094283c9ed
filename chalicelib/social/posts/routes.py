"""The API of posts, of votes and reactions, and of comments on posts."""

from chalicelib.assets.errors import UnknownAsset
from chalicelib.errors import EditWindowOver, Forbidden, UnknownComment
from chalicelib.http import Created, NoContent, Ok, Request, Route
from chalicelib.http.idempotency import once
from chalicelib.identity import Principal
from chalicelib.limits import COMMENTS, EDITS, POSTS
from chalicelib.social.errors import (
    NotAPoll,
    PollHasVotes,
    PostTypeNotAllowed,
    UnknownCircle,
    UnknownOption,
    UnknownPost,
    UnknownUser,
)
from chalicelib.social.paging import ListPosition
from chalicelib.social.posts import comment_changes, comments, moderation, posts, reactions, votes
from chalicelib.social.posts.answers import (
    PostAnswer,
    PostCommentAnswer,
    PostCommentsAnswer,
    PostReactionsAnswer,
    comment_answer,
    reactions_answer,
)
from chalicelib.social.posts.forms import (
    NewPost,
    NewPostComment,
    NewVote,
    PostCommentEdit,
    PostCommentId,
    PostCommentsQuery,
    PostEdit,
    PostId,
    edit_model,
)
from chalicelib.social.posts.types import POST_TYPES
from chalicelib.social.reactions import ReactionKind


def declare(route: Route) -> None:
    """Declare the routes of posts, of votes in polls, of reactions and of comments."""
    _declare_publishing(route)
    _declare_posts(route)
    _declare_votes(route)
    _declare_reactions(route)
    _declare_comments(route)
    _declare_comment_changes(route)


def _declare_publishing(route: Route) -> None:
    @route(
        "POST",
        "/posts",
        limit=POSTS,
        takes_idempotency_key=True,
        raises=(PostTypeNotAllowed, UnknownCircle, UnknownUser, UnknownPost, UnknownAsset),
    )
    def publish_post(request: Request, caller: Principal, body: NewPost) -> Created[PostAnswer]:
        """Publish a post to all, to your circles, or to some of your circles.

        Workers deliver it to the news of its readers; `GET /posts/{post}/fan-out` shows their
        progress. If the wall's owner blocks you, the post goes to your own wall. A repeated call
        after the post's deletion returns 404 `unknown_post`. A deployment may accept posts of some
        types alone.
        """
        post = once(
            request,
            lambda runtime: posts.publish(runtime, caller, body),
            lambda post_id, _at: posts.find_visible(request.runtime.database, post_id, caller.id),
        )
        request.details["made"] = post["id"]
        address = request.location(f"/posts/{post['id']}")
        return Created(votes.poll_answer(request.runtime, post, caller.id), address)


def _declare_posts(route: Route) -> None:
    @route("GET", "/posts/{post}", raises=(UnknownPost,))
    def get_post(request: Request, post: PostId, caller: Principal | None) -> Ok[PostAnswer]:
        """Read a post.

        Social moderators can read every post; `read_as` marks a post that they may not see as
        readers.
        """
        return Ok(moderation.read_post(request, post, caller))

    @route(
        "PATCH",
        "/posts/{post}",
        limit=EDITS,
        raises=(UnknownPost, Forbidden, PollHasVotes, PostTypeNotAllowed, UnknownAsset),
    )
    def edit_post(
        request: Request, post: PostId, caller: Principal, body: PostEdit
    ) -> Ok[PostAnswer]:
        """Change the detail of a post of yours.

        Its type, its audience and its wall stay. A poll with votes cannot change. Workers change
        the copies in walls and news.
        """
        del body
        own = posts.find_own(request.runtime.database, post, caller)
        if own["type"] not in POST_TYPES:
            raise PostTypeNotAllowed
        edit = request.body(edit_model(own["type"]))
        edited = posts.edit(request.runtime, post, caller, edit)
        return Ok(votes.poll_answer(request.runtime, edited, caller.id))

    @route("DELETE", "/posts/{post}", limit=EDITS, raises=(UnknownPost, Forbidden))
    def delete_post(request: Request, post: PostId, caller: Principal) -> NoContent:
        """Delete a post of yours, or any as a social moderator.

        Workers delete the copies in walls and news.
        """
        posts.delete(request.runtime, post, caller)
        return NoContent()


def _declare_votes(route: Route) -> None:
    @route("PUT", "/posts/{post}/vote", raises=(UnknownPost, NotAPoll, UnknownOption))
    def vote_in_poll(
        request: Request, post: PostId, caller: Principal, body: NewVote
    ) -> Ok[PostAnswer]:
        """Vote in a poll that you may see; another vote replaces your first.

        The answer is the post with its results. Votes are secret.
        """
        voted = votes.cast(request.runtime, post, caller, body.option)
        return Ok(moderation.answer_for(request.runtime, *voted))

    @route("DELETE", "/posts/{post}/vote", raises=(UnknownPost, NotAPoll))
    def withdraw_vote(request: Request, post: PostId, caller: Principal) -> NoContent:
        """Withdraw your vote in a poll; without one, nothing changes."""
        votes.withdraw(request.runtime, post, caller)
        return NoContent()


def _declare_reactions(route: Route) -> None:
    @route("PUT", "/posts/{post}/reactions/{kind}", raises=(UnknownPost,))
    def react_to_post(
        request: Request, post: PostId, kind: ReactionKind, caller: Principal
    ) -> Ok[PostReactionsAnswer]:
        """React to a post that you may see, beside your reactions of other kinds.

        A repeated call changes nothing. Where many react at once, counts follow within seconds.
        """
        return Ok(reactions_answer(reactions.react(request.runtime, post, caller, kind)))

    @route("DELETE", "/posts/{post}/reactions/{kind}", raises=(UnknownPost,))
    def withdraw_post_reaction(
        request: Request, post: PostId, kind: ReactionKind, caller: Principal
    ) -> NoContent:
        """Withdraw a reaction of yours to a post; without one, nothing changes."""
        reactions.withdraw(request.runtime, post, caller, kind)
        return NoContent()


def _declare_comments(route: Route) -> None:
    @route(
        "POST",
        "/posts/{post}/comments",
        limit=COMMENTS,
        takes_idempotency_key=True,
        raises=(UnknownPost, UnknownComment),
    )
    def comment_on_post(
        request: Request, post: PostId, caller: Principal, body: NewPostComment
    ) -> Created[PostCommentAnswer]:
        """Comment on a post that you may see.

        A repeated call after the comment's deletion returns 404 `unknown_comment`.
        """
        added = once(
            request,
            lambda runtime: comments.add(runtime, post, caller, body.text),
            lambda comment_id, at: comments.find(
                request.runtime.database, post, caller.id, ListPosition(at, comment_id)
            ),
        )
        request.details["made"] = added["id"]
        return Created(comment_answer(added))

    @route("GET", "/posts/{post}/comments", raises=(UnknownPost, Forbidden))
    def list_post_comments(
        request: Request, post: PostId, caller: Principal | None, query: PostCommentsQuery
    ) -> Ok[PostCommentsAnswer]:
        """List the comments on a post, oldest first.

        Social moderators can list the comments on every post; `read_as` marks a post that they may
        not see as readers.
        """
        return Ok(moderation.list_comments(request, post, caller, query))


def _declare_comment_changes(route: Route) -> None:
    @route(
        "PATCH",
        "/posts/{post}/comments/{comment}",
        limit=EDITS,
        raises=(UnknownPost, UnknownComment, Forbidden, EditWindowOver),
    )
    def edit_post_comment(
        request: Request,
        post: PostId,
        comment: PostCommentId,
        caller: Principal,
        body: PostCommentEdit,
    ) -> Ok[PostCommentAnswer]:
        """Change the text of a comment of yours, within 15 minutes.

        Social moderators can edit their own comments at any time. Workers change the copies of the
        post in walls and news.
        """
        edited = comment_changes.edit(request.runtime, post, comment, caller, body.text)
        return Ok(comment_answer(edited))

    @route(
        "DELETE",
        "/posts/{post}/comments/{comment}",
        limit=EDITS,
        raises=(UnknownPost, UnknownComment, Forbidden),
    )
    def delete_post_comment(
        request: Request, post: PostId, comment: PostCommentId, caller: Principal
    ) -> NoContent:
        """Delete a comment of yours, any on a post of yours, or any as a social moderator.

        You can delete a comment of yours even if you may no longer see the post, and a comment on
        your post even if a block hides the comment from you. Workers change the copies of the post
        in walls and news.
        """
        remover = comment_changes.remove(request.runtime, post, comment, caller)
        request.details["removed_as"] = remover
        return NoContent()

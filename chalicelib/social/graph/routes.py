"""The API of users: their profiles, circles, followers and blocks."""

from collections.abc import Callable

from chalicelib.assets.errors import UnknownAsset
from chalicelib.errors import TooManyBlocked
from chalicelib.http import Created, NoContent, Ok, PageQuery, Request, Route
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.social.errors import (
    CannotBlockSelf,
    CannotCircle,
    CannotCircleSelf,
    ReservedName,
    TooManyCircles,
    UnknownCircle,
    UnknownUser,
)
from chalicelib.social.graph import (
    blocks,
    circles,
    following,
    memberships,
    users,
    watch_routes,
)
from chalicelib.social.graph.audience import Reader
from chalicelib.social.graph.forms import (
    MEMBERS_LISTED,
    CircleAnswer,
    CircleId,
    CirclesAnswer,
    CircleSettings,
    FollowersAnswer,
    MembersAnswer,
    PersonAnswer,
    UserAnswer,
    person_answer,
    user_answer,
)
from chalicelib.social.graph.profiles import select_restricted
from chalicelib.social.graph.store import GraphPerson
from chalicelib.social.graph.user_settings import UserSettings
from chalicelib.social.graph.users import PublicUser
from chalicelib.social.paging import IdRange


def declare(route: Route) -> None:
    """Declare the routes of users and of their graph.

    API Gateway prefers `/users/me` to `/users/{user}` whatever the method. Each route of
    `/users/{user}` that callers need for themselves therefore has a twin for `/users/me`.
    """
    _declare_users(route)
    _declare_followers(route)
    _declare_circles(route)
    _declare_members(route)
    _declare_blocks(route)
    watch_routes.declare(route)


def _declare_users(route: Route) -> None:
    @route("PUT", "/users/me", raises=(ReservedName, UnknownUser, UnknownCircle, UnknownAsset))
    def put_me(request: Request, caller: Principal, body: UserSettings) -> Ok[UserAnswer]:
        """Give yourself a name and a profile, and choose the readers of each field.

        The first write of any kind makes the user, with the name of the token. In the background,
        a new name replaces the old name everywhere.
        """
        audiences = _audiences(request, caller, body)
        stored = users.put(request.runtime, caller, body, audiences)
        return Ok(_to_answer(request, stored, Reader(caller.id)))

    @route("GET", "/users/me", raises=(UnknownUser,))
    def get_me(request: Request, caller: Principal) -> Ok[UserAnswer]:
        """Read your own user, with your whole profile.

        Until your first write there is none (404).
        """
        found = users.find(request.runtime.database, caller.id)
        return Ok(_to_answer(request, found, Reader(caller.id)))

    @route("GET", "/users/{user}", raises=(UnknownUser,))
    def get_user(request: Request, user: UserId, caller: Principal | None) -> Ok[UserAnswer]:
        """Read a user, with the fields of the profile that you may read."""
        database, reader = request.runtime.database, Reader(caller.id if caller else None)
        found = users.find(database, user)
        if found.get("profile_circles") and reader.id not in (None, user):
            reader = following.reader(database, reader.id, [user])
        return Ok(_to_answer(request, found, reader))


def _audiences(
    request: Request, caller: Principal, body: UserSettings
) -> dict[str, list[str]] | None:
    """Return the readers of each restricted field as keys of circles; raises UnknownCircle.

    None: the body does not change the readers.
    """
    if body.profile_circles is None:
        return None
    given = select_restricted(body.profile_circles)
    keys = circles.keys(request.runtime.database, caller.id, given.values())
    return {name: [keys[each] for each in audience] for name, audience in given.items()}


def _to_answer(request: Request, user: PublicUser, reader: Reader) -> UserAnswer:
    return user_answer(user, reader, request.runtime.settings.public_url)


def _declare_followers(route: Route) -> None:
    @route("GET", "/users/me/followers", raises=(UnknownUser,))
    def list_my_followers(
        request: Request, caller: Principal, query: PageQuery
    ) -> Ok[FollowersAnswer]:
        """List your followers: users who have you in a circle of theirs."""
        return Ok(_followers(request, caller.id, query))

    @route("GET", "/users/{user}/followers", raises=(UnknownUser,))
    def list_followers(
        request: Request, user: UserId, caller: Principal, query: PageQuery
    ) -> Ok[FollowersAnswer]:
        """List the followers of a user: users who have the user in a circle of theirs.

        The answer does not name their circles.
        """
        del caller
        return Ok(_followers(request, user, query))


def _followers(request: Request, user_id: str, query: PageQuery) -> FollowersAnswer:
    def fetch(ids: IdRange) -> list[GraphPerson]:
        return following.followers(request.runtime.database, user_id, ids)

    people, further = _page(request, query, f"followers:{user_id}", fetch)
    return {"followers": people, "next": further}


def _page(
    request: Request, query: PageQuery, scope: str, fetch: Callable[[IdRange], list[GraphPerson]]
) -> tuple[list[PersonAnswer], str | None]:
    """Return a page of people by id, and the cursor of the next page. None: no next page."""
    cursors = Cursors(scope, request.runtime.settings.signing_keys)
    (after,) = cursors.position(query) or ("",)
    shown, last = page_of(fetch(IdRange(after, limit=query.limit + 1)), query.limit)
    return [person_answer(each) for each in shown], cursors.following([last.id] if last else None)


def _declare_circles(route: Route) -> None:
    @route("PUT", "/users/me/circles/{circle}", raises=(TooManyCircles,))
    def put_circle(
        request: Request, circle: CircleId, caller: Principal, body: CircleSettings
    ) -> Ok[CircleAnswer] | Created[CircleAnswer]:
        """Make or rename a circle of yours.

        You follow everyone in your circles, and post to some circles or to all. Only you see your
        circles.
        """
        users.ensure(request.runtime, caller)
        stored, is_new = circles.put(request.runtime, caller.id, circle, body.name)
        return Created(stored) if is_new else Ok(stored)

    @route("DELETE", "/users/me/circles/{circle}")
    def delete_circle(request: Request, circle: CircleId, caller: Principal) -> NoContent:
        """Delete a circle of yours, and stop following members who are in no other circle.

        Its members can no longer read your posts and fields of your profile for this circle alone,
        except posts `at_post`. A later circle of the same id is another circle. Without such a
        circle, nothing changes.
        """
        circles.delete(request.runtime, caller.id, circle)
        return NoContent()

    @route("GET", "/users/me/circles", rows=MEMBERS_LISTED)
    def list_circles(request: Request, caller: Principal) -> Ok[CirclesAnswer]:
        """List your circles, each with its first members: 200, or as many as one answer holds."""
        database = request.runtime.database
        return Ok({"circles": circles.list_all(database, caller.id, request.rows)})


def _declare_members(route: Route) -> None:
    @route("GET", "/users/me/circles/{circle}/members", raises=(UnknownCircle,))
    def list_circle_members(
        request: Request, circle: CircleId, caller: Principal, query: PageQuery
    ) -> Ok[MembersAnswer]:
        """List the members of a circle of yours."""

        def fetch(ids: IdRange) -> list[GraphPerson]:
            return circles.members(request.runtime.database, caller.id, circle, ids)

        people, further = _page(request, query, f"members:{caller.id}:{circle}", fetch)
        return Ok({"members": people, "next": further})

    @route(
        "PUT",
        "/users/me/circles/{circle}/members/{user}",
        raises=(CannotCircleSelf, UnknownUser, UnknownCircle, CannotCircle),
    )
    def add_circle_member(
        request: Request, circle: CircleId, user: UserId, caller: Principal
    ) -> NoContent:
        """Add a user to a circle of yours, and so follow the user.

        Workers then deliver earlier posts too: the user's posts to you, and your posts for this
        circle to the user. A second call changes nothing.
        """
        memberships.add_member(request.runtime, caller.id, circle, user)
        return NoContent()

    @route("DELETE", "/users/me/circles/{circle}/members/{user}")
    def remove_circle_member(
        request: Request, circle: CircleId, user: UserId, caller: Principal
    ) -> NoContent:
        """Remove a member from a circle of yours; if no other has the member, stop following.

        If the circle does not have the member, nothing changes.
        """
        memberships.remove_member(request.runtime, caller.id, circle, user)
        return NoContent()


def _declare_blocks(route: Route) -> None:
    @route(
        "PUT",
        "/users/me/blocked/{user}",
        raises=(CannotBlockSelf, UnknownUser, TooManyBlocked),
    )
    def block_user(request: Request, user: UserId, caller: Principal) -> NoContent:
        """Block a user: neither of you follows or sees the other any more.

        Every site also hides the user's comments from you: you have one list of blocks, of at most
        1,000 people. A second call changes nothing.
        """
        users.ensure(request.runtime, caller)
        blocks.block(request.runtime, caller.id, user)
        return NoContent()

    @route("DELETE", "/users/me/blocked/{user}")
    def unblock_user(request: Request, user: UserId, caller: Principal) -> NoContent:
        """End a block, at all sites too; the following does not come back.

        Without a block, nothing changes.
        """
        blocks.let_meet(request.runtime, caller.id, user)
        return NoContent()

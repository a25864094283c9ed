"""Routes of watches: each new post of an author notifies the followers who watch the author."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.http import MAX_PAGE, Input, NoContent, Ok, PageQuery, Request, Route
from chalicelib.http.paging import Cursors, Next, page_of, place_of, position_of
from chalicelib.identity import Principal
from chalicelib.instants import Instant
from chalicelib.notifications.errors import TooManyWatches
from chalicelib.people.ids import UserId
from chalicelib.social.errors import NotFollowed
from chalicelib.social.graph import users, watches
from chalicelib.social.graph.forms import PersonAnswer
from chalicelib.social.graph.watches import AuthorWatch
from chalicelib.social.paging import ListPosition

_Level = Literal["watching"]


class AuthorWatchChoice(Input):
    """The level of a watch."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"level": "watching"}]})

    level: _Level = Field(description="Each new post notifies you.")


class AuthorWatchLevelAnswer(TypedDict):
    """The caller's watch of an author; null: new posts do not notify you."""

    level: _Level | None
    since: Instant | None
    available: Annotated[bool, Field(description="Whether the feed has notifications here.")]


class AuthorWatchAnswer(TypedDict):
    """A watch of the caller."""

    author: PersonAnswer
    level: _Level
    since: Instant


class AuthorWatchesAnswer(TypedDict):
    """A page of the authors whom the caller watches, the latest first."""

    watches: Annotated[list[AuthorWatchAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def declare(route: Route) -> None:
    """Declare the routes of the caller's watch of an author, and of all the caller's watches."""

    @route("GET", "/users/{user}/watch")
    def get_author_watch(
        request: Request, user: UserId, caller: Principal
    ) -> Ok[AuthorWatchLevelAnswer]:
        """Read your watch of a user."""
        return Ok(_level(request, watches.find(request.runtime.database, user, caller.id)))

    @route("PUT", "/users/{user}/watch", raises=(NotFollowed, TooManyWatches))
    def put_author_watch(
        request: Request, user: UserId, caller: Principal, body: AuthorWatchChoice
    ) -> Ok[AuthorWatchLevelAnswer]:
        """Have each new post of a user whom you follow notify you.

        The watch ends when you stop following. A second call changes nothing.
        """
        del body
        return Ok(_level(request, watches.begin(request.runtime, user, caller.id)))

    @route("DELETE", "/users/{user}/watch")
    def delete_author_watch(request: Request, user: UserId, caller: Principal) -> NoContent:
        """End your watch of a user; you still follow the user. Without a watch, nothing changes."""
        watches.remove(request.runtime.database, user, caller.id)
        return NoContent()

    @route("GET", "/users/me/watches")
    def list_author_watches(
        request: Request, caller: Principal, query: PageQuery
    ) -> Ok[AuthorWatchesAnswer]:
        """List the users whom you watch, the latest first."""
        return Ok(_list(request, caller, query))


def _list(request: Request, caller: Principal, query: PageQuery) -> AuthorWatchesAnswer:
    database = request.runtime.database
    cursors = Cursors(f"author-watches:{caller.id}", request.runtime.settings.signing_keys)
    after = position_of(cursors.position(query))
    place = ListPosition(*after) if after else None
    found = watches.find_own(database, caller.id, query.limit + 1, place)
    shown, last = page_of(found, query.limit)
    authors = {row["author_id"] for row in shown}
    names = users.names_of(database, watches.find_followed(database, caller.id, authors))
    return {
        "watches": [
            {
                "author": {"id": row["author_id"], "name": names[row["author_id"]]},
                "level": "watching",
                "since": row["since"],
            }
            for row in shown
            if row["author_id"] in names
        ],
        "next": cursors.following(place_of((last["since"], last["_id"])) if last else None),
    }


def _level(request: Request, found: AuthorWatch | None) -> AuthorWatchLevelAnswer:
    is_available = request.runtime.settings.social_notifications
    if found is None:
        return {"level": None, "since": None, "available": is_available}
    return {"level": "watching", "since": found["since"], "available": is_available}

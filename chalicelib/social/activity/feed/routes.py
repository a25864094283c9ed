"""The API of feeds, and of the listings by ref, by tag and by person."""

from chalicelib.http import NoContent, Ok, PageQuery, Request, Route
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.social.activity.actions.answers import ActionsAnswer
from chalicelib.social.activity.actions.forms import DoneQuery
from chalicelib.social.activity.feed import listings, reading
from chalicelib.social.activity.feed.answers import FeedAnswer, UnreadAnswer
from chalicelib.social.activity.refs import RefId, Tag


def declare(route: Route) -> None:
    """Declare the routes of feeds, and of the listings by ref, by tag and by person."""
    _add_feed(route)
    _add_slices(route)
    _add_deeds(route)


def _add_feed(route: Route) -> None:
    @route("GET", "/feed")
    def read_feed(request: Request, caller: Principal, query: PageQuery) -> Ok[FeedAnswer]:
        """Read your feed: your own actions, and others' actions for you, the most relevant first.

        An action rises when a person close to you comments on it or reacts to it. Later pages show
        the feed as of its first page. A page may be short before the end; `next` is null at the
        end.
        """
        return Ok(reading.read(request.runtime, caller.id, query))

    @route("GET", "/feed/unread")
    def count_unread_actions(request: Request, caller: Principal) -> Ok[UnreadAnswer]:
        """Count the actions that came or rose in your feed since you marked it as seen.

        Omits an action if your own event raised it last.
        """
        return Ok({"unread": reading.count_unread(request.runtime, caller.id)})

    @route("PUT", "/feed/seen")
    def mark_feed_seen(request: Request, caller: Principal) -> NoContent:
        """Mark your feed as seen now."""
        reading.mark_seen(request.runtime, caller.id)
        return NoContent()


def _add_slices(route: Route) -> None:
    @route("GET", "/refs/{ref}/actions")
    def list_ref_actions(
        request: Request, ref: RefId, caller: Principal, query: PageQuery
    ) -> Ok[ActionsAnswer]:
        """List the actions about a ref that you may see, newest first.

        Actions of muted users are among them. A page may be short before the end; `next` is null
        at the end.
        """
        return Ok(listings.of_ref(request.runtime, caller.id, ref, query))

    @route("GET", "/tags/{tag}/actions")
    def list_tag_actions(
        request: Request, tag: Tag, caller: Principal, query: PageQuery
    ) -> Ok[ActionsAnswer]:
        """List the actions with a tag that you may see, newest first.

        Actions of muted users are among them. A page may be short before the end; `next` is null
        at the end.
        """
        return Ok(listings.of_tag(request.runtime, caller.id, tag, query))


def _add_deeds(route: Route) -> None:
    @route("GET", "/users/{user}/actions")
    def list_user_actions(
        request: Request, user: UserId, caller: Principal, query: DoneQuery
    ) -> Ok[ActionsAnswer]:
        """List a user's actions of a type that you may see: the user's ratings, say.

        The newest come first. If a descriptor names users, the action is theirs, whoever reported
        it; otherwise it is the actor's. A page may be short before the end; `next` is null at the
        end.
        """
        return Ok(listings.of_person(request.runtime, caller.id, user, query))

    @route("GET", "/users/me/actions")
    def list_my_actions(request: Request, caller: Principal, query: DoneQuery) -> Ok[ActionsAnswer]:
        """List your own actions of a type, newest first."""
        return Ok(listings.of_person(request.runtime, caller.id, caller.id, query))

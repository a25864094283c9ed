"""The API of walls, of news, and of the fan-outs that fill them."""

from chalicelib.errors import Forbidden
from chalicelib.http import NoContent, Ok, PageQuery, Request, Route
from chalicelib.http.callers import SocialModerator
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.social.delivery.progress import FanOutAnswer
from chalicelib.social.errors import NotFailed, UnknownPost, UnknownUser
from chalicelib.social.graph import users
from chalicelib.social.posts.answers import PostsAnswer
from chalicelib.social.posts.forms import PostId
from chalicelib.social.timelines import news, progress, walls
from chalicelib.social.timelines.progress import FailedPostsAnswer


def declare(route: Route) -> None:
    """Declare the routes of walls and news, and of the posts' fan-outs."""
    _declare_fan_outs(route)
    _declare_walls(route)
    _declare_news(route)


def _declare_fan_outs(route: Route) -> None:
    @route("GET", "/posts/{post}/fan-out", raises=(UnknownPost, Forbidden))
    def get_post_fan_out(request: Request, post: PostId, caller: Principal) -> Ok[FanOutAnswer]:
        """Read the progress of the fan-out of your post, or of any post as a social moderator."""
        return Ok(progress.of(request.runtime.database, post, caller))

    @route("POST", "/posts/{post}/fan-out", raises=(UnknownPost, NotFailed))
    def retry_post_fan_out(request: Request, post: PostId, moderator: SocialModerator) -> NoContent:
        """Retry a failed fan-out of a post from where it stopped."""
        del moderator
        progress.retry(request.runtime, post)
        return NoContent()

    @route("GET", "/fan-outs/failed-posts")
    def list_failed_post_fan_outs(
        request: Request, moderator: SocialModerator, query: PageQuery
    ) -> Ok[FailedPostsAnswer]:
        """List the posts with a failed fan-out, oldest first."""
        del moderator
        return Ok(progress.list_failures(request.runtime, query))


def _declare_walls(route: Route) -> None:
    @route("GET", "/users/me/wall")
    def read_my_wall(request: Request, caller: Principal, query: PageQuery) -> Ok[PostsAnswer]:
        """Read your wall: the posts by you and to you, newest first."""
        return Ok(walls.read(request.runtime, caller.id, caller.id, query))

    @route("DELETE", "/users/me/wall/{post}", raises=(UnknownPost,))
    def take_off_my_wall(request: Request, post: PostId, caller: Principal) -> NoContent:
        """Take another user's post off your wall; it stays on its author's wall."""
        walls.take_off(request.runtime, post, caller)
        return NoContent()

    @route("GET", "/users/{user}/wall", raises=(UnknownUser,))
    def read_wall(
        request: Request, user: UserId, caller: Principal | None, query: PageQuery
    ) -> Ok[PostsAnswer]:
        """Read a wall: the posts by and to its owner that you may see, newest first.

        If the owner is not the author of a post, the owner and the author see it; all other readers
        see it only if the owner follows the author.
        """
        users.find(request.runtime.database, user)
        reader_id = caller.id if caller else None
        return Ok(walls.read(request.runtime, user, reader_id, query))


def _declare_news(route: Route) -> None:
    @route("GET", "/users/me/news")
    def read_my_news(request: Request, caller: Principal, query: PageQuery) -> Ok[PostsAnswer]:
        """Read your news: the posts by users you follow that you may see, newest first."""
        return Ok(news.read(request.runtime, caller.id, query))

    @route("GET", "/users/me/incoming")
    def read_my_incoming_posts(
        request: Request, caller: Principal, query: PageQuery
    ) -> Ok[PostsAnswer]:
        """Read the posts to your wall, or to circles that you are in, newest first."""
        return Ok(news.read_incoming(request.runtime, caller.id, query))

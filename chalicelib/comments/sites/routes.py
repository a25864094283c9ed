"""Reading and storing a site's settings over HTTP, for its publisher."""

from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import CommentSettings, CommentSettingsAnswer, settings_answer
from chalicelib.http import Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.limits import NODES
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/sites/{site}/comments/settings")
    def get_comment_settings(
        request: Request, site: SiteId, publisher: Publisher
    ) -> Ok[CommentSettingsAnswer]:
        """Read what holds in a site's discussions; the defaults where nothing was set."""
        check_publisher(publisher, site)
        return Ok(settings_answer(settings.of(request.runtime, site)))

    @route("PUT", "/sites/{site}/comments/settings", limit=NODES)
    def put_comment_settings(
        request: Request, site: SiteId, publisher: Publisher, body: CommentSettings
    ) -> Ok[CommentSettingsAnswer]:
        """Decide on votes, reactions, order and moderation in a site's discussions.

        Calls go by them within five seconds. A node may have values of its own.
        """
        check_publisher(publisher, site)
        return Ok(settings_answer(settings.put(request.runtime, site, body)))

"""Reading and storing a site's settings over HTTP, for its publisher and moderators."""

from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import (
    CommentSettings,
    CommentSettingsAnswer,
    CommentSettingsChange,
    settings_answer,
)
from chalicelib.errors import Forbidden
from chalicelib.http import Ok, Request, Route
from chalicelib.http.callers import Publisher, Staff
from chalicelib.identity import Principal
from chalicelib.limits import NODES
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher, moderates, owns


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/sites/{site}/comments/settings")
    def get_comment_settings(
        request: Request, site: SiteId, caller: Staff
    ) -> Ok[CommentSettingsAnswer]:
        """Read the settings of a site's discussions; settings never stored have their defaults."""
        _check_staff(caller, site)
        return Ok(settings_answer(settings.read(request.runtime, site)))

    @route("PUT", "/sites/{site}/comments/settings", limit=NODES)
    def put_comment_settings(
        request: Request, site: SiteId, publisher: Publisher, body: CommentSettings
    ) -> Ok[CommentSettingsAnswer]:
        """Replace the settings of a site's discussions; omitted settings get their defaults.

        They hold within five seconds. A node's own values override them.
        """
        check_publisher(publisher, site)
        return Ok(settings_answer(settings.put(request.runtime, site, body)))

    @route("PATCH", "/sites/{site}/comments/settings", limit=NODES)
    def change_comment_settings(
        request: Request, site: SiteId, caller: Staff, body: CommentSettingsChange
    ) -> Ok[CommentSettingsAnswer]:
        """Change some settings of a site's discussions; all others stay.

        A moderator changes `phrases` and `limits`, a publisher any.
        """
        _check_staff(caller, site)
        if not owns(caller, site) and body.model_fields_set - MODERATED:
            raise Forbidden("A moderator changes phrases and limits; all else is the publisher's")
        return Ok(settings_answer(settings.change(request.runtime, site, body)))


# The settings that moderators change.
MODERATED = frozenset({"phrases", "limits"})


def _check_staff(caller: Principal, site: str) -> None:
    if not moderates(caller, site):
        raise Forbidden(f"You neither own nor moderate the site {site}")

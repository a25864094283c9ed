"""A site's settings of content in the API, for its publisher."""

from chalicelib.content import settings
from chalicelib.content.errors import UnknownContentSite
from chalicelib.content.settings_forms import (
    ContentSettings,
    ContentSettingsAnswer,
    settings_answer,
)
from chalicelib.http import Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/content/{site}/settings", raises=(UnknownContentSite,))
    def get_content_settings(
        request: Request, site: SiteId, publisher: Publisher
    ) -> Ok[ContentSettingsAnswer]:
        """Read the settings of a site."""
        check_publisher(publisher, site)
        return Ok(settings_answer(settings.find(request.runtime.database, site)))

    @route("PUT", "/content/{site}/settings")
    def put_content_settings(
        request: Request, site: SiteId, publisher: Publisher, body: ContentSettings
    ) -> Ok[ContentSettingsAnswer]:
        """Set a site's title, address, language and feeds."""
        check_publisher(publisher, site)
        return Ok(settings_answer(settings.put(request.runtime, site, body)))

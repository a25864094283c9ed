"""One blueprint for the routes of all rooms of content."""

from chalice.app import Blueprint

from chalicelib.content import settings_routes
from chalicelib.content.editing import routes as editing
from chalicelib.content.feeds import routes as feeds
from chalicelib.content.feeds import sitemap
from chalicelib.content.publishing import routes as publishing
from chalicelib.content.publishing.discussions import Discussions
from chalicelib.content.reading import routes as reading
from chalicelib.content.reading.views import Views
from chalicelib.http import router
from chalicelib.runtime import Runtime


def routes(runtime: Runtime, discussions: Discussions, views: Views) -> Blueprint:
    """Return the routes of content, with these ports to discussions and views."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Content")
    settings_routes.declare(route)
    editing.declare(route)
    publishing.declare(route, discussions)
    reading.declare(route, discussions, views)
    feeds.declare(route)
    sitemap.declare(route, discussions)
    return blueprint

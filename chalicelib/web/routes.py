"""One blueprint for all pages and files for browsers."""

from chalice.app import Blueprint

from chalicelib.http import router
from chalicelib.runtime import Runtime
from chalicelib.web import console, docs, embed, welcome


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of pages and files."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Operation")
    welcome.declare(route)
    docs.declare(route, runtime.settings.public_url)
    embed.declare(route)
    console.declare(route)
    return blueprint

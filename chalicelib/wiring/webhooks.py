"""Webhooks of a site, whose comments have to know whether there are any."""

from chalice.app import Blueprint

from chalicelib.comments.sites import settings
from chalicelib.runtime import Runtime
from chalicelib.webhooks import routes as webhook_routes


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of webhooks."""
    return webhook_routes.routes(runtime, settings.note_hooks)

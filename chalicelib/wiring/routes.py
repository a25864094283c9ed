"""The blueprints of the API's features, each with its adapters to other features."""

from collections.abc import Callable

from chalice.app import Blueprint

from chalicelib.ads import routes as ads
from chalicelib.analytics import routes as analytics
from chalicelib.assets import routes as assets
from chalicelib.comments import routes as comments
from chalicelib.comments.discussion import reading
from chalicelib.comments.people import claims
from chalicelib.comments.sites import settings as comment_settings
from chalicelib.content import routes as content
from chalicelib.http import document, health, me
from chalicelib.mail import routes as mail
from chalicelib.notifications import changes
from chalicelib.notifications import routes as notifications
from chalicelib.notifications.changes import Reads
from chalicelib.people import routes as people
from chalicelib.runtime import Runtime
from chalicelib.shop import routes as shop
from chalicelib.sites import routes as sites
from chalicelib.social import routes as social
from chalicelib.social.graph import blocks
from chalicelib.social.timelines import news
from chalicelib.web import routes as web
from chalicelib.webhooks import routes as webhooks
from chalicelib.wiring.hits import PAGES
from chalicelib.wiring.notifications import show
from chalicelib.wiring.pages import DISCUSSIONS, CountedPages
from chalicelib.wiring.people import PEOPLE

ROUTES: tuple[Callable[[Runtime], Blueprint], ...] = (
    health.routes,
    document.routes,
    me.routes,
    web.routes,
    sites.routes,
    assets.routes,
    lambda runtime: comments.routes(runtime, blocks, PEOPLE),
    lambda runtime: content.routes(runtime, DISCUSSIONS, CountedPages()),
    shop.routes,
    ads.routes,
    social.routes,
    lambda runtime: analytics.routes(runtime, PAGES),
    lambda runtime: people.routes(runtime, PEOPLE),
    lambda runtime: notifications.routes(runtime, show, claims.verified_keys, PEOPLE.check_token),
    lambda runtime: changes.routes(runtime, Reads(reading.read_versions, news.newest_id)),
    mail.routes,
    lambda runtime: webhooks.routes(runtime, comment_settings.note_hooks),
)

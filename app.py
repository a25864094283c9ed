"""Plaza's Lambda functions: the HTTP API, the queues' workers and the schedules.

Lambda finds each handler by name in this module. So the features declare queues on the app: Lambda
would look for a blueprint's handlers in the blueprint's module. A feature has its HTTP API in
`routes`, and its queues and schedules in `jobs`.
"""

import os
from typing import Any

from chalice.app import Chalice

from chalicelib.ads import jobs as ad_jobs
from chalicelib.ads import routes as ads
from chalicelib.assets import jobs as asset_jobs
from chalicelib.assets import routes as assets
from chalicelib.comments import jobs as comment_jobs
from chalicelib.database.outages import Outage
from chalicelib.http import document, health, me, middleware
from chalicelib.jobs import commands, schedules
from chalicelib.mail import jobs as mail_jobs
from chalicelib.mail import routes as mail
from chalicelib.observability import invocations, logs
from chalicelib.runtime import Runtime
from chalicelib.shop import jobs as shop_jobs
from chalicelib.shop import routes as shop
from chalicelib.sites import routes as sites
from chalicelib.social import jobs as social_jobs
from chalicelib.social import routes as social
from chalicelib.web import routes as web
from chalicelib.webhooks import jobs as webhook_jobs
from chalicelib.wiring import blocks, hits, marks, pages, people, webhooks
from chalicelib.wiring.commands import COMMANDS
from chalicelib.wiring.schedules import FUNCTIONS

ROUTES = (
    health.routes,
    document.routes,
    me.routes,
    web.routes,
    sites.routes,
    assets.routes,
    blocks.routes,
    pages.routes,
    shop.routes,
    ads.routes,
    social.routes,
    hits.routes,
    people.routes,
    people.inboxes,
    people.changes,
    mail.routes,
    webhooks.routes,
)
JOBS = (
    comment_jobs,
    ad_jobs,
    social_jobs,
    asset_jobs,
    pages,
    hits,
    shop_jobs,
    marks,
    people,
    mail_jobs,
    webhook_jobs,
)


def create_app(runtime: Runtime, kind: type[Chalice] = Chalice) -> Chalice:
    """Return an app over this runtime; two apps in one process share nothing."""
    app = kind(app_name="plaza", configure_logs=False)
    outage = Outage(runtime.database.client)
    invocations.install(app, outage)
    middleware.install(app, runtime.settings, outage)
    for routes in ROUTES:
        app.register_blueprint(routes(runtime))
    middleware.answer_further_methods(app)
    for feature in JOBS:
        feature.declare(app, runtime)
    for function, declared in FUNCTIONS.items():
        schedules.declare(app, runtime, function, declared)
    commands.declare(app, runtime, COMMANDS)
    return app


def __getattr__(name: str) -> Any:
    """Return the handler `app.<name>` of a queue, a schedule or a command, for Lambda."""
    try:
        return app.handler_map[name]
    except KeyError:
        raise AttributeError(f"module 'app' has no attribute {name!r}") from None


_runtime = Runtime.from_environment(os.environ)
logs.configure(_runtime.settings.log_level, _runtime.settings.metrics_namespace)
app = create_app(_runtime)

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
from chalicelib.comments import repair
from chalicelib.comments import routes as comments
from chalicelib.comments.entries import upkeep
from chalicelib.database import migration
from chalicelib.database.outages import Outage
from chalicelib.http import document, health, me, middleware
from chalicelib.jobs.schedules import declare
from chalicelib.observability import invocations, logs
from chalicelib.runtime import Runtime
from chalicelib.shop import jobs as shop_jobs
from chalicelib.shop import routes as shop
from chalicelib.sites import routes as sites
from chalicelib.social import jobs as social_jobs
from chalicelib.social import routes as social
from chalicelib.web import routes as web
from chalicelib.wiring import hits, marks, pages, people, schedules, schema

ROUTES = (
    health.routes,
    document.routes,
    me.routes,
    web.routes,
    sites.routes,
    assets.routes,
    comments.routes,
    pages.routes,
    shop.routes,
    ads.routes,
    social.routes,
    hits.routes,
    people.routes,
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
    for function, declared in schedules.FUNCTIONS.items():
        declare(app, runtime, function, declared)
    declare_commands(app, runtime)
    return app


def declare_commands(app: Chalice, runtime: Runtime) -> None:
    """Declare the functions that a person or a deployment invokes by name."""

    @app.lambda_function()
    def init_db(event: dict[str, Any], _context: object) -> dict[str, list[str]]:
        contract = event.get("contract") is True
        collections = schema.collections(runtime.settings)
        report = migration.migrate(
            runtime.database, collections, schema.FAMILIES, contract=contract
        )
        return {"done": report.done, "left": report.left}

    @app.lambda_function()
    def reconcile_ads(event: dict[str, str], _context: object) -> dict[str, Any]:
        return ad_jobs.reconcile(runtime, event["campaign_id"], event["from"], event["to"])

    @app.lambda_function()
    def verify_news(event: dict[str, Any], _context: object) -> dict[str, list[str]]:
        return social_jobs.verify_news(runtime, event["user_id"])

    @app.lambda_function()
    def verify_stock(event: dict[str, str], _context: object) -> dict[str, int]:
        return shop_jobs.verify_stock(runtime, event["site"], event["sku"])

    @app.lambda_function()
    def verify_marks(event: dict[str, str], _context: object) -> dict[str, Any]:
        return marks.verify(runtime, event["kind"], event.get("after", ""))

    @app.lambda_function()
    def choose_mark_design(event: dict[str, str], _context: object) -> dict[str, bool]:
        return marks.choose(runtime, event["kind"], event["thing"], event["design"])

    @app.lambda_function()
    def rerender_comments(event: dict[str, Any], _context: object) -> dict[str, Any]:
        return repair.render_again(runtime, after=event.get("after", ""))

    @app.lambda_function()
    def compare_entries(event: dict[str, Any], _context: object) -> dict[str, Any]:
        is_repairing = event.get("repair") is True
        return upkeep.compare_nodes(runtime, event.get("after", ""), is_repairing=is_repairing)


def __getattr__(name: str) -> Any:
    """Return the handler `app.<name>` of a queue, a schedule or a command, for Lambda."""
    try:
        return app.handler_map[name]
    except KeyError:
        raise AttributeError(f"module 'app' has no attribute {name!r}") from None


_runtime = Runtime.from_environment(os.environ)
logs.configure(_runtime.settings.log_level, _runtime.settings.metrics_namespace)
app = create_app(_runtime)

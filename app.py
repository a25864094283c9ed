"""Plaza's Lambda functions: the HTTP API, the queues' workers and the schedules.

Lambda finds each handler by name in this module, so every queue and schedule is declared
here and not in a blueprint, whose handlers would be looked for in its own module.
"""

import os
from typing import Any

from chalice.app import Chalice, CloudWatchEvent, Rate, SQSEvent
from pydantic import TypeAdapter

from chalicelib import health, http, invocations, logs, migration, schema
from chalicelib.ads import (
    account_routes,
    campaigns,
    events,
    report_routes,
    repricing,
    rolling,
    tracking_routes,
    visitors,
)
from chalicelib.ads import routes as ads
from chalicelib.ads import upkeep as ad_upkeep
from chalicelib.comments import promotion, upkeep
from chalicelib.comments import routes as comments
from chalicelib.comments.promotion import MoveNode
from chalicelib.queues import consume, consume_together
from chalicelib.runtime import Runtime
from chalicelib.social import background, messages, spreading, view_routes
from chalicelib.social import fan_out as fan_outs
from chalicelib.social import routes as social
from chalicelib.social import upkeep as social_upkeep
from chalicelib.social.activity import feed_routes, work
from chalicelib.social.activity import routes as activity

ROUTES = (
    health.routes,
    ads.routes,
    tracking_routes.routes,
    account_routes.routes,
    report_routes.routes,
    comments.routes,
    social.routes,
    view_routes.routes,
    activity.routes,
    feed_routes.routes,
)


def create_app(runtime: Runtime, kind: type[Chalice] = Chalice) -> Chalice:
    """Return an app over this runtime; two apps in one process share nothing."""
    app = kind(app_name="plaza", configure_logs=False)
    invocations.install(app)
    http.install(app, runtime)
    for routes in ROUTES:
        app.register_blueprint(routes(runtime))
    http.answer_preflights(app)
    declare_workers(app, runtime)
    declare_social_workers(app, runtime)
    declare_schedules(app, runtime)
    declare_commands(app, runtime)
    return app


def declare_workers(app: Chalice, runtime: Runtime) -> None:
    """Declare the workers of the queues."""
    queue = runtime.queues.name_of

    @app.on_sqs_message(queue=queue(MoveNode.queue), batch_size=1)
    def move_nodes(event: SQSEvent) -> dict[str, Any]:
        def handle(message: MoveNode) -> None:
            promotion.move_wanted(runtime, message.node_id)

        return consume(event.to_dict(), TypeAdapter(MoveNode), handle)

    @app.on_sqs_message(
        queue=queue(events.AdEvent.queue), batch_size=500, maximum_batching_window_in_seconds=1
    )
    def count_ad_events(event: SQSEvent) -> dict[str, Any]:
        def handle(batch: list[events.AdEvent]) -> None:
            events.count(runtime.database, batch, runtime.now(), runtime.random)

        return consume_together(event.to_dict(), events.AD_EVENT, handle)


def declare_social_workers(app: Chalice, runtime: Runtime) -> None:
    """Declare the workers of the social feed's queues."""
    queue = runtime.queues.name_of

    @app.on_sqs_message(queue=queue(messages.Deliver.queue), batch_size=10)
    def fan_out(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.Deliver | messages.DeliverChunk) -> None:
            fan_outs.handle(runtime, message)

        return consume(event.to_dict(), messages.FAN_OUT, handle)

    @app.on_sqs_message(queue=queue(messages.Spread.queue), batch_size=10)
    def comment_spread(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.Spread) -> None:
            spreading.spread(runtime, message.post_id)

        return consume(event.to_dict(), messages.SPREAD, handle)

    @app.on_sqs_message(queue=queue(messages.Rank.queue), batch_size=10)
    def activity_feed(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.ActivityMessage) -> None:
            work.handle(runtime, message)

        return consume(event.to_dict(), messages.ACTIVITY, handle)

    @app.on_sqs_message(queue=queue(messages.BackFill.queue), batch_size=1)
    def social_errands(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.Errand) -> None:
            background.handle(runtime, message)

        return consume(event.to_dict(), messages.ERRAND, handle)


def declare_schedules(app: Chalice, runtime: Runtime) -> None:
    """Declare what runs by the clock."""

    @app.schedule(Rate(1, Rate.MINUTES))
    def sweep(_event: CloudWatchEvent) -> None:
        social_upkeep.sweep(runtime)

    @app.schedule(Rate(1, Rate.HOURS))
    def tend_social(_event: CloudWatchEvent) -> dict[str, int]:
        return social_upkeep.tend(runtime.database, runtime.now())

    @app.schedule(Rate(1, Rate.MINUTES))
    def tend_ads(_event: CloudWatchEvent) -> dict[str, int]:
        return ad_upkeep.tend(runtime)

    @app.schedule(Rate(5, Rate.MINUTES))
    def roll_reports_up(_event: CloudWatchEvent) -> dict[str, int]:
        return ad_upkeep.roll_up(runtime)

    @app.schedule(Rate(1, Rate.HOURS))
    def settle_accounts(_event: CloudWatchEvent) -> dict[str, int]:
        return ad_upkeep.settle(runtime)

    @app.schedule(Rate(1, Rate.MINUTES))
    def end_flights(_event: CloudWatchEvent) -> dict[str, int]:
        return {"campaigns": campaigns.end_flights(runtime.database, runtime.now())}

    @app.schedule(Rate(1, Rate.HOURS))
    def reprice_zones(_event: CloudWatchEvent) -> dict[str, int]:
        rolling.estimate(runtime.database, runtime.now())
        return {"zones": repricing.reprice(runtime)}

    @app.schedule(Rate(1, Rate.HOURS))
    def trim_profiles(_event: CloudWatchEvent) -> dict[str, int]:
        return {"profiles": visitors.trim(runtime.database, runtime.now())}

    @app.schedule(Rate(5, Rate.MINUTES))
    def tend_comments(_event: CloudWatchEvent) -> dict[str, int]:
        return upkeep.tend(runtime)


def declare_commands(app: Chalice, runtime: Runtime) -> None:
    """Declare the functions that a person or a deployment invokes by name."""

    @app.lambda_function()
    def init_db(event: dict[str, Any], _context: object) -> dict[str, list[str]]:
        contract = event.get("contract") is True
        report = migration.migrate(runtime.database, schema.COLLECTIONS, contract=contract)
        return {"done": report.done, "left": report.left}

    @app.lambda_function()
    def reconcile_ads(event: dict[str, str], _context: object) -> dict[str, Any]:
        return ad_upkeep.reconcile(runtime, event["campaign_id"], event["from"], event["to"])

    @app.lambda_function()
    def verify_news(event: dict[str, Any], _context: object) -> dict[str, list[str]]:
        return social_upkeep.verify_news(runtime, event["user_id"])

    @app.lambda_function()
    def rerender_comments(event: dict[str, Any], _context: object) -> dict[str, Any]:
        return upkeep.render_again(runtime, after=event.get("after", ""))


def __getattr__(name: str) -> Any:
    """Give Lambda the handler `app.<name>` of a queue, a schedule or a command."""
    try:
        return app.handler_map[name]
    except KeyError:
        raise AttributeError(f"module 'app' has no attribute {name!r}") from None


_runtime = Runtime.from_environment(os.environ)
logs.configure(_runtime.settings.log_level, _runtime.settings.metrics_namespace)
app = create_app(_runtime)

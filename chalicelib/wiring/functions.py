"""Every Lambda function beside the API: queue workers, schedules, and commands.

Schedules that need the same rights share a function (docs/decisions/0220).
"""

from datetime import timedelta

from chalice.app import Chalice

from chalicelib.jobs import commands, schedules
from chalicelib.jobs.functions import Deferred, Worker, declare_worker, load
from chalicelib.jobs.schedules import Functions, ScheduledJob
from chalicelib.runtime import Runtime


def _worker(  # noqa: PLR0913, PLR0917 - a row of the table below
    name: str, queue: str, batch_size: int, handle: str, adapter: str = "", window_seconds: int = 0
) -> Worker:
    return Worker(name, queue, Deferred(handle, adapter), batch_size, window_seconds)


# Each worker has a queue, and a batch size: the most messages of a call. The size is 1 where a
# message may take the whole time limit of a call.
WORKERS = (
    _worker("move_nodes", "promotion", 1, "chalicelib.comments.jobs:move_nodes"),
    _worker("run_batches", "moderation", 1, "chalicelib.comments.jobs:run_batches"),
    _worker(
        "count_ad_events",
        "ad-events",
        500,
        "chalicelib.ads.tracking.jobs:count_ad_events",
        window_seconds=1,
    ),
    _worker("fan_out", "fan-out", 10, "chalicelib.social.jobs:fan_out"),
    _worker("comment_spread", "comment-spread", 10, "chalicelib.social.jobs:comment_spread"),
    _worker("activity_feed", "activity", 10, "chalicelib.social.jobs:activity_feed"),
    _worker("move_assets", "assets", 1, "chalicelib.assets.jobs:move_assets"),
    _worker(
        "content",
        "content",
        10,
        "chalicelib.content.jobs:tell_discussions",
        "chalicelib.wiring.pages:DISCUSSIONS",
    ),
    _worker(
        "count_hits",
        "hits",
        500,
        "chalicelib.analytics.jobs:count_hits",
        "chalicelib.wiring.hits:PAGES",
        window_seconds=1,
    ),
    _worker("catalogue", "catalogue", 1, "chalicelib.shop.catalogue.jobs:catalogue"),
    _worker("resume_orders", "orders", 10, "chalicelib.shop.orders.jobs:resume_orders"),
    _worker(
        "count_marks",
        "marks",
        500,
        "chalicelib.marks.jobs:count_marks",
        "chalicelib.wiring.marks:KINDS",
        window_seconds=1,
    ),
    _worker("social_errands", "social-errands", 1, "chalicelib.wiring.errands:run_errands"),
    _worker("send_letters", "mail", 1, "chalicelib.mail.jobs:send_letters"),
    _worker("send_webhooks", "webhooks", 1, "chalicelib.wiring.receivers:send"),
)


def _job(name: str, every: timedelta, run: str) -> ScheduledJob:
    return ScheduledJob(name, every, Deferred(run))


_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
SCHEDULES: Functions = {
    "ads_schedules": (
        _job("tend_ads", _MINUTE, "chalicelib.ads.jobs:run_minute"),
        _job("roll_reports_up", 5 * _MINUTE, "chalicelib.ads.jobs:roll_up"),
        _job("settle_accounts", 5 * _MINUTE, "chalicelib.ads.jobs:settle"),
        _job("recount_funds", _HOUR, "chalicelib.ads.jobs:recount_funds"),
        _job("end_flights", _MINUTE, "chalicelib.ads.jobs:end_flights"),
        _job("reprice_zones", _HOUR, "chalicelib.ads.jobs:reprice_zones"),
        _job("trim_profiles", _HOUR, "chalicelib.ads.jobs:trim_profiles"),
    ),
    "analytics_schedules": (
        _job("roll_hits_up", 5 * _MINUTE, "chalicelib.analytics.jobs:roll_up"),
        _job("tend_hits", _HOUR, "chalicelib.analytics.jobs:tend"),
    ),
    "assets_schedules": (_job("tend_assets", 5 * _MINUTE, "chalicelib.assets.jobs:run_due"),),
    "comments_schedules": (
        _job("tend_comments", 5 * _MINUTE, "chalicelib.comments.jobs:run_due"),
        _job("mail_notifications", 5 * _MINUTE, "chalicelib.wiring.notifications:send_letters"),
    ),
    "content_schedules": (_job("tend_content", _MINUTE, "chalicelib.content.jobs:run_due"),),
    "shop_schedules": (
        _job("tend_catalogue", _MINUTE, "chalicelib.shop.jobs:tend_catalogue"),
        _job("tend_shop", _MINUTE, "chalicelib.shop.orders.sweep:sweep"),
    ),
    # Most of these send overdue messages again.
    "social_schedules": (
        _job("sweep", _MINUTE, "chalicelib.social.jobs:resend_overdue"),
        _job("tend_social", _HOUR, "chalicelib.social.jobs:tend"),
        _job("sweep_marks", _MINUTE, "chalicelib.marks.jobs:resend_overdue"),
        _job("tend_mail", _MINUTE, "chalicelib.mail.letters:tend"),
        _job("tend_webhooks", _MINUTE, "chalicelib.webhooks.jobs:resend_overdue"),
        _job("tend_pushes", _MINUTE, "chalicelib.notifications.push_rows:send_due"),
    ),
}
COMMANDS = Deferred("chalicelib.wiring.commands:run")


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare all functions, without an import of their features."""
    for worker in WORKERS:
        declare_worker(app, runtime, worker)
    for name, jobs in SCHEDULES.items():
        schedules.declare(app, runtime, name, jobs)
    commands.declare(app, runtime, COMMANDS)


def declare_one(app: Chalice, runtime: Runtime, name: str) -> None:
    """Declare the function of this name, and import its features; skip an unknown name."""
    for worker in WORKERS:
        if worker.name == name:
            declare_worker(app, runtime, worker)
            load(worker.handle)
    if name in SCHEDULES:
        schedules.declare(app, runtime, name, SCHEDULES[name])
        load(*(job.run for job in SCHEDULES[name]))
    if name == commands.FUNCTION:
        commands.declare(app, runtime, COMMANDS)

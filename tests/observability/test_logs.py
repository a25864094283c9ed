"""Lines of the log: what they belong to, and which of their fields are metrics."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.ads.tracking.events import AdEvent
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.messaging import Queues
from chalicelib.notifications import pushes
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import JsonFormatter, log
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import leases
from chalicelib.social.delivery.leases import DeliveryLease
from chalicelib.social.posts.posts import POSTS
from chalicelib.webhooks import notifications
from chalicelib.webhooks.rows import HOOKS, Hook
from local.schedules import run_schedule
from tests.ads.support.events import click, count
from tests.analytics.support.hits import count as count_hits
from tests.jobs.test_work import owe
from tests.mail.support.stand_in import send_to_a_refusal
from tests.shop.support.buying import bank_takes_back, paid_late, refund_came_back
from tests.social.support.drivers import follow, try_post
from tests.support.clock import START, Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter("Plaza/test"))
    log.addHandler(handler)
    log.setLevel("INFO")
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    log.removeHandler(handler)


def with_metrics(lines: Lines) -> list[dict[str, Any]]:
    return [line for line in lines() if "_aws" in line]


def assert_embedded(line: dict[str, Any]) -> set[str]:
    """Check a line against the embedded metric format's specification; return its metrics."""
    assert isinstance(line["_aws"]["Timestamp"], int)
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Plaza/test"
    for dimensions in directive["Dimensions"]:
        assert len(dimensions) <= 30
        assert all(isinstance(line[name], str) and line[name] for name in dimensions)
    for metric in directive["Metrics"]:
        assert metric["Unit"] in {"Count", "Milliseconds", "Seconds", "Bytes"}
        assert isinstance(line[metric["Name"]], int | float)
    return {metric["Name"] for metric in directive["Metrics"]}


def test_a_post_is_followed_from_its_request_to_the_worker(
    client: Client, workers: Workers, lines: Lines
) -> None:
    follow(client, "bob", "ann")
    posted = try_post(client, "ann")
    workers.drain()

    request_id = posted.headers["X-Request-Id"]
    (delivered,) = [line for line in lines() if line["message"] == "delivered to readers"]
    assert delivered["correlation_id"] == request_id
    assert delivered["deliveries"] == 1
    # The worker's invocation is another one, with an id of its own.
    assert delivered["invocation_id"] != request_id


def stop_a_hook(runtime: Runtime) -> None:
    """Have a hook that Plaza has switched off, and tell of it."""
    hook: Hook = {
        "_id": "hook",
        "site": "harbour",
        "slot": 1,
        "url": "https://a.example/",
        "kinds": ["comment.created"],
        "secrets": [],
        "state": "gone",
        "made": runtime.now(),
        "failing_since": runtime.now(),
        "quiet_until": None,
        "stopped": runtime.now(),
    }
    HOOKS.of(runtime.database).insert_one(hook)
    notifications.report_ends(runtime)


def test_every_metric_is_written_as_its_format_demands(  # noqa: PLR0913, PLR0917 - each has its way
    app: Chalice, client: Client, workers: Workers, runtime: Runtime, clock: Clock, lines: Lines
) -> None:
    follow(client, "bob", "ann")
    post = try_post(client, "ann").json["id"]
    workers.drain()
    lease = DeliveryLease.prepare(runtime, POSTS, post)
    posts = runtime.database["social.post"]
    posts.update_one({"_id": post}, {"$set": {"fan_out.state": "pending"}})
    assert leases.claim(lease, {"fan_out": 1})
    leases.mark_failed(lease)
    count(runtime, click(1, START))
    count_hits(runtime)
    paid_late(client, runtime, clock)
    bank_takes_back(client, runtime, *refund_came_back(client))
    assert not Queues("nowhere-", client=runtime.queues._client).send(MoveNode(node_id="moon"))
    send_to_a_refusal(runtime)
    owe(runtime)
    stop_a_hook(runtime)
    pushes._log("sent", 201)
    clock.advance(milliseconds=runtime.settings.lease_ms)
    for schedule in ("tend_ads", "tend_comments", "tend_hits"):
        run_schedule(app, schedule)

    written = set().union(*map(assert_embedded, with_metrics(lines)))

    assert written == set().union(*(each.units for each in metrics.ALL))


def test_what_nobody_pays_is_counted(runtime: Runtime, lines: Lines) -> None:
    event: AdEvent = click(1, START, campaign_id="gone:gone")
    count(runtime, event)
    count(runtime, event)

    first, again = with_metrics(lines)
    assert (first["ad_events"], first["unpaid_ad_events"]) == (1, 1)
    assert (again["ad_events"], again["unpaid_ad_events"]) == (0, 0)


def test_a_schedule_says_what_it_did(app: Chalice, lines: Lines) -> None:
    run_schedule(app, "tend_ads")

    (line,) = lines()
    named = (line["message"], line["function"], line["schedule"])
    assert named == ("schedule", "ads_schedules", "tend_ads")
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["schedule"]]
    assert line["leases_ended"] == 0
    assert line["correlation_id"] == line["invocation_id"]


def test_a_line_bears_the_trace_that_lambda_gives(
    monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd86;Parent=53995c3f;Sampled=1")
    log.info("traced")
    monkeypatch.delenv("_X_AMZN_TRACE_ID")
    log.info("untraced")

    traced, untraced = lines()
    assert traced["trace_id"] == "1-5759e988-bd86"
    assert "trace_id" not in untraced


def test_ids_hold_for_what_is_done_meanwhile_and_no_longer(lines: Lines) -> None:
    with logs.bind(correlation_id="outer", invocation_id="i"):
        with logs.bind(correlation_id="inner"):
            log.info("within")
        log.info("around")
    log.info("after")

    within, around, after = lines()
    assert (within["correlation_id"], within["invocation_id"]) == ("inner", "i")
    assert around["correlation_id"] == "outer"
    assert not {"correlation_id", "invocation_id"} & after.keys()


def test_a_failure_names_what_caused_it_and_quotes_nothing(lines: Lines) -> None:
    try:
        int("private words")
    except ValueError as error:
        failure = KeyError("more of them")
        failure.__cause__ = error
        log.error("failed", exc_info=failure)

    (line,) = lines()
    assert (line["exception"], line["cause"]["exception"]) == ("KeyError", "ValueError")
    assert "private words" not in json.dumps(line)
    assert "more of them" not in json.dumps(line)

"""Events on their way through the queue are counted once."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice

from app import create_app
from chalicelib.ads.reports import counters
from chalicelib.ads.tracking import events
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from deploy.declared import declared_queues, visibility_timeout_seconds
from tests.ads.support.events import PRICE, SPRING, Page, stored, totals
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.ads.tracking.support.pages import Refusing
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime whose events are counted within the request, with a campaign at work."""
    runtime = replace(runtime, queues=Refusing())
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 500 * PRICE})
    activate(runtime, SPRING)
    return runtime


@pytest.fixture
def page(client: Client) -> Page:
    return Page(client)


def test_the_grace_exceeds_five_visibility_timeouts(runtime: Runtime, app: Chalice) -> None:
    (queue,) = [each for each in declared_queues(app) if each.name == "count_ad_events"]

    assert runtime.settings.beacon_grace_seconds > 5 * visibility_timeout_seconds(queue)


def test_what_goes_through_the_queue_is_counted_once_however_often_it_is_delivered(
    runtime: Runtime, sqs: Any, workers: Workers, client: Client
) -> None:
    queued = replace(runtime, queues=Queues(runtime.settings.queue_prefix, client=sqs, seconds=30))
    page = Page(Client(create_app(queued, LocalChalice), client.token))
    ad = page.ad()
    for _ in range(3):
        page.see(ad)
    assert stored(runtime) == []

    assert workers.drain() == 3

    assert totals(runtime)["impressions"] == 1


def test_a_batch_that_fails_is_delivered_again_whole(
    app: Any, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    message = AdEvent(
        type="impression",
        decision="decision",
        slot=0,
        campaign_id=SPRING,
        ad_unit_id="one",
        site_id="blog",
        zone_id="banner",
        price_micros=0,
        lease_id=None,
        ts=clock(),
    )
    bodies = {"good": message.model_dump_json(), "bad": "{}"}
    records = [
        {"messageId": name, "body": body, "eventSourceARN": "arn:aws:sqs:x:y:ad-events"}
        for name, body in bodies.items()
    ]

    def failed() -> set[str]:
        answer = app.handler_map["count_ad_events"]({"Records": records}, None)
        return {item["itemIdentifier"] for item in answer["batchItemFailures"]}

    with monkeypatch.context() as patch:
        patch.setattr(counters, "add", lambda *_: 1 / 0)
        assert failed() == {"good", "bad"}
    assert stored(runtime) == []

    assert failed() == {"bad"}
    assert len(stored(runtime)) == 1


def test_events_are_kept_for_ninety_days_and_orders_for_three_years(runtime: Runtime) -> None:
    """An order counts once, and its signature has no end."""
    indexes = runtime.database[events.EVENTS.name].index_information().values()

    kept = [
        (each["partialFilterExpression"]["order"], timedelta(seconds=each["expireAfterSeconds"]))
        for each in indexes
        if "expireAfterSeconds" in each
    ]

    orders = {"$type": "string"}, timedelta(days=3 * 365)
    assert sorted(kept, key=str) == sorted([(None, timedelta(days=90)), orders], key=str)

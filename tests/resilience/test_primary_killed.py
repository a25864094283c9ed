"""The primary dies by SIGKILL under load: what was acknowledged stays, and happens once.

PLAZA_TEST_CALLS sets how many calls each caller makes before and after.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.ads.budgets import audit
from chalicelib.ads.tracking import events, reconciliation
from chalicelib.comments.nodes import NODES
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from chalicelib.social import jobs
from deploy.declared import declared_queues
from local.queues import create_queues
from tests.ads.support.events import PRICE, SPRING
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.local.stack import wait_until
from tests.resilience.load import (
    CALLERS,
    CALLS,
    Load,
    Workers,
    assert_bounded_by,
    kill_during,
    step_down_during,
)
from tests.resilience.replica_set import ReplicaSet
from tests.social.support.drivers import follow, news, settle, try_post
from tests.support.http_client import BROWSER, Client, Reply

pytestmark = pytest.mark.processes

FOLLOWERS = [f"reader-{number}" for number in range(5)]
# Longer than a batch takes, even here, or its messages would run out of their five receives.
VISIBILITY_TIMEOUT_SECONDS = 5


@contextmanager
def at_work(app: Chalice, sqs: Any, worker: str) -> Iterator[Workers]:
    """Have the poller of a worker's queue at work; what failed comes back in five seconds."""
    create_queues(sqs, app, lambda _: VISIBILITY_TIMEOUT_SECONDS)
    (source,) = [each for each in declared_queues(app) if each.name == worker]
    # Batches as they come: the primary is to die in the midst of one.
    source.maximum_batching_window_in_seconds = 0
    workers, stop = Workers(app, sqs, source), threading.Event()
    thread = threading.Thread(target=workers.run, args=(stop,))
    thread.start()
    try:
        yield workers
    finally:
        stop.set()
        thread.join()
        for url in sqs.list_queues().get("QueueUrls", []):
            sqs.delete_queue(QueueUrl=url)


@pytest.fixture
def comment(client: Client) -> Callable[[str], Reply]:
    """Comment on a node with a text; return the answer."""
    publisher = client.as_("paula", roles=["admin"])
    url = "https://blog.example/harbour"
    assert publisher.put("/nodes/harbour", title="The harbour", url=url).status == 201

    def post(text: str) -> Reply:
        return client.as_("ann").post("/nodes/harbour/comments", text=text)

    return post


def stored_comments(runtime: Runtime) -> Counter[str]:
    node = NODES.of(runtime.database).find_one({"_id": "harbour"})
    assert node is not None
    exported = [each for batch in store_of(runtime, node).export(node) for each in batch]
    return Counter(str(each["text"]) for each in exported)


def test_every_comment_that_was_acknowledged_stays_and_stays_single(
    comment: Callable[[str], Reply], runtime: Runtime, replica_set: ReplicaSet
) -> None:
    load = Load(comment)
    outage = kill_during(load, replica_set)

    stored = stored_comments(runtime)
    assert set(load.acknowledged()) <= stored.keys()
    assert set(stored.values()) == {1}
    assert_bounded_by(outage, load)


def test_a_primary_that_steps_down_loses_nothing_and_refuses_at_most_a_call_of_each_caller(
    comment: Callable[[str], Reply], runtime: Runtime, replica_set: ReplicaSet
) -> None:
    """The driver retries a command refused as a whole; a write refused in the middle is a 503."""
    load = Load(comment)
    step_down_during(load, replica_set)

    refused = load.refused()
    assert {call.status for call in refused} <= {503}
    assert max(Counter(call.caller for call in refused).values(), default=0) <= 1
    stored = stored_comments(runtime)
    assert set(load.acknowledged()) <= stored.keys()
    assert set(stored.values()) == {1}


@pytest.fixture
def campaign(runtime: Runtime) -> Runtime:
    """A campaign whose flight is on, with money for far more than is shown."""
    now = runtime.now()
    add_zones(runtime, "blog/banner")
    flight = {"starts_at": now - timedelta(days=1), "ends_at": now + timedelta(days=30)}
    budget = {"total_micros": 1_000_000 * PRICE}
    put_campaign(
        runtime,
        SPRING,
        flight={name: f"{day:%Y-%m-%dT%H:%M:%SZ}" for name, day in flight.items()},
        budget=budget,
    )
    activate(runtime, SPRING)
    return runtime


def test_every_beacon_that_was_acknowledged_is_counted_and_paid_once(
    client: Client, campaign: Runtime, app: Chalice, sqs: Any, replica_set: ReplicaSet
) -> None:
    seen: dict[str, str] = {}

    def look(name: str) -> Reply:
        """Ask for the page's ad and send its beacon, twice as a browser may."""
        headers = {"User-Agent": BROWSER}
        offer = client.request("GET", "/ads/blog/banner", headers=headers)
        if offer.status != 200 or not offer.json["ads"]:
            return offer
        seen[name] = offer.json["id"]
        beacon = offer.json["ads"][0]["impression_url"]
        client.request("POST", beacon, headers=headers)
        return client.request("POST", beacon, headers=headers)

    with at_work(app, sqs, "count_ad_events") as workers:
        load = Load(look, workers)
        outage = kill_during(load, replica_set)
        acknowledged = {seen[name] for name in load.acknowledged() if name in seen}
        rows = campaign.database[events.EVENTS.name]

        def all_counted() -> bool:
            return rows.count_documents({"decision": {"$in": sorted(acknowledged)}}) >= len(
                acknowledged
            )

        wait_until(all_counted, "all that was seen is counted")

    assert len(acknowledged) >= CALLERS * CALLS
    stored = list(rows.find())
    assert set(Counter(row["decision"] for row in stored).values()) == {1}
    assert {row["decision"] for row in stored} <= set(seen.values())
    assert not any(audit.audit(campaign.database, SPRING).values())
    day = campaign.now().replace(hour=0, minute=0, second=0, microsecond=0)
    span = (day - timedelta(days=1), day + timedelta(days=2))
    assert reconciliation.reconcile(campaign.database, SPRING, *span) == []
    assert all(row["billed"] for row in stored)
    assert_bounded_by(outage, load)


def test_every_post_that_was_acknowledged_reaches_each_follower_once(
    client: Client, runtime: Runtime, app: Chalice, sqs: Any, replica_set: ReplicaSet
) -> None:
    settle(client, "author")
    for reader in FOLLOWERS:
        follow(client, reader, "author")
    published: dict[str, str] = {}

    def post(name: str) -> Reply:
        reply = try_post(client, "author", detail={"text": name})
        if reply.status == 201:
            published[name] = reply.json["id"]
        return reply

    with at_work(app, sqs, "fan_out") as workers:
        load = Load(post, workers)
        outage = kill_during(load, replica_set)
        posts = runtime.database["social.post"]

        def all_delivered() -> bool:
            return posts.count_documents({"fan_out.state": {"$ne": "done"}}) == 0

        # What a message was lost for is found by the sweep, once its lease has run out.
        wait_until(lambda: all_delivered() or is_idle(sqs), "the queue is empty")
        jobs.resend_overdue(runtime)

        wait_until(all_delivered, "every fan-out has ended")

    acknowledged = {published[name] for name in load.acknowledged()}
    stored = {row["_id"] for row in posts.find({}, {"_id": 1})}
    assert acknowledged <= stored
    for reader in FOLLOWERS:
        shown = read_all(client, reader)
        assert sorted(shown) == sorted(stored), reader
    assert_bounded_by(outage, load)


def is_idle(sqs: Any) -> bool:
    """Return whether no message waits in any queue or is with a worker."""
    counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
    found = [
        sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(counts))["Attributes"]
        for url in sqs.list_queues()["QueueUrls"]
    ]
    return not any(int(each[name]) for each in found for name in counts)


def read_all(client: Client, reader: str) -> list[str]:
    """Return the posts in somebody's news, page after page."""
    target, found = "/users/me/news?limit=200", news(client, reader)
    following = client.as_(reader).get(target).json["next"]
    while following:
        page = client.as_(reader).get(f"{target}&cursor={following}").json
        found += [post["id"] for post in page["posts"]]
        following = page["next"]
    return found

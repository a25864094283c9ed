"""An SQS that does not answer: one container goes on answering its calls, and nothing is lost."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import pairwise

import pytest
from chalice.local import LocalChalice
from pydantic import SecretStr

from app import create_app
from chalicelib import deadlines, outgoing
from chalicelib.messaging import Queues, outages
from chalicelib.messaging.queues import SECONDS
from chalicelib.outgoing import Result
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.ads.support.events import Page
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.analytics.support.hits import hits_by, rows, site
from tests.messaging.support.greetings import Greeting
from tests.social.support.drivers import comment, follow, publish
from tests.support.failing_server import FAILURES, FailingServer, Failure, running
from tests.support.http_client import Client

# For a machine that is busy.
BUSY_SECONDS = 30.0
# Of a silent queue, one call alone once took as long.
ONCE_SECONDS = 20.0


class CountingWay(outgoing.Way):
    """A way that records how long each call was to be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.patience: list[float] = []

    def call(self, seconds: float, work: Callable[[], Result]) -> Result:
        self.patience.append(seconds)
        return super().call(seconds, work)


@pytest.fixture
def way() -> CountingWay:
    return CountingWay()


@pytest.fixture
def sqs_server(failure: Failure, monkeypatch: pytest.MonkeyPatch) -> Iterator[FailingServer]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with running(failure, monkeypatch) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        yield server


@pytest.fixture
def settings(settings: Settings, sqs_server: FailingServer) -> Settings:
    """All providers fail as SQS does; readers' keys are not a provider's."""
    return settings.model_copy(
        update={
            "akismet_key": SecretStr("key"),
            "akismet_url": sqs_server.url,
            "payments": "stripe",
            "stripe_sites": ("*",),
            "stripe_url": sqs_server.url,
            "stripe_key": SecretStr("key"),
            "asset_bucket": "bucket",
        }
    )


@pytest.fixture
def container(
    runtime: Runtime, token: Callable[..., str], way: CountingWay, sqs_server: FailingServer
) -> Client:
    """A container whose queues are those of the failing server; there is a page with an ad."""
    del sqs_server
    silent = dataclasses.replace(runtime, queues=Queues("plaza-test-", way=way))
    # Boto3 is imported before a clock runs.
    silent.queues._sqs()
    site(runtime)
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, "acme:spring", "blog/banner")
    activate(runtime, "acme:spring")
    staff = Client(create_app(silent, LocalChalice), token).as_(
        "mo", roles=["moderator", "publisher"], sites=["blog"]
    )
    staff.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon")
    staff.put("/sites/blog/comments/settings", spam_check_url="https://blog.example/")
    return Client(create_app(silent, LocalChalice), token)


def call_everything(client: Client, number: int) -> None:
    """Make calls that send messages, of which each is done."""
    hit = {"path": "/a", "id": f"hit-{number:0>12}"}
    assert client.post("/hits", site="blog", hits=[hit]).status == 202
    assert client.get("/hits/blog/pixel?path=/b").status == 200
    follow(client, f"bob{number}", "ann")
    post = publish(client, "ann")
    comment(client, f"bob{number}", post)
    said = client.as_(f"bob{number}").post("/nodes/blog:moon/comments", text="Hello")
    assert (said.status, said.json["state"]) == (201, "pending")
    assert client.as_("ann").put("/users/me", name=f"Ann {number}").status == 200
    page = Page(client)
    ad = page.ad()
    assert page.see(ad).status == 204
    assert page.click(ad).status == 302
    assert client.as_(f"bob{number}").delete("/users/me").status == 202


@pytest.mark.parametrize("failure", FAILURES)
def test_every_call_is_answered_while_the_queue_is_not(
    container: Client, way: CountingWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is tried once in a pause, for less than a second, whichever call it is."""
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 3_600)

    began = time.monotonic()
    for number in range(2):
        call_everything(container, number)

    assert len(way.patience) == 1
    assert way.patience[0] <= SECONDS
    assert time.monotonic() - began < ONCE_SECONDS


@pytest.mark.parametrize("failure", ["hangs"])
def test_calls_that_need_no_provider_ask_none_but_the_queue(
    container: Client, sqs_server: FailingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 3_600)

    call_everything(container, 1)

    # The first send and its retry; a second connection may be under way when it is given up.
    assert 1 <= sqs_server.connections <= 2


@pytest.mark.parametrize("failure", ["hangs"])
def test_hits_and_events_are_counted_while_the_queue_is_silent(
    container: Client, runtime: Runtime
) -> None:
    call_everything(container, 1)

    day = runtime.now().replace(hour=0, minute=0, second=0, microsecond=0)
    assert [hits for _, hits in hits_by(rows(runtime, day, day + timedelta(days=1)))] == [2]
    types = sorted(each["type"] for each in runtime.database["ad.event"].find())
    assert types == ["click", "impression"]


@pytest.mark.parametrize("failure", ["hangs"])
def test_a_queue_that_is_back_is_used_by_the_same_container(
    container: Client, sqs_server: FailingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 0)
    publish(container, "ann")
    assert sqs_server.answered == []

    sqs_server.delay_seconds = 0
    give_up = time.monotonic() + BUSY_SECONDS
    posts: list[str] = []
    while not _took_one_of(sqs_server, posts) and time.monotonic() < give_up:
        posts.append(publish(container, "ann"))

    assert _took_one_of(sqs_server, posts)


def _took_one_of(server: FailingServer, posts: Sequence[str]) -> bool:
    return any(post.encode() in request for post in posts for request in server.answered)


@pytest.mark.parametrize("failure", ["is slow"])
def test_all_sends_of_a_request_together_have_the_time_of_one(
    sqs_server: FailingServer, way: CountingWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 0)
    sqs_server.delay_seconds = 0.05
    queues = Queues("t-", way=way)
    queues._sqs()

    with deadlines.bound(20, is_request=True):
        sent = [queues.send(Greeting(name="ann")) for _ in range(40)]

    assert not sent[-1]
    assert len(way.patience) < len(sent)
    assert all(before > after for before, after in pairwise(way.patience))


@pytest.mark.parametrize("failure", ["is slow"])
def test_each_send_of_a_worker_has_the_time_of_one(
    sqs_server: FailingServer, way: CountingWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 0)
    sqs_server.delay_seconds = 0.05
    queues = Queues("t-", way=way)
    queues._sqs()

    with deadlines.bound(20):
        for _ in range(20):
            queues.send(Greeting(name="ann"))

    assert way.patience == [SECONDS] * 20

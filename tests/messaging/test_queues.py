"""Messages out to SQS and batches in, through pollers in place of Lambda's mapping."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import boto3
import pytest
from botocore.config import Config
from chalice.app import Chalice
from pydantic import TypeAdapter, model_validator
from pymongo.errors import AutoReconnect

from chalicelib.errors import Unavailable
from chalicelib.messaging import (
    DEAD_LETTER_SUFFIX,
    MAX_RECEIVES,
    Message,
    Queues,
    consume,
    consume_together,
)
from chalicelib.observability import logs
from deploy.declared import declared_queues
from local.queues import Poller, create_queues

Handler = Callable[["Greeting"], None]


class Greeting(Message):
    queue: ClassVar[str] = "greetings"
    type: Literal["greeting"] = "greeting"
    name: str


MESSAGES = TypeAdapter(Greeting)


def event_of(*bodies: str) -> dict[str, Any]:
    return {
        "Records": [{"messageId": f"m{n}", "body": body} for n, body in enumerate(bodies)],
    }


def greeting(name: str) -> str:
    return Greeting(name=name).model_dump_json()


def test_each_message_of_a_batch_is_handled() -> None:
    seen: list[str] = []

    answer = consume(
        event_of(greeting("ann"), greeting("bob")), MESSAGES, lambda m: seen.append(m.name)
    )

    assert seen == ["ann", "bob"]
    assert answer == {"batchItemFailures": []}


def test_a_poison_message_among_nine_good_ones_fails_alone() -> None:
    seen: list[str] = []

    def handle(message: Greeting) -> None:
        if message.name == "4":
            raise ZeroDivisionError
        seen.append(message.name)

    answer = consume(event_of(*(greeting(str(n)) for n in range(10))), MESSAGES, handle)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m4"}]}
    assert len(seen) == 9


@pytest.mark.parametrize("body", ["", "{}", "[]", "hello", '{"type":"farewell","name":"x"}'])
def test_a_message_that_cannot_be_read_fails(body: str) -> None:
    answer = consume(event_of(body), MESSAGES, lambda _: None)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}


class GreetingOfTheNextRelease(Greeting):
    """What `Greeting` becomes: a change that the last release's workers cannot live with."""

    version: int = 2
    mood: str

    @model_validator(mode="before")
    @classmethod
    def _from_version_1(cls, body: dict[str, Any]) -> dict[str, Any]:
        return {"mood": "good", **body} if body.get("version", 1) < 2 else body


def test_a_worker_reads_the_messages_of_the_last_release() -> None:
    seen: list[str] = []
    messages = TypeAdapter(GreetingOfTheNextRelease)

    assert consume(event_of(greeting("ann")), messages, lambda m: seen.append(m.mood)) == {
        "batchItemFailures": []
    }
    assert seen == ["good"]


def test_a_message_of_a_newer_version_is_left_to_a_newer_worker(mapping: Any, sqs: Any) -> None:
    """It stays in the queue, however often it is met, and at last among the dead letters."""
    seen: list[str] = []
    poller, queues = mapping(lambda m: seen.append(m.name), visibility_timeout_seconds=0)
    queues.send(GreetingOfTheNextRelease(name="ann", mood="bad"))

    while poller.poll_once():
        pass

    url = sqs.get_queue_url(QueueName=f"t-greetings{DEAD_LETTER_SUFFIX}")["QueueUrl"]
    (dead,) = sqs.receive_message(QueueUrl=url)["Messages"]
    assert seen == []
    assert json.loads(dead["Body"])["mood"] == "bad"


def test_a_newer_message_fails_alone_where_a_batch_is_handled_together() -> None:
    seen: list[str] = []
    newer = GreetingOfTheNextRelease(name="ann", mood="bad").model_dump_json()

    answer = consume_together(
        event_of(newer, greeting("bob")), MESSAGES, lambda batch: seen.extend(m.name for m in batch)
    )

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert seen == ["bob"]


def test_a_poison_message_fails_alone_where_a_batch_is_handled_together() -> None:
    handled: list[str] = []

    def handle(batch: list[Greeting]) -> None:
        names = [message.name for message in batch]
        if "4" in names:
            raise ZeroDivisionError
        handled.extend(names)

    answer = consume_together(event_of(*(greeting(str(n)) for n in range(10))), MESSAGES, handle)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m4"}]}
    assert sorted(handled) == list("012356789")


@pytest.mark.parametrize("outage", [Unavailable(), AutoReconnect()])
def test_an_outage_fails_a_batch_that_is_handled_together_at_once(outage: Exception) -> None:
    calls: list[int] = []

    def handle(batch: list[Greeting]) -> None:
        calls.append(len(batch))
        raise outage

    answer = consume_together(event_of(greeting("ann"), greeting("bob")), MESSAGES, handle)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m1"}]}
    assert calls == [2]


def test_a_message_bears_the_id_of_the_request_that_it_is_sent_for(mapping: Any) -> None:
    seen: list[str | None] = []
    poller, queues = mapping(lambda _: seen.append(logs.correlation_id()), batch_size=10)
    with logs.bound(correlation_id="request-1"):
        queues.send(Greeting(name="ann"))
    queues.send(Greeting(name="bob"))

    while poller.poll_once():
        pass

    assert seen == ["request-1", None]
    assert logs.correlation_id() is None


def test_a_field_of_a_later_release_is_passed_over() -> None:
    seen: list[str] = []
    body = json.dumps({"type": "greeting", "name": "ann", "version": 1, "mood": "good"})

    assert consume(event_of(body), MESSAGES, lambda m: seen.append(m.name)) == {
        "batchItemFailures": []
    }
    assert seen == ["ann"]


def app_that(handle: Handler, **mapping: Any) -> Chalice:
    """Return an app with one queue whose messages go to `handle`."""
    app = Chalice("plaza", configure_logs=False)

    @app.on_sqs_message(queue="t-greetings", **mapping)
    def greet(event: Any) -> dict[str, Any]:
        return consume(event.to_dict(), MESSAGES, handle)

    return app


@pytest.fixture
def mapping(sqs: Any) -> Any:
    """Return a function that makes a queue with its poller, and a sender to it."""

    def make(handle: Handler, visibility_timeout_seconds: int = 600, **options: Any) -> Any:
        app = app_that(handle, **options)
        create_queues(sqs, app, lambda _: visibility_timeout_seconds)
        return Poller(app, sqs, declared_queues(app)[0]), Queues("t-", client=sqs)

    yield make
    for url in sqs.list_queues(QueueNamePrefix="t-").get("QueueUrls", []):
        sqs.delete_queue(QueueUrl=url)


@pytest.mark.parametrize("count", [1, 10, 11, 25])
def test_any_number_of_messages_is_sent_and_delivered(mapping: Any, count: int) -> None:
    seen: list[str] = []
    poller, queues = mapping(lambda m: seen.append(m.name), batch_size=10)

    assert queues.send(*(Greeting(name=str(n)) for n in range(count)))
    while poller.poll_once():
        pass

    assert sorted(map(int, seen)) == list(range(count))


def test_a_batch_is_as_large_as_the_mapping_says(mapping: Any) -> None:
    poller, queues = mapping(lambda _: None, batch_size=25)
    queues.send(*(Greeting(name=str(n)) for n in range(30)))

    assert [poller.poll_once(), poller.poll_once(), poller.poll_once()] == [25, 5, 0]


def test_an_open_window_collects_what_comes_in_the_meantime(mapping: Any) -> None:
    poller, queues = mapping(lambda _: None, batch_size=50, maximum_batching_window_in_seconds=2)
    queues.send(Greeting(name="first"))
    receive = poller.sqs.receive_message
    seen: list[Any] = []

    def receive_and_send_one_more(**options: Any) -> Any:
        seen.append(receive(**options))
        if len(seen) == 1:
            queues.send(Greeting(name="second"))
        return seen[-1]

    poller.sqs = SimpleNamespace(
        receive_message=receive_and_send_one_more,
        delete_message_batch=poller.sqs.delete_message_batch,
    )

    assert poller.poll_once() == 2


def test_a_failed_message_comes_back_and_the_others_do_not(mapping: Any) -> None:
    tries: list[str] = []

    def handle(message: Greeting) -> None:
        tries.append(message.name)
        if message.name == "bad" and tries.count("bad") == 1:
            raise ZeroDivisionError

    poller, queues = mapping(handle, visibility_timeout_seconds=0, batch_size=10)
    queues.send(Greeting(name="bad"), Greeting(name="good"))
    while poller.poll_once():
        pass

    assert sorted(tries) == ["bad", "bad", "good"]


def test_after_five_tries_a_message_is_among_the_dead_letters(mapping: Any, sqs: Any) -> None:
    tries: list[str] = []

    def handle(message: Greeting) -> None:
        tries.append(message.name)
        raise ZeroDivisionError

    poller, queues = mapping(handle, visibility_timeout_seconds=0, batch_size=10)
    queues.send(Greeting(name="poison"))
    for _ in range(MAX_RECEIVES + 3):
        poller.poll_once()

    url = sqs.get_queue_url(QueueName=f"t-greetings{DEAD_LETTER_SUFFIX}")["QueueUrl"]
    (dead,) = sqs.receive_message(QueueUrl=url)["Messages"]
    assert json.loads(dead["Body"])["name"] == "poison"
    assert len(tries) == MAX_RECEIVES


def test_a_worker_that_raises_fails_its_whole_batch(mapping: Any) -> None:
    poller, queues = mapping(lambda _: None, visibility_timeout_seconds=0, batch_size=10)
    queues.send(Greeting(name="a"), Greeting(name="b"))

    def crash(_event: object, _context: object) -> None:
        raise ZeroDivisionError

    working = poller.app.handler_map["greet"]
    poller.app.handler_map["greet"] = crash
    assert poller.poll_once() == 2
    poller.app.handler_map["greet"] = working
    assert poller.poll_once() == 2


def test_a_record_has_the_shape_that_lambda_gives_it(mapping: Any) -> None:
    events: list[Any] = []
    poller, queues = mapping(lambda _: None)
    poller.app.handler_map["greet"] = lambda event, _context: events.append(event)
    queues.send(Greeting(name="ann"))

    poller.poll_once()

    (record,) = events[0]["Records"]
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"].endswith(":t-greetings")
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert {"messageId", "receiptHandle", "body", "md5OfBody", "awsRegion"} <= record.keys()


def test_a_send_that_fails_says_so_and_does_not_raise() -> None:
    nowhere = boto3.client(
        "sqs",
        region_name="eu-central-1",
        endpoint_url="http://127.0.0.1:9",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(connect_timeout=0.2, retries={"total_max_attempts": 1}),
    )

    assert not Queues("t-", client=nowhere).send(Greeting(name="ann"))


def test_a_send_to_a_queue_that_is_not_there_says_so(sqs: Any) -> None:
    assert not Queues("nowhere-", client=sqs).send(Greeting(name="ann"))


def test_sending_nothing_succeeds(sqs: Any) -> None:
    assert Queues("t-", client=sqs).send()


def test_every_declared_queue_reports_failures_by_message(app: Chalice, workers: Any) -> None:
    """Each worker of the app answers a message that it cannot read with that message's id."""
    for source in declared_queues(app):
        record = {"messageId": "m1", "receiptHandle": "r", "body": "not a message"}
        answer = app.handler_map[source.name]({"Records": [record]}, None)
        assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}, source.name
    assert workers.drain() == 0


def test_a_message_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Greeting(name="ann").name = "bob"  # type: ignore[misc]


def test_a_refusal_of_the_first_call_is_not_forgotten_over_the_next() -> None:
    refused = {"Failed": [{"Id": "0", "Code": "InternalError", "SenderFault": False}]}
    answers: list[dict[str, Any]] = [refused, {}]
    client: Any = SimpleNamespace(
        get_queue_url=lambda **_: {"QueueUrl": "https://sqs.example/greetings"},
        send_message_batch=lambda **_: answers.pop(0),
    )

    assert not Queues("t-", client=client).send(*(Greeting(name=str(n)) for n in range(11)))
    assert answers == []

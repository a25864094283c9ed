"""Messages out to SQS, and through pollers in place of Lambda's mapping."""

import json
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.config import Config
from chalice.app import Chalice

from chalicelib.messaging import (
    DEAD_LETTER_SUFFIX,
    MAX_RECEIVES,
    Queues,
)
from deploy.declared import declared_queues
from tests.messaging.support.greetings import Greeting


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


def test_a_refusal_of_the_first_call_is_not_forgotten_over_the_next() -> None:
    refused = {"Failed": [{"Id": "0", "Code": "InternalError", "SenderFault": False}]}
    answers: list[dict[str, Any]] = [refused, refused, {}]
    client: Any = SimpleNamespace(
        get_queue_url=lambda **_: {"QueueUrl": "https://sqs.example/greetings"},
        send_message_batch=lambda **_: answers.pop(0),
    )

    assert not Queues("t-", client=client).send(*(Greeting(name=str(n)) for n in range(11)))
    assert answers == []

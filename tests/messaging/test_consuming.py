"""Batches of messages in: what is handled, what fails, what is left to a newer release."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter, model_validator
from pymongo import MongoClient
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConfigurationError,
    DocumentTooLarge,
    DuplicateKeyError,
    InvalidOperation,
    OperationFailure,
    WriteError,
)

from chalicelib import deadlines
from chalicelib.database import Document, NotInserted
from chalicelib.errors import EditWindowOver, Misconfigured, Unavailable
from chalicelib.messaging import (
    DEAD_LETTER_SUFFIX,
    consume,
    consume_together,
)
from chalicelib.messaging.consuming import LEAST_MESSAGE_SECONDS
from chalicelib.observability import logs
from tests.messaging.support.greetings import MESSAGES, Greeting, event_of, greeting


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


def test_a_failure_of_messages_together_names_the_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def handle(batch: list[Greeting]) -> None:
        if any(each.name == "2" for each in batch):
            raise ZeroDivisionError

    consume_together(event_of(*(greeting(str(n)) for n in range(3))), MESSAGES, handle)

    found = [vars(each)["fields"] for each in caplog.records if each.message == "batch failed"]
    assert found[-1] == {"messages": 1, "message_ids": ["m2"]}


def use_up(message: Greeting) -> None:
    """Handle a message until less time is left than the next would need."""
    del message
    while deadlines.remaining() >= LEAST_MESSAGE_SECONDS:
        pass


def test_messages_that_no_time_is_left_for_come_again_and_the_others_do_not() -> None:
    with deadlines.bound(LEAST_MESSAGE_SECONDS + 1):
        answer = consume(event_of(*(greeting(str(n)) for n in range(3))), MESSAGES, use_up)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}, {"itemIdentifier": "m2"}]}


def test_a_batch_that_failed_is_not_halved_when_no_time_is_left() -> None:
    calls: list[int] = []

    def handle(batch: list[Greeting]) -> None:
        calls.append(len(batch))
        use_up(batch[0])
        raise ZeroDivisionError

    with deadlines.bound(LEAST_MESSAGE_SECONDS + 1):
        answer = consume_together(event_of(greeting("ann"), greeting("bob")), MESSAGES, handle)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m1"}]}
    assert calls == [2]


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


def handled_sizes(handle: Callable[[], object]) -> list[int]:
    """Return the sizes of the batches of four messages in which a handler gets them."""
    calls: list[int] = []

    def handle_batch(batch: list[Greeting]) -> None:
        calls.append(len(batch))
        handle()

    answer = consume_together(event_of(*map(greeting, "abcd")), MESSAGES, handle_batch)

    assert len(answer["batchItemFailures"]) == 4
    return calls


def test_a_refused_login_fails_a_batch_at_once(mongodb_uri: str) -> None:
    wrong = mongodb_uri.replace("mongodb://", "mongodb://plaza:wrong@")
    with MongoClient[Document](wrong, authSource="admin") as client:
        assert handled_sizes(client["plaza"]["x"].find_one) == [4]


def fails(error: Exception) -> Callable[[], object]:
    def handle() -> object:
        raise error

    return handle


REFUSED: Any = {"writeErrors": [{"index": 0, "code": 121}], "writeConcernErrors": []}


@pytest.mark.parametrize(
    "error",
    [
        *(OperationFailure("not authorized", 13), OperationFailure("quota", 14_031)),
        *(ConfigurationError("no host"), OSError("network"), MemoryError(), ImportError()),
        *(InvalidOperation("closed"), Misconfigured(), RuntimeError("no thread")),
    ],
    ids=repr,
)
def test_a_failure_that_no_message_causes_fails_a_batch_at_once(error: Exception) -> None:
    assert handled_sizes(fails(error)) == [4]


@pytest.mark.parametrize(
    "error",
    [
        *(DuplicateKeyError("taken", 11_000), WriteError("invalid", 121), BulkWriteError(REFUSED)),
        *(OperationFailure("invalid", 121), DocumentTooLarge("17 MB"), NotInserted("1 refused")),
        *(ValueError(), KeyError(), TypeError(), RecursionError(), EditWindowOver()),
    ],
    ids=repr,
)
def test_a_failure_that_a_message_may_cause_is_looked_for_in_halves(error: Exception) -> None:
    assert handled_sizes(fails(error)) == [4, 2, 1, 1, 2, 1, 1]


def test_a_message_bears_the_id_of_the_request_that_it_is_sent_for(mapping: Any) -> None:
    seen: list[str | None] = []
    poller, queues = mapping(lambda _: seen.append(logs.correlation_id()), batch_size=10)
    with logs.bind(correlation_id="request-1"):
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


def test_a_message_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Greeting(name="ann").name = "bob"  # type: ignore[misc]

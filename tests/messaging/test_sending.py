"""Sends that SQS takes in part, refuses, throttles or does not answer, and the pause after one."""

import json
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from chalicelib import deadlines, outgoing
from chalicelib.messaging import Queues, outages
from chalicelib.messaging.outages import PAUSE_SECONDS, QueueOutage
from tests.messaging.support.greetings import Greeting

Answer = dict[str, Any] | Exception
TAKEN: Answer = {}


def refusal(*ids: str, at_fault: bool = False) -> list[dict[str, Any]]:
    return [{"Id": each, "Code": "InternalError", "SenderFault": at_fault} for each in ids]


def refused(*ids: str) -> Answer:
    """Return an answer that refuses these messages of a call."""
    return {"Failed": refusal(*ids)}


def error(code: str, status: int) -> ClientError:
    meta: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(meta, "SendMessageBatch")


TIMED_OUT = ReadTimeoutError(endpoint_url="https://sqs.example")


class Sqs:
    """An SQS that answers as a test says, and records the names in each call."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = [*answers]
        self.calls: list[list[str]] = []

    def queues(self) -> Queues:
        client: Any = SimpleNamespace(
            get_queue_url=lambda **_: {"QueueUrl": "https://sqs.example/greetings"},
            send_message_batch=self._send,
        )
        return Queues("t-", client=client, seconds=30)

    def _send(self, **given: Any) -> dict[str, Any]:
        self.calls.append([json.loads(each["MessageBody"])["name"] for each in given["Entries"]])
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def greet(queues: Queues, *names: str) -> bool:
    return queues.send(*(Greeting(name=name) for name in names))


def test_only_messages_that_were_refused_are_sent_once_more() -> None:
    sqs = Sqs(refused("1"), TAKEN)

    assert greet(sqs.queues(), "ann", "bob", "cyd")

    assert sqs.calls == [["ann", "bob", "cyd"], ["bob"]]


def test_messages_that_are_refused_twice_are_not_sent() -> None:
    sqs = Sqs(refused("0", "1"), refused("1"))

    assert not greet(sqs.queues(), "ann", "bob")

    assert sqs.calls == [["ann", "bob"], ["ann", "bob"]]


def test_a_message_at_fault_is_not_sent_again_and_its_neighbours_are() -> None:
    sqs = Sqs({"Failed": [*refusal("0", at_fault=True), *refusal("1")]}, TAKEN)

    assert not greet(sqs.queues(), "ann", "bob")

    assert sqs.calls == [["ann", "bob"], ["bob"]]


@pytest.mark.parametrize(
    "failure",
    [
        TIMED_OUT,
        error("ServiceUnavailable", 503),
        error("RequestThrottled", 403),
        error("TooManyRequests", 429),
    ],
    ids=["time-out", "unavailable", "throttled", "too-many"],
)
def test_a_failure_that_may_pass_is_tried_once_more(failure: Exception) -> None:
    sqs = Sqs(failure, TAKEN)

    assert greet(sqs.queues(), "ann")

    assert sqs.calls == [["ann"], ["ann"]]


def test_a_failure_that_lasts_is_followed_by_a_pause() -> None:
    sqs = Sqs(TIMED_OUT, TIMED_OUT)
    queues = sqs.queues()

    assert not greet(queues, "ann")
    assert not greet(queues, "bob")

    assert sqs.calls == [["ann"], ["ann"]]


def test_a_refusal_is_not_tried_again_and_no_outage() -> None:
    sqs = Sqs(error("AccessDenied", 403), TAKEN)
    queues = sqs.queues()

    assert not greet(queues, "ann")
    assert greet(queues, "bob")

    assert sqs.calls == [["ann"], ["bob"]]


def test_large_messages_are_sent_in_calls_that_sqs_takes(mapping: Any) -> None:
    """Ten of them would be more than one call may have."""
    seen: list[str] = []
    poller, queues = mapping(lambda message: seen.append(message.name), batch_size=10)
    names = {f"{number}{'ü' * 50_000}" for number in range(10)}

    assert greet(queues, *names)
    while poller.poll_once():
        pass

    assert sorted(seen) == sorted(names)


def test_a_message_too_large_for_sqs_is_refused_alone(mapping: Any) -> None:
    seen: list[str] = []
    poller, queues = mapping(lambda message: seen.append(message.name))

    assert not greet(queues, "ann", "x" * 1_100_000, "bob")
    while poller.poll_once():
        pass

    assert sorted(seen) == ["ann", "bob"]


def test_nothing_is_sent_and_nothing_suspected_when_no_time_is_left() -> None:
    sqs = Sqs(TAKEN)
    queues = sqs.queues()

    with deadlines.bound(deadlines.RESERVE_SECONDS):
        assert not greet(queues, "ann")
    assert greet(queues, "bob")

    assert sqs.calls == [["bob"]]


class Seconds:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_after_a_pause_one_call_tries_and_the_others_go_on_without() -> None:
    clock = Seconds()
    outage = QueueOutage(clock)
    assert outage.may_try()
    outage.suspect()
    clock.now += PAUSE_SECONDS - 0.001
    assert not outage.may_try()

    clock.now += 0.001

    assert [outage.may_try() for _ in range(3)] == [True, False, False]
    clock.now += PAUSE_SECONDS
    assert [outage.may_try() for _ in range(3)] == [True, False, False]


def test_an_outage_is_over_at_the_first_answer() -> None:
    outage = QueueOutage(Seconds())
    outage.suspect()

    outage.end()

    assert all(outage.may_try() for _ in range(3))


def test_of_threads_that_come_after_a_pause_one_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue hangs until all of them have come."""
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 3_600)
    clock = Seconds()
    outage = QueueOutage(clock)
    outage.suspect()
    clock.now += 3_600
    start, tried = threading.Barrier(8), []

    def come() -> None:
        start.wait(10)
        tried.append(outage.may_try())

    threads = [threading.Thread(target=come) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)

    assert sorted(tried) == [False] * 7 + [True]


def test_a_request_shares_the_time_of_what_can_wait_and_nothing_else_does() -> None:
    def seconds_left(times: int) -> list[float]:
        found = []
        for _ in range(times):
            with deadlines.aside(1.0) as seconds:
                found.append(seconds)
                while deadlines.remaining() > 9.99:
                    pass
        return found

    with deadlines.bound(10, is_request=True):
        first, second = seconds_left(2)
    with deadlines.bound(10):
        assert seconds_left(2) == [1.0, 1.0]

    assert second < first == 1.0


def test_the_first_client_of_a_container_takes_no_time_from_the_sends_of_its_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On Lambda, the import of boto3 takes longer than all sends of a request may."""
    sqs, seconds = Sqs(TAKEN, TAKEN), 0.2
    client: Any = sqs.queues()._client

    def make(*_: Any, **__: Any) -> Any:
        began = time.monotonic()
        while time.monotonic() < began + 2 * seconds:
            pass
        return client

    monkeypatch.setattr("boto3.client", make)
    queues = Queues("t-", seconds=seconds)

    with deadlines.bound(10, is_request=True):
        assert greet(queues, "ann")
        assert greet(queues, "bob")

    assert sqs.calls == [["ann"], ["bob"]]


def test_a_call_that_fails_in_its_thread_raises_where_it_is_waited_for() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outgoing.Way().call(5, fail)


def test_a_way_is_free_again_when_calls_that_were_given_up_have_ended() -> None:
    way, over = outgoing.Way(), threading.Event()
    for _ in range(outgoing.MOST_ABANDONED):
        with pytest.raises(TimeoutError):
            way.call(0.001, lambda: over.wait(30))
    answer: Callable[[], str] = lambda: "answered"  # noqa: E731 - a call
    with pytest.raises(TimeoutError):
        way.call(30, answer)

    over.set()

    give_up = time.monotonic() + 30
    while way._abandoned and time.monotonic() < give_up:
        pass
    assert way.call(30, answer) == "answered"

"""Where the address of a letter is: in its row, until it is sent, and nowhere else."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.errors import Unavailable
from chalicelib.mail import letters
from chalicelib.mail.rows import LETTERS
from chalicelib.observability.logs import JsonFormatter, log
from chalicelib.runtime import Runtime
from local.schedules import run_schedule
from tests.mail.support.stand_in import Crashed, StandIn, draft
from tests.support.clock import Clock
from tests.support.workers import Workers

ADDRESS = "secret.reader@plaza.example"


@pytest.fixture
def log_text() -> Iterator[Callable[[], str]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)
    yield stream.getvalue
    log.removeHandler(handler)


def in_queue(sqs: Any, runtime: Runtime, suffix: str = "") -> list[str]:
    """Return the bodies of the messages that wait in the queue of letters."""
    url = sqs.get_queue_url(QueueName=runtime.queues.name_of("mail") + suffix)["QueueUrl"]
    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
    return [each["Body"] for each in found.get("Messages", [])]


def tell(sqs: Any, runtime: Runtime, body: str) -> None:
    """Put an event into the queue, as SNS does."""
    url = sqs.get_queue_url(QueueName=runtime.queues.name_of("mail"))["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=body)


def bounce(key: str) -> dict[str, Any]:
    return {
        "eventType": "Bounce",
        "bounce": {
            "bounceType": "Permanent",
            "bouncedRecipients": [{"emailAddress": ADDRESS, "diagnosticCode": f"no {ADDRESS}"}],
        },
        "mail": {"destination": [ADDRESS], "tags": {"address": [key]}},
    }


def test_no_message_has_an_address(
    runtime: Runtime, workers: Workers, courier: StandIn, sqs: Any
) -> None:
    letters.queue(runtime, draft(to=ADDRESS))

    (body,) = in_queue(sqs, runtime)
    assert json.loads(body) == {"type": "send-letter", "letter": "letter-1", "version": 1}
    workers.drain()
    assert [each.to for each in courier.carried] == [ADDRESS]


def test_no_line_of_the_log_has_an_address(  # noqa: PLR0913, PLR0917 - all parts of it
    app: Chalice,
    runtime: Runtime,
    workers: Workers,
    courier: StandIn,
    clock: Clock,
    sqs: Any,
    log_text: Callable[[], str],
) -> None:
    courier.outcomes = ["sent", "rejected", Unavailable(ADDRESS), Crashed(ADDRESS)]
    for number in range(4):
        letters.queue(runtime, draft(number, ADDRESS))
    tell(sqs, runtime, json.dumps(bounce("a-key")))
    tell(sqs, runtime, json.dumps({"eventType": ADDRESS, "mail": {"destination": [ADDRESS]}}))
    workers.drain()
    clock.advance(hours=1)
    run_schedule(app, "tend_mail")

    told = log_text()
    assert all(each in told for each in ("rejected", "Unavailable", "Crashed", "unknown", "late"))
    assert "ValidationError" in told
    assert "secret.reader" not in told


def test_what_an_address_refused_by_is_no_address(
    runtime: Runtime, workers: Workers, courier: StandIn, sqs: Any
) -> None:
    letters.queue(runtime, draft(to=ADDRESS))
    workers.drain()
    tell(sqs, runtime, json.dumps(bounce(courier.carried[0].address_key)))
    workers.drain()

    assert runtime.database["mail.refusal"].count_documents({}) == 1
    everything = [
        str(list(runtime.database[name].find()))
        for name in runtime.database.list_collection_names()
    ]
    assert "secret.reader" not in "".join(everything)


def test_an_address_waits_for_an_hour_at_most(
    app: Chalice, runtime: Runtime, courier: StandIn, clock: Clock
) -> None:
    letters.queue(runtime, draft(to=ADDRESS))
    assert LETTERS.of(runtime.database).count_documents({"to": ADDRESS}) == 1
    clock.advance(hours=1)
    run_schedule(app, "tend_mail")

    assert LETTERS.of(runtime.database).count_documents({"to": {"$exists": True}}) == 0
    assert courier.carried == []

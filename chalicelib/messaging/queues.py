"""Typed messages out to SQS, and batches of them in, with partial failure."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, field_validator
from pydantic_core import PydanticCustomError
from pymongo.errors import PyMongoError

from chalicelib.database import is_outage
from chalicelib.errors import Unavailable
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import log

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# SQS takes at most ten messages a call.
_MESSAGES_PER_CALL = 10
# After this many receives SQS moves a message to the queue's dead-letter queue.
MAX_RECEIVES = 5
DEAD_LETTER_SUFFIX = "-dead"
_CORRELATION = "correlation_id"
_NEWER = "newer_version"


class Message(BaseModel):
    """A message: its class names the queue, its fields are ids and small numbers.

    While one release replaces another, workers of both read the queue. A field that is added has a
    default, and a worker of the last release passes over it: the version stays. A change that such
    a worker could not handle raises the class's `version`; the worker then leaves the message to a
    newer one (docs/decisions/0066).
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    queue: ClassVar[str]
    version: int = 1

    @field_validator("version")
    @classmethod
    def _readable(cls, version: int) -> int:
        if version > cls.model_fields["version"].default:
            raise PydanticCustomError(_NEWER, "written by a newer release")
        return version


AnyMessage = TypeVar("AnyMessage", bound=Message)


class Poisoned(Exception):
    """A handler of a batch refuses some of its messages, and has handled none of them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__(f"{len(messages)} messages")
        self.messages = messages


class Queues:
    """Plaza's queues in SQS.

    A queue is a courier and never the only memory: every message has a pending mark in the database
    too, where a schedule finds it. So `send` reports a failure and does not raise.
    """

    def __init__(self, prefix: str, client: "SQSClient | None" = None) -> None:
        self._prefix = prefix
        self._client = client
        self._urls: dict[str, str] = {}
        self._lock = threading.Lock()

    def name_of(self, queue: str) -> str:
        """Return the queue's name in SQS."""
        return self._prefix + queue

    def send(self, *messages: Message) -> bool:
        """Send messages, in calls of ten; return whether SQS took every one of them."""
        from botocore.exceptions import BotoCoreError, ClientError

        taken = True
        for queue, batch in _batches(messages):
            try:
                taken &= self._send_batch(queue, batch)
            except (BotoCoreError, ClientError):
                taken = False
                log.warning(
                    "messages not sent; a schedule will send them again",
                    extra={"fields": {"queue": queue, "messages": len(batch)}},
                    exc_info=True,
                )
        return taken

    def _send_batch(self, queue: str, batch: list[Message]) -> bool:
        answer = self._sqs().send_message_batch(
            QueueUrl=self._url(queue),
            Entries=[
                {
                    "Id": str(number),
                    "MessageBody": message.model_dump_json(),
                    "MessageAttributes": _attributes(),
                }
                for number, message in enumerate(batch)
            ],
        )
        refused = answer.get("Failed", [])
        if refused:
            fields = {"queue": queue, "messages": len(refused), "reason": refused[0].get("Code")}
            log.warning("messages refused by SQS", extra={"fields": fields})
        return not refused

    def _url(self, queue: str) -> str:
        if queue not in self._urls:
            answer = self._sqs().get_queue_url(QueueName=self.name_of(queue))
            self._urls[queue] = answer["QueueUrl"]
        return self._urls[queue]

    def _sqs(self) -> "SQSClient":
        """Return the client, made at first use: importing boto3 is most of a cold start."""
        with self._lock:
            if self._client is None:
                import boto3
                from botocore.config import Config

                self._client = boto3.client(
                    "sqs",
                    config=Config(
                        connect_timeout=2,
                        read_timeout=5,
                        retries={"mode": "standard", "max_attempts": 3},
                    ),
                )
            return self._client


def _batches(messages: Iterable[Message]) -> Iterator[tuple[str, list[Message]]]:
    by_queue: dict[str, list[Message]] = {}
    for message in messages:
        by_queue.setdefault(message.queue, []).append(message)
    for queue, waiting in by_queue.items():
        for start in range(0, len(waiting), _MESSAGES_PER_CALL):
            yield queue, waiting[start : start + _MESSAGES_PER_CALL]


def consume(
    event: dict[str, Any],
    messages: TypeAdapter[AnyMessage],
    handle: Callable[[AnyMessage], None],
) -> dict[str, Any]:
    """Handle each record of an SQS event; return the ids of those that failed.

    A record that cannot be parsed fails like one whose handling raised: SQS delivers it
    again and, after MAX_RECEIVES, moves it to the dead letters. The answer has meaning only
    under a mapping with ReportBatchItemFailures; without it every message counts as done.
    """
    started = time.perf_counter()
    records = event["Records"]
    failed = []
    for record in records:
        with logs.bound(correlation_id=_correlation_id(record)):
            try:
                handle(messages.validate_json(record["body"]))
            except Exception as error:  # noqa: BLE001 - one bad message may not fail its batch
                failed.append(_failure(record, error))
    _log_batch(records, failed, started)
    return {"batchItemFailures": failed}


def consume_together(
    event: dict[str, Any],
    messages: TypeAdapter[AnyMessage],
    handle: Callable[[list[AnyMessage]], None],
) -> dict[str, Any]:
    """Handle all records of an SQS event at once; return the ids of those that failed.

    If the handling names the messages at fault (Poisoned), they fail and the others are handled
    again. If it does not, the halves of the batch are handled on their own, and so on: as in
    `consume`, one that cannot be parsed or handled fails alone. In an outage all of them fail.
    """
    started = time.perf_counter()
    records = event["Records"]
    failed, parsed = [], {}
    for record in records:
        try:
            parsed[record["messageId"]] = messages.validate_json(record["body"])
        except ValidationError as error:
            with logs.bound(correlation_id=_correlation_id(record)):
                failed.append(_failure(record, error))
    if parsed:
        failed += [{"itemIdentifier": message_id} for message_id in _unhandled(parsed, handle)]
    _log_batch(records, failed, started)
    return {"batchItemFailures": failed}


def _unhandled(
    batch: dict[str, AnyMessage], handle: Callable[[list[AnyMessage]], None]
) -> list[str]:
    """Handle messages together, in halves after a failure; return the ids of those that failed."""
    try:
        handle(list(batch.values()))
    except Poisoned as error:
        at_fault = {id(message) for message in error.messages}
        failed = [name for name, message in batch.items() if id(message) in at_fault]
        log.exception("messages refused", extra={"fields": {"messages": len(failed)}})
        if not failed:
            return list(batch)
        rest = {name: batch[name] for name in batch.keys() - set(failed)}
        return failed + (_unhandled(rest, handle) if rest else [])
    except Exception as error:  # noqa: BLE001 - what failed is delivered again, whatever the reason
        log.exception("batch failed", extra={"fields": {"messages": len(batch)}})
        if len(batch) == 1 or _is_nobodys_fault(error):
            return list(batch)
        messages = list(batch.items())
        half = len(messages) // 2
        parts = (dict(messages[:half]), dict(messages[half:]))
        return [message_id for part in parts for message_id in _unhandled(part, handle)]
    return []


def _is_nobodys_fault(error: Exception) -> bool:
    """Return whether any message would have failed, so that handling fewer at once is no use."""
    return isinstance(error, Unavailable) or (isinstance(error, PyMongoError) and is_outage(error))


def _failure(record: dict[str, Any], error: Exception) -> dict[str, str]:
    """Log why a record failed; return how a batch's answer names it."""
    fields = {"message_id": record["messageId"]}
    if isinstance(error, ValidationError) and error.errors()[0]["type"] == _NEWER:
        log.warning("message left to a newer release", extra={"fields": fields})
    else:
        log.error("message failed", exc_info=error, extra={"fields": fields})
    return {"itemIdentifier": record["messageId"]}


def _attributes() -> dict[str, Any]:
    """Return a message's attributes: the id of the request that it is sent for."""
    correlation_id = logs.correlation_id()
    if correlation_id is None:
        return {}
    return {_CORRELATION: {"DataType": "String", "StringValue": correlation_id}}


def _correlation_id(record: dict[str, Any]) -> str | None:
    attribute: dict[str, str] = record.get("messageAttributes", {}).get(_CORRELATION, {})
    return attribute.get("stringValue")


def _log_batch(records: list[dict[str, Any]], failed: list[Any], started: float) -> None:
    fields = {
        "queue": str(records[0].get("eventSourceARN", "")).rpartition(":")[2],
        "messages": len(records),
        "failed_messages": len(failed),
        "batch_ms": round((time.perf_counter() - started) * 1000, 1),
    }
    level = logging.WARNING if failed else logging.INFO
    log.log(level, "batch", extra={"fields": fields, "metrics": metrics.BATCH})

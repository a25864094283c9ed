"""Handling of batches of messages: a bad message does not fail the other messages."""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

from bson.errors import BSONError
from pydantic import BaseModel, TypeAdapter, ValidationError
from pymongo.errors import PyMongoError

from chalicelib import deadlines
from chalicelib.database import NotInserted, is_caused_by_data
from chalicelib.errors import Problem
from chalicelib.messaging.queues import CORRELATION, NEWER, AnyMessage, Message
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import log

# A message of Plaza, or the body that another sender puts into a queue.
Received = TypeVar("Received", bound=BaseModel)
# Documents that the database refuses, and failures of code at an unexpected value.
_CAUSED_BY_MESSAGES = (
    *(NotInserted, BSONError, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(RecursionError, TypeError, ValueError),
)
# The least time for a message. With less time left, SQS has to deliver the rest again.
LEAST_MESSAGE_SECONDS = 5.0


class Poisoned(Exception):
    """A handler of a batch refuses these messages, and has handled no message of the batch."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__(f"{len(messages)} messages")
        self.messages = messages


def consume(
    event: dict[str, Any],
    messages: TypeAdapter[Received],
    handle: Callable[[Received], None],
) -> dict[str, Any]:
    """Handle each record of an SQS event; return the ids of failed records.

    A record fails if parsing or handling it raises, or if less than LEAST_MESSAGE_SECONDS remain.
    SQS delivers a failed record again and, after MAX_RECEIVES, moves it to the dead-letter queue.
    The event source mapping needs ReportBatchItemFailures; without it, each record counts as done.
    """
    started = time.perf_counter()
    records = event["Records"]
    failed = []
    for number, record in enumerate(records):
        if deadlines.remaining() < LEAST_MESSAGE_SECONDS:
            failed += _leave([each["messageId"] for each in records[number:]])
            break
        with logs.bind(correlation_id=_correlation_id(record)):
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
    """Handle all records of an SQS event together; return the ids of failed records.

    If the handler raises Poisoned, the named messages fail, and the handler gets the rest again.
    After another error that a message can cause, the handler gets each half of the batch by itself,
    and so on: as in `consume`, a bad message fails alone. After any other error, as in an outage,
    all messages fail at once.
    """
    started = time.perf_counter()
    records = event["Records"]
    failed, parsed = [], {}
    for record in records:
        try:
            parsed[record["messageId"]] = messages.validate_json(record["body"])
        except ValidationError as error:
            with logs.bind(correlation_id=_correlation_id(record)):
                failed.append(_failure(record, error))
    if parsed:
        failed += [
            {"itemIdentifier": message_id} for message_id in _handle_or_halve(parsed, handle)
        ]
    _log_batch(records, failed, started)
    return {"batchItemFailures": failed}


def _handle_or_halve(
    batch: dict[str, AnyMessage], handle: Callable[[list[AnyMessage]], None]
) -> list[str]:
    """Handle messages together, in halves after a failure; return the ids of failed messages."""
    if deadlines.remaining() < LEAST_MESSAGE_SECONDS:
        return [each["itemIdentifier"] for each in _leave(batch)]
    try:
        handle(list(batch.values()))
    except Poisoned as error:
        at_fault = {id(message) for message in error.messages}
        failed = [name for name, message in batch.items() if id(message) in at_fault]
        log.exception("messages refused", extra={"fields": _fields_of(failed)})
        if not failed:
            return list(batch)
        rest = {name: batch[name] for name in batch.keys() - set(failed)}
        return failed + (_handle_or_halve(rest, handle) if rest else [])
    except Exception as error:  # noqa: BLE001 - SQS delivers failed messages again
        log.exception("batch failed", extra={"fields": _fields_of(list(batch))})
        if len(batch) == 1 or not _is_caused_by_a_message(error):
            return list(batch)
        messages = list(batch.items())
        half = len(messages) // 2
        parts = (dict(messages[:half]), dict(messages[half:]))
        return [message_id for part in parts for message_id in _handle_or_halve(part, handle)]
    return []


def _fields_of(message_ids: list[str]) -> dict[str, Any]:
    """Return the log fields of messages that failed together; the ids identify dead letters."""
    return {"messages": len(message_ids), "message_ids": message_ids}


def _is_caused_by_a_message(error: Exception) -> bool:
    """Return whether a message may have caused an error, so that other messages may succeed.

    Without a database, a login, a network or memory, all messages fail.
    """
    if isinstance(error, Problem):
        return error.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if isinstance(error, PyMongoError):
        return is_caused_by_data(error)
    return isinstance(error, _CAUSED_BY_MESSAGES)


def _leave(message_ids: Collection[str]) -> list[dict[str, str]]:
    """Log that no time was left for messages; return their items for `batchItemFailures`."""
    fields = {"messages": len(message_ids)}
    log.warning("messages left to the next delivery", extra={"fields": fields})
    return [{"itemIdentifier": each} for each in message_ids]


def _failure(record: dict[str, Any], error: Exception) -> dict[str, str]:
    """Log a record's failure; return its item for `batchItemFailures`."""
    fields = {"message_id": record["messageId"]}
    if isinstance(error, ValidationError) and error.errors()[0]["type"] == NEWER:
        log.warning("message left to a newer release", extra={"fields": fields})
    else:
        log.error("message failed", exc_info=error, extra={"fields": fields})
    return {"itemIdentifier": record["messageId"]}


def _correlation_id(record: dict[str, Any]) -> str | None:
    attribute: dict[str, str] = record.get("messageAttributes", {}).get(CORRELATION, {})
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

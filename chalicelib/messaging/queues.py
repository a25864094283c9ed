"""Typed messages, and sending them to SQS."""

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, field_validator
from pydantic_core import PydanticCustomError

from chalicelib import deadlines, outgoing
from chalicelib.messaging.outages import QueueOutage
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import log

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import (
        BatchResultErrorEntryTypeDef,
        SendMessageBatchRequestEntryTypeDef,
    )

# SQS accepts at most ten messages a call. The bytes are of the bodies, below the limit of SQS.
_MESSAGES_PER_CALL = 10
_BYTES_PER_CALL = 240_000
# The time to send, retries included: for all sends of a request together, or for each batch
# elsewhere. SQS answers within some 20 ms.
SECONDS = 0.8
# The time-out of a try; it leaves time for a second try after a silently dropped connection.
_TRY_SECONDS = 0.4
# With less time a send may time out, and `QueueOutage` would begin a pause without an outage.
_LEAST_SECONDS = 0.1
_SERVER_ERROR, _TOO_MANY = 500, 429
_THROTTLED = frozenset(
    {
        *("RequestThrottled", "ThrottlingException", "Throttling", "OverLimit"),
        *("KmsThrottled", "KMS.ThrottlingException"),
    }
)
# After this many receives SQS moves a message to the queue's dead-letter queue.
MAX_RECEIVES = 5
DEAD_LETTER_SUFFIX = "-dead"
CORRELATION = "correlation_id"
NEWER = "newer_version"


class Message(BaseModel):
    """A message: its class names the queue, its fields are ids and small numbers.

    During a deployment, workers of two releases read the queue. A new field has a default, and a
    worker of the old release ignores it: the version stays. A change that the old worker could not
    handle raises the class's `version`; the old worker leaves the message to a newer worker
    (docs/decisions/0066).
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    queue: ClassVar[str]
    version: int = 1

    @field_validator("version")
    @classmethod
    def _check_version(cls, version: int) -> int:
        if version > cls.model_fields["version"].default:
            raise PydanticCustomError(NEWER, "written by a newer release")
        return version


AnyMessage = TypeVar("AnyMessage", bound=Message)


class Queues:
    """Plaza's queues in SQS.

    A queue is never the only store of a task. Either a row in the database makes a schedule send
    the message again, or the sender does the work itself after a failure. So `send` returns False
    instead of raising. `seconds` bounds its time as the comment on SECONDS says, but not the
    import of boto3 in a container's first call.
    """

    def __init__(
        self,
        prefix: str,
        client: "SQSClient | None" = None,
        seconds: float = SECONDS,
        way: outgoing.Way | None = None,
    ) -> None:
        self._prefix = prefix
        self._client = client
        self._seconds = seconds
        self._way = way or outgoing.Way()
        self._urls: dict[str, str] = {}
        self._lock = threading.Lock()
        self._outage = QueueOutage()

    def name_of(self, queue: str) -> str:
        """Return the queue's name in SQS."""
        return self._prefix + queue

    def send(self, *messages: Message) -> bool:
        """Send messages, in calls of ten; return whether SQS accepted all of them."""
        taken = True
        for queue, batch in _batches(messages):
            taken &= self._send_batch(queue, batch)
        return taken

    def _send_batch(self, queue: str, batch: list["SendMessageBatchRequestEntryTypeDef"]) -> bool:
        """Send messages, unless in an outage or short of time; return whether SQS accepted all."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            # Outside `aside`: the import of boto3 would use up the time for every send.
            client = self._sqs() if deadlines.patience(self._seconds) >= _LEAST_SECONDS else None
            with deadlines.aside(self._seconds) as seconds:
                if client is None or seconds < _LEAST_SECONDS or not self._outage.may_try():
                    _log_unsent(queue, len(batch), "not tried")
                    return False
                refused = self._way.call(seconds, lambda: self._deliver(client, queue, batch))
        except (BotoCoreError, ClientError, TimeoutError) as error:
            if _may_pass(error):
                self._outage.suspect()
            else:
                self._outage.end()
            _log_unsent(queue, len(batch), type(error).__name__, exc_info=True)
            return False
        self._outage.end()
        if refused:
            _log_unsent(queue, len(refused), refused[0].get("Code"))
        return not refused

    def _deliver(
        self, client: "SQSClient", queue: str, batch: list["SendMessageBatchRequestEntryTypeDef"]
    ) -> list["BatchResultErrorEntryTypeDef"]:
        """Send messages, with a retry after a failure that may pass; return SQS's refusals."""
        from botocore.exceptions import BotoCoreError, ClientError

        began = time.monotonic()
        try:
            refused = self._call(client, queue, batch)
        except (BotoCoreError, ClientError) as error:
            if not _may_pass(error) or time.monotonic() - began > self._seconds:
                raise
            return self._call(client, queue, batch)
        again = {each["Id"] for each in refused if not each.get("SenderFault")}
        if not again:
            return refused
        at_fault = [each for each in refused if each.get("SenderFault")]
        return at_fault + self._call(client, queue, [each for each in batch if each["Id"] in again])

    def _call(
        self, client: "SQSClient", queue: str, batch: list["SendMessageBatchRequestEntryTypeDef"]
    ) -> list["BatchResultErrorEntryTypeDef"]:
        if queue not in self._urls:
            answer = client.get_queue_url(QueueName=self.name_of(queue))
            self._urls[queue] = answer["QueueUrl"]
        sent = client.send_message_batch(QueueUrl=self._urls[queue], Entries=batch)
        return sent.get("Failed", [])

    def _sqs(self) -> "SQSClient":
        """Return the client, made at first use: the import of boto3 is most of a cold start."""
        with self._lock:
            if self._client is None:
                import boto3
                from botocore.config import Config

                self._client = boto3.client(
                    "sqs",
                    config=Config(
                        connect_timeout=_TRY_SECONDS,
                        read_timeout=_TRY_SECONDS,
                        retries={"mode": "standard", "total_max_attempts": 1},
                    ),
                )
            return self._client


def _may_pass(error: Exception) -> bool:
    """Return whether SQS did not answer, failed by its own fault, or throttled the call."""
    response: Any = getattr(error, "response", None)
    if response is None:
        return True
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = response.get("Error", {}).get("Code")
    return status >= _SERVER_ERROR or status == _TOO_MANY or code in _THROTTLED


def _log_unsent(queue: str, messages: int, reason: str | None, *, exc_info: bool = False) -> None:
    """Log unsent messages: a schedule sends them again, or their sender does the work itself."""
    fields = {"queue": queue, "unsent_messages": messages, "reason": reason}
    extra = {"fields": fields, "metrics": metrics.UNSENT}
    log.warning("messages not sent", exc_info=exc_info, extra=extra)


def _batches(
    messages: Iterable[Message],
) -> Iterator[tuple[str, list["SendMessageBatchRequestEntryTypeDef"]]]:
    """Yield (queue, entries) batches, each within the limits of a call."""
    by_queue: dict[str, list[Message]] = {}
    for message in messages:
        by_queue.setdefault(message.queue, []).append(message)
    for queue, waiting in by_queue.items():
        batch: list[SendMessageBatchRequestEntryTypeDef] = []
        size = 0
        for message in waiting:
            body = message.model_dump_json()
            size += len(body.encode())
            if len(batch) == _MESSAGES_PER_CALL or (batch and size > _BYTES_PER_CALL):
                yield queue, batch
                batch, size = [], len(body.encode())
            attributes = _attributes()
            number = str(len(batch))
            batch.append({"Id": number, "MessageBody": body, "MessageAttributes": attributes})
        yield queue, batch


def _attributes() -> dict[str, Any]:
    """Return a message's attributes: the correlation id of the current request."""
    correlation_id = logs.correlation_id()
    if correlation_id is None:
        return {}
    return {CORRELATION: {"DataType": "String", "StringValue": correlation_id}}

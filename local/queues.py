"""SQS's event source mappings: queues made from what the app declares, and their pollers."""

import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chalice.app import Chalice, SQSEventConfig
from chalice.local import LambdaContext

from chalicelib.messaging import DEAD_LETTER_SUFFIX, MAX_RECEIVES
from chalicelib.observability.logs import log
from deploy.declared import declared_queues, timeout_seconds

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

FUNCTION_MEMORY_MB = 256
_MOST_PER_CALL = 10
# The stage whose time-outs hold here too.
_STAGE = "dev"


def create_queues(
    sqs: "SQSClient", app: Chalice, visibility: Callable[[SQSEventConfig], int]
) -> None:
    """Create each declared queue with its dead-letter queue, as the deployed template does.

    `visibility` gives the queue's visibility timeout in seconds.
    """
    for source in declared_queues(app):
        dead = sqs.create_queue(QueueName=f"{source.queue}{DEAD_LETTER_SUFFIX}")["QueueUrl"]
        dead_arn = queue_arn(sqs, dead)
        redrive = {"deadLetterTargetArn": dead_arn, "maxReceiveCount": MAX_RECEIVES}
        sqs.create_queue(
            QueueName=str(source.queue),
            Attributes={
                "VisibilityTimeout": str(visibility(source)),
                "RedrivePolicy": json.dumps(redrive),
            },
        )


def queue_arn(sqs: "SQSClient", url: str) -> str:
    """Return a queue's ARN."""
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return attributes["Attributes"]["QueueArn"]


@dataclass
class Poller:
    """One event source mapping: takes batches from a queue and hands them to its handler."""

    app: Chalice
    sqs: "SQSClient"
    source: SQSEventConfig
    _url: str = field(init=False)
    _arn: str = field(init=False)

    def __post_init__(self) -> None:
        self._url = self.sqs.get_queue_url(QueueName=str(self.source.queue))["QueueUrl"]
        self._arn = queue_arn(self.sqs, self._url)

    def run(self, stop: threading.Event) -> None:
        """Poll until told to stop; an outage of the queue is logged and waited out."""
        while not stop.is_set():
            try:
                self.poll_once(wait_seconds=1)
            except Exception:  # noqa: BLE001 - a poller outlives any one failure
                if not stop.is_set():
                    log.exception("poller failed", extra={"fields": {"queue": self.source.queue}})
                stop.wait(1)

    def poll_once(self, wait_seconds: int = 0) -> int:
        """Deliver one batch; return how many messages were received.

        Messages that the handler does not name as failed are deleted; the others come back
        after their visibility timeout. A handler that raises fails its whole batch.
        """
        messages = self._receive(wait_seconds)
        if messages:
            event = {"Records": [self._record(message) for message in messages]}
            failed = self._invoke(event)
            self._delete([each for each in messages if each["MessageId"] not in failed])
        return len(messages)

    def _delete(self, done: list[Any]) -> None:
        for start in range(0, len(done), _MOST_PER_CALL):
            part = done[start : start + _MOST_PER_CALL]
            self.sqs.delete_message_batch(
                QueueUrl=self._url,
                Entries=[
                    {"Id": str(number), "ReceiptHandle": each["ReceiptHandle"]}
                    for number, each in enumerate(part)
                ],
            )

    def _receive(self, wait_seconds: int) -> list[Any]:
        """Receive up to a batch, while messages come and the window is open."""
        window_ends = time.monotonic() + self.source.maximum_batching_window_in_seconds
        messages: list[Any] = []
        while len(messages) < self.source.batch_size:
            room = min(_MOST_PER_CALL, self.source.batch_size - len(messages))
            received = self.sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=room,
                WaitTimeSeconds=_wait(window_ends) if messages else wait_seconds,
                AttributeNames=["All"],
                MessageAttributeNames=["All"],
            ).get("Messages", [])
            messages += received
            window_is_over = not messages or time.monotonic() >= window_ends
            if len(received) < room and window_is_over:
                break
        return messages

    def _record(self, message: "Mapping[str, Any]") -> dict[str, Any]:
        """Return a message in the shape that Lambda hands to a function."""
        return {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message.get("Attributes", {}),
            "messageAttributes": {
                name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
                for name, value in message.get("MessageAttributes", {}).items()
            },
            "md5OfBody": message["MD5OfBody"],
            "eventSource": "aws:sqs",
            "eventSourceARN": self._arn,
            "awsRegion": self._arn.split(":")[3],
        }

    def _invoke(self, event: dict[str, Any]) -> set[str]:
        """Call the handler; return the ids of the messages that it did not finish."""
        everything = {record["messageId"] for record in event["Records"]}
        handler = self.app.handler_map[self.source.name]
        try:
            answer = handler(event, lambda_context(self.source.name))
        except Exception:  # noqa: BLE001 - Lambda counts any exception as a failed batch
            log.exception("worker failed", extra={"fields": {"queue": self.source.queue}})
            return everything
        failed = {item["itemIdentifier"] for item in (answer or {}).get("batchItemFailures", [])}
        return failed if failed.issubset(everything) else everything


def lambda_context(name: str) -> LambdaContext:
    """Return the context of a function's invocation, with the function's time-out."""
    milliseconds = timeout_seconds(name, _STAGE) * 1000
    return LambdaContext(name, FUNCTION_MEMORY_MB, max_runtime_ms=milliseconds)


def _wait(window_ends: float) -> int:
    """Return how long to wait for more of a batch, in SQS's whole seconds."""
    return min(1, math.ceil(max(0.0, window_ends - time.monotonic())))

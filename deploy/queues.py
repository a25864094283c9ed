"""The queues, their dead letters, and what the workers' mappings lack in Chalice's template."""

from typing import Any

from chalicelib.queues import DEAD_LETTER_SUFFIX, MAX_RECEIVES
from deploy.declared import Worker, visibility_timeout_seconds
from deploy.intrinsics import NO_VALUE, attribute, reference, when

DEAD_LETTERS_KEPT_SECONDS = 14 * 24 * 3_600
# What is in a queue may be the only copy of it, so no change of the stack throws it away.
_KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
_ENCRYPTED = {
    "SqsManagedSseEnabled": when("HasKey", NO_VALUE, otherwise=True),
    "KmsMasterKeyId": when("HasKey", reference("KmsKeyArn")),
}


def queue_id(worker: Worker) -> str:
    """Return the logical id of the queue that a worker reads."""
    return f"{worker.resource}Queue"


def dead_letters_id(worker: Worker) -> str:
    """Return the logical id of the queue of the messages that a worker failed at."""
    return f"{worker.resource}DeadLetters"


def concurrency_parameter(worker: Worker) -> str:
    """Return the name of the parameter that says how many of a worker run at once."""
    return f"{worker.resource}Concurrency"


def queue_resources(worker: Worker, stage: str) -> dict[str, Any]:
    """Return a worker's queue and its dead letters."""
    return {
        queue_id(worker): {
            "Type": "AWS::SQS::Queue",
            **_KEPT,
            "Properties": {
                "QueueName": worker.source.queue,
                "VisibilityTimeout": visibility_timeout_seconds(worker.source, stage),
                "RedrivePolicy": {
                    "deadLetterTargetArn": attribute(dead_letters_id(worker)),
                    "maxReceiveCount": MAX_RECEIVES,
                },
                **_ENCRYPTED,
            },
        },
        dead_letters_id(worker): {
            "Type": "AWS::SQS::Queue",
            **_KEPT,
            "Properties": {
                "QueueName": f"{worker.source.queue}{DEAD_LETTER_SUFFIX}",
                "MessageRetentionPeriod": DEAD_LETTERS_KEPT_SECONDS,
                **_ENCRYPTED,
            },
        },
    }


def mapping_properties(worker: Worker) -> dict[str, Any]:
    """Return what Chalice leaves out of a worker's event source mapping."""
    return {
        # Without it, the messages that a handler reports as failed are lost.
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "ScalingConfig": {"MaximumConcurrency": reference(concurrency_parameter(worker))},
    }

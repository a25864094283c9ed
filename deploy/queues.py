"""Queues, dead letters, and the settings that Chalice leaves out of the workers' mappings."""

from typing import Any

from chalicelib.messaging import DEAD_LETTER_SUFFIX, MAX_RECEIVES
from deploy.declared import Worker, visibility_timeout_seconds
from deploy.intrinsics import NO_VALUE, attribute, reference, when

# The logical id of the queue of schedule runs that failed or that Lambda dropped.
FAILED_SCHEDULES = "FailedSchedules"
# The worker of letters; the logical ids of its queue, and of the topic that sends events there.
MAIL_WORKER = "send_letters"
MAIL_QUEUE = "SendLettersQueue"
MAIL_TOPIC = "MailEvents"
# SQS's maximum, also for dead letters: only the queues store hits and ad events. The time of a dead
# letter runs from the first send of its message.
KEPT_SECONDS = 14 * 24 * 3_600
# A queue may hold the only copy of a message, so no change of the stack deletes it.
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
    """Return the name of the parameter for a worker's concurrency."""
    return f"{worker.resource}Concurrency"


def queue_resources(worker: Worker, stage: str) -> dict[str, Any]:
    """Return a worker's queue and its dead letters."""
    redrive = {
        "deadLetterTargetArn": attribute(dead_letters_id(worker)),
        "maxReceiveCount": MAX_RECEIVES,
    }
    return {
        **_queue(
            queue_id(worker),
            _further_statements(worker),
            QueueName=worker.source.queue,
            VisibilityTimeout=visibility_timeout_seconds(worker.source, stage),
            RedrivePolicy=redrive,
        ),
        **_dead_letters(dead_letters_id(worker), f"{worker.source.queue}{DEAD_LETTER_SUFFIX}"),
    }


def failed_schedules(prefix: str) -> dict[str, Any]:
    """Return the queue of failed schedule runs; `prefix` begins the queues' names."""
    return _dead_letters(FAILED_SCHEDULES, f"{prefix}failed-schedules")


def _dead_letters(name: str, queue_name: str) -> dict[str, Any]:
    return _queue(name, [], QueueName=queue_name)


def _further_statements(worker: Worker) -> list[Any]:
    """Return the statements of a queue's policy that let SNS send to it."""
    if worker.name != MAIL_WORKER:
        return []
    tells = {
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": attribute(queue_id(worker)),
        "Condition": {"ArnEquals": {"aws:SourceArn": reference(MAIL_TOPIC)}},
    }
    return [when("SendsMail", tells)]


def _queue(name: str, further: list[Any], **properties: Any) -> dict[str, Any]:
    """Return an encrypted queue that accepts only TLS."""
    plain = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": attribute(name),
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    policy = {"Version": "2012-10-17", "Statement": [plain, *further]}
    return {
        name: {
            "Type": "AWS::SQS::Queue",
            **_KEPT,
            "Properties": {**properties, "MessageRetentionPeriod": KEPT_SECONDS, **_ENCRYPTED},
        },
        f"{name}Policy": {
            "Type": "AWS::SQS::QueuePolicy",
            "Properties": {"Queues": [reference(name)], "PolicyDocument": policy},
        },
    }


def mapping_properties(worker: Worker) -> dict[str, Any]:
    """Return the properties that Chalice leaves out of a worker's event source mapping."""
    return {
        # Without it, the messages that a handler reports as failed are lost.
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "ScalingConfig": {"MaximumConcurrency": reference(concurrency_parameter(worker))},
    }

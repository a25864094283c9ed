"""Permissions of each function in AWS: its own log and queue, and the queues it sends to.

The secrets need no permission: CloudFormation reads them when it deploys (docs/decisions/0005).
"""

from typing import Any

from chalicelib.ads.tracking.events import AdEvent
from chalicelib.analytics.hits import Hits
from chalicelib.assets.promotion import MoveAssets
from chalicelib.comments.batches.running import RunBatch
from chalicelib.comments.spam_check.origins import CheckSpam
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.content.publishing.discussions import TellDiscussion
from chalicelib.mail.messages import SendLetter
from chalicelib.marks.messages import CountMark
from chalicelib.messaging import Message, Queues
from chalicelib.notifications.events import Notify
from chalicelib.notifications.push_rows import SendPush
from chalicelib.people.jobs import Erase
from chalicelib.shop.categories.messages import Relist
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.social.messages import (
    BackFill,
    Deliver,
    NotifyFeed,
    NotifyWatchers,
    Propagate,
    Rerank,
)
from chalicelib.webhooks.messages import SendEvent
from deploy.assets import USERS, bucket_statements
from deploy.declared import Function, Scheduled, Worker
from deploy.functions import log_group_id
from deploy.intrinsics import attribute, filled, reference, when
from deploy.mail import sending_statements
from deploy.queues import FAILED_SCHEDULES, MAIL_WORKER, queue_id

# One message of each queue that a function sends to; functions without an entry send nothing. AWS
# refuses every other send, and so does the SQS of the tests (tests/support/sending.py).
SENDS: dict[str, tuple[type[Message], ...]] = {
    "api_handler": (
        *(Deliver, Propagate, BackFill, Rerank),
        *(MoveNode, MoveAssets, AdEvent, Hits, TellDiscussion, Relist, ResumeOrder, CountMark),
        *(RunBatch, CheckSpam, SendLetter, RunTransfer, SendEvent),
    ),
    "fan_out": (Deliver, NotifyFeed, NotifyWatchers),
    "activity_feed": (Rerank,),
    "social_errands": (Propagate, Erase, Rerank, NotifyWatchers, SendEvent),
    "move_nodes": (RunTransfer,),
    "run_batches": (RunBatch, CheckSpam, Notify),
    "social_schedules": (
        *(Deliver, Propagate, BackFill, Rerank, CountMark, SendLetter, SendEvent, SendPush),
    ),
    "comments_schedules": (
        *(MoveNode, RunTransfer, RunBatch, CheckSpam, Notify, SendEvent, SendLetter),
    ),
    "content": (Notify,),
    "assets_schedules": (MoveAssets,),
    "content_schedules": (TellDiscussion, SendEvent),
    "shop_schedules": (Relist, ResumeOrder, SendEvent),
    "command": (Notify,),
}

_INTERFACES = filled(
    "arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaENIManagementAccess"
)


def role_properties(function: Function, workers: list[Worker], prefix: str) -> dict[str, Any]:
    """Return the policies of a function's role; `prefix` begins the queues' names."""
    own = _policy("Work", _statements(function, receivers(function, workers, prefix)))
    key = _policy("Key", [_allow(["kms:Decrypt", "kms:GenerateDataKey"], reference("KmsKeyArn"))])
    return {
        "Policies": when("HasKey", [own, key], otherwise=[own]),
        "ManagedPolicyArns": when("InVpc", [_INTERFACES]),
    }


def receivers(function: Function, workers: list[Worker], prefix: str) -> list[Worker]:
    """Return the workers whose queues a function sends to."""
    name_of = Queues(prefix).name_of
    queues = {name_of(message.queue) for message in SENDS.get(function.name, ())}
    return [each for each in workers if each.source.queue in queues]


def _statements(function: Function, sends_to: list[Worker]) -> list[dict[str, Any]]:
    log = attribute(log_group_id(function))
    statements = [
        _allow(["logs:CreateLogStream", "logs:PutLogEvents"], log),
        # X-Ray's actions take no resource.
        _allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*"),
    ]
    if isinstance(function, Worker):
        receive = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
        statements.append(_allow(receive, attribute(queue_id(function))))
    if isinstance(function, Scheduled):
        statements.append(_allow(["sqs:SendMessage"], attribute(FAILED_SCHEDULES)))
    if sends_to:
        queues = [attribute(queue_id(worker)) for worker in sends_to]
        statements.append(_allow(["sqs:GetQueueUrl", "sqs:SendMessage"], queues))
    if function.name in USERS:
        statements += bucket_statements()
    if function.name == MAIL_WORKER:
        statements += sending_statements()
    return statements


def _allow(actions: list[str], resource: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resource}


def _policy(name: str, statements: list[dict[str, Any]]) -> dict[str, Any]:
    document = {"Version": "2012-10-17", "Statement": statements}
    return {"PolicyName": name, "PolicyDocument": document}

"""CloudWatch metrics embedded in log lines: metric fields, units and dimensions.

A line in CloudWatch's embedded metric format is a log line with a member `_aws`. CloudWatch
extracts metrics from it as it ingests the log. So the line of a request or batch also has its
metrics, without a further call (docs/decisions/0067).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Unit = Literal["Count", "Milliseconds", "Seconds", "Bytes"]


@dataclass(frozen=True)
class Metrics:
    """The metric fields of a line, and the dimensions of their series.

    `units` has the unit of each metric. Each set of fields in `dimensions` makes a series for each
    combination of their values; the empty set makes a series of all lines. CloudWatch charges by
    the series, so a dimension has tens of values and is never an id.
    """

    units: Mapping[str, Unit]
    dimensions: tuple[tuple[str, ...], ...] = ((),)


REQUEST = Metrics(
    {"request_ms": "Milliseconds"}, dimensions=(("method", "route"), ("status_class",), ())
)
BATCH = Metrics(
    {"batch_ms": "Milliseconds", "messages": "Count", "failed_messages": "Count"},
    dimensions=(("queue",),),
)
# Messages that SQS did not accept: a schedule sends them again, or their sender did the work.
UNSENT = Metrics({"unsent_messages": "Count"}, dimensions=(("queue",), ()))
# Overdue work by collection: the documents that a sweep found, and their longest wait.
OWED = Metrics({"owed": "Count", "owed_seconds": "Seconds"}, dimensions=(("work",), ()))
SCHEDULE = Metrics({"schedule_ms": "Milliseconds"}, dimensions=(("schedule",),))
FAN_OUTS_FAILED = Metrics({"fan_outs_failed": "Count"})
DELIVERIES = Metrics({"deliveries": "Count"})
AD_EVENTS = Metrics({"ad_events": "Count", "unpaid_ad_events": "Count"})
HITS = Metrics({"hits_taken": "Count", "hits_counted": "Count"})
COLLECTION_SIZE = Metrics(
    {"documents": "Count", "data_bytes": "Bytes", "disk_bytes": "Bytes", "index_bytes": "Bytes"},
    dimensions=(("collection",),),
)

# The comments that wait for a moderator, counted over all sites, and their longest wait.
WAITING = Metrics(
    {"waiting_comments": "Count", "waiting_seconds": "Seconds"}, dimensions=(("queue",),)
)
# Payments that came after their order had ended, and are refunded.
LATE_PAYMENTS = Metrics({"late_payments": "Count"})
# Refunds that a provider accepted and then failed.
REFUNDS_FAILED = Metrics({"refunds_failed": "Count"})
# Payments that a buyer's bank has taken back.
DISPUTES = Metrics({"disputes": "Count"})
# Letters by outcome. Refused: SES rejected the letter, or its receiver takes no mail. Given up: no
# answer shows whether SES has the letter, or the letter waited too long.
LETTERS = Metrics(
    {"letters_sent": "Count", "letters_refused": "Count", "letters_given_up": "Count"}
)
# Webhooks that Plaza has switched off.
HOOKS_STOPPED = Metrics({"webhooks_stopped": "Count"})
# Letters that bounced, and letters that their receivers reported as spam.
MAIL_EVENTS = Metrics({"letters_bounced": "Count", "letters_complained_of": "Count"})
# Push messages by outcome. Refused: as a rule, the deployment's keys are wrong. Gone: the
# subscription has ended. Given up: no answer shows whether the service has the message, or the
# service never accepted the message.
PUSHES = Metrics(
    {
        "pushes_sent": "Count",
        "pushes_refused": "Count",
        "pushes_gone": "Count",
        "pushes_given_up": "Count",
    }
)

ALL = (
    REQUEST,
    BATCH,
    UNSENT,
    OWED,
    SCHEDULE,
    FAN_OUTS_FAILED,
    DELIVERIES,
    AD_EVENTS,
    HITS,
    COLLECTION_SIZE,
    WAITING,
    LATE_PAYMENTS,
    REFUNDS_FAILED,
    DISPUTES,
    LETTERS,
    HOOKS_STOPPED,
    MAIL_EVENTS,
    PUSHES,
)

"""The alarms; docs/operations/alarms.md says what each of them means and asks for."""

from collections.abc import Iterator
from typing import Any

from chalice.utils import to_cfn_resource_name

from chalicelib.observability.metrics import (
    AD_EVENTS,
    BATCH,
    DISPUTES,
    FAN_OUTS_FAILED,
    HOOKS_STOPPED,
    LATE_PAYMENTS,
    LETTERS,
    OWED,
    PUSHES,
    REFUNDS_FAILED,
    UNSENT,
)
from deploy.api import API_NAME
from deploy.declared import Command, Function, Scheduled, Worker, seconds_between, title_of
from deploy.intrinsics import attribute, filled, reference, when
from deploy.queues import dead_letters_id, queue_id

_PERIOD_SECONDS = 300
_HOUR_SECONDS = 3_600
_RUNS_MISSED = 3
_NEAR_TIMEOUT_SHARE = 0.8
_FAILING_SHARE = 0.01
_UNPAID_SHARE = 0.01


def alarms(functions: list[Function], namespace: str) -> dict[str, Any]:
    """Return all alarms; Plaza's own metrics are in `namespace`.

    A command has no alarm: its caller sees the answer.
    """
    found = dict(_api_alarms())
    for function in functions:
        if isinstance(function, Worker):
            found |= dict(_queue_alarms(function))
        if isinstance(function, Scheduled):
            found |= dict(_schedule_alarms(function))
        if not isinstance(function, Command):
            found |= dict(_function_alarms(function))
    return found | dict(_own_alarms(namespace))


def _api_alarms() -> Iterator[tuple[str, Any]]:
    # The gateway counts every failure that a caller saw, whatever the cause.
    failures = _metric("AWS/ApiGateway", "5XXError", "Average", ApiName=API_NAME)
    latency = _metric("AWS/ApiGateway", "Latency", "p99", ApiName=API_NAME)
    yield _alarm("api", "failing", failures, Threshold=_FAILING_SHARE, EvaluationPeriods=2)
    slow = reference("ApiSlowMilliseconds")
    yield _alarm("api", "slow", latency, Threshold=slow, EvaluationPeriods=3)


def _queue_alarms(worker: Worker) -> Iterator[tuple[str, Any]]:
    dead, queue = (
        attribute(name, "QueueName") for name in (dead_letters_id(worker), queue_id(worker))
    )
    visible = _metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", QueueName=dead)
    age = _metric("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", QueueName=queue)
    yield _alarm(worker.title, "dead-letters", visible, Threshold=0)
    oldest = reference("OldestMessageSeconds")
    yield _alarm(worker.title, "oldest-message", age, Threshold=oldest)


def _schedule_alarms(function: Scheduled) -> Iterator[tuple[str, Any]]:
    for schedule in function.schedules:
        rule = reference(function.rule(schedule))
        yield _alarm(
            title_of(schedule.name),
            "missed",
            _metric("AWS/Events", "Invocations", "Sum", RuleName=rule),
            Period=seconds_between(schedule),
            EvaluationPeriods=_RUNS_MISSED,
            ComparisonOperator="LessThanThreshold",
            Threshold=1,
            TreatMissingData="breaching",
        )


def _function_alarms(function: Function) -> Iterator[tuple[str, Any]]:
    # The period spans the longest rate, so that it contains a run of each schedule.
    schedules = function.schedules if isinstance(function, Scheduled) else ()
    period = max(_PERIOD_SECONDS, *map(seconds_between, schedules), 0)
    name = reference(function.resource)
    for metric in ("Errors", "Throttles"):
        count = _metric("AWS/Lambda", metric, "Sum", FunctionName=name)
        yield _alarm(function.title, metric.lower(), count, Threshold=0, Period=period)
    # A p99 would hide a rare schedule: less than a hundredth of its function's runs.
    longest = "Maximum" if schedules else "p99"
    duration = _metric("AWS/Lambda", "Duration", longest, FunctionName=name)
    near_ms = _NEAR_TIMEOUT_SHARE * function.timeout_seconds * 1000
    yield _alarm(function.title, "near-timeout", duration, Threshold=near_ms, Period=period)


def _own_alarms(namespace: str) -> Iterator[tuple[str, Any]]:
    (failed,) = FAN_OUTS_FAILED.units
    yield _alarm("fan-outs", "given-up", _metric(namespace, failed, "Sum"), Threshold=0)
    (unsent,) = UNSENT.units
    # A single failed call needs no alarm: a schedule sends its messages again, or their sender does
    # the work itself.
    yield _alarm(
        "queues",
        "unsent",
        _metric(namespace, unsent, "Sum"),
        Threshold=0,
        EvaluationPeriods=2,
    )
    # A single failed message needs no alarm: as a rule, its next delivery succeeds.
    yield _alarm("queues", "failed-messages", _failed(namespace), Threshold=0, EvaluationPeriods=3)
    _, waited = OWED.units
    # A document without a worker is found after 31 minutes, and then every 32.
    longest = {**_metric(namespace, waited, "Maximum"), "Period": _HOUR_SECONDS}
    yield _alarm("work", "owed", longest, Threshold=_HOUR_SECONDS)
    (late,) = LATE_PAYMENTS.units
    yield _alarm("orders", "paid-late", _metric(namespace, late, "Sum"), Threshold=0)
    *_, given_up = LETTERS.units
    yield _alarm("letters", "not-sent", _metric(namespace, given_up, "Sum"), Threshold=0)
    (stopped,) = HOOKS_STOPPED.units
    yield _alarm("webhooks", "stopped", _metric(namespace, stopped, "Sum"), Threshold=0)
    _, refused, *_ = PUSHES.units
    yield _alarm("pushes", "refused", _metric(namespace, refused, "Sum"), Threshold=0)
    (came_back,) = REFUNDS_FAILED.units
    yield _alarm("refunds", "came-back", _metric(namespace, came_back, "Sum"), Threshold=0)
    (disputed,) = DISPUTES.units
    yield _alarm("payments", "disputed", _metric(namespace, disputed, "Sum"), Threshold=0)
    total, unpaid = AD_EVENTS.units
    share = {"Id": "share", "Expression": "unpaid / total", "Label": "Share of unpaid ad events"}
    parts = [_part("total", namespace, total), _part("unpaid", namespace, unpaid)]
    yield _alarm("ad-events", "unpaid", {"Metrics": [share, *parts]}, Threshold=_UNPAID_SHARE)


def _failed(namespace: str) -> dict[str, Any]:
    """Return a query that sums the queues' failed messages: a series of all would cost extra."""
    ((queue,),), (*_, failed) = BATCH.dimensions, BATCH.units
    query = f'SELECT SUM({failed}) FROM SCHEMA("{namespace}", {queue})'  # noqa: S608 - no SQL, and no caller's input
    return {"Metrics": [{"Id": "failed", "Expression": query, "Period": _PERIOD_SECONDS}]}


def _metric(namespace: str, name: str, statistic: str, **dimensions: Any) -> dict[str, Any]:
    kind = "ExtendedStatistic" if statistic.startswith("p") else "Statistic"
    return {
        "Namespace": namespace,
        "MetricName": name,
        kind: statistic,
        "Period": _PERIOD_SECONDS,
        "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
    }


def _part(name: str, namespace: str, metric: str) -> dict[str, Any]:
    """Return a query of a metric's hourly sum, as a term of an expression."""
    return {
        "Id": name,
        "ReturnData": False,
        "MetricStat": {
            "Metric": {"Namespace": namespace, "MetricName": metric},
            "Period": _HOUR_SECONDS,
            "Stat": "Sum",
        },
    }


def _alarm(
    subject: str, kind: str, metric: dict[str, Any], **properties: Any
) -> tuple[str, dict[str, Any]]:
    """Return an alarm by its logical id; `kind` is its heading in docs/operations/alarms.md."""
    actions = when("HasAlarmTopic", [reference("AlarmTopicArn")])
    return f"Alarm{to_cfn_resource_name(f'{subject}-{kind}')}", {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            # Not release 0.3.0's name: its alarms go after these have come.
            "AlarmName": filled(f"${{AWS::StackName}}/{subject}-{kind}"),
            "AlarmDescription": f"docs/operations/alarms.md#{kind}",
            "AlarmActions": actions,
            "OKActions": actions,
            "EvaluationPeriods": 1,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": "notBreaching",
            **metric,
            **properties,
        },
    }

"""A deployment's dashboard in CloudWatch: alarms, requests, functions, schedules and queues."""

import json
from collections.abc import Mapping
from typing import Any

from chalicelib.observability.metrics import (
    AD_EVENTS,
    BATCH,
    DELIVERIES,
    FAN_OUTS_FAILED,
    REQUEST,
    SCHEDULE,
    UNSENT,
)
from deploy.declared import Function, Scheduled, Worker
from deploy.intrinsics import filled
from deploy.queues import FAILED_SCHEDULES, dead_letters_id, queue_id

# CloudWatch's grid is 24 wide.
_WIDTH = 12
_HEIGHT = 6
# A widget takes no more than 100 alarms.
_LISTED = 60
Series = list[Any]
# Not release 0.3.0's name: CloudFormation makes this dashboard before it deletes that one.
DASHBOARD_NAME = "${AWS::StackName}-overview"


def dashboard(
    functions: list[Function], alarms: Mapping[str, Any], namespace: str
) -> dict[str, Any]:
    """Return the dashboard of these functions and alarms."""
    charts = [
        _chart("Requests", "Sum", _api("Count"), _api("4XXError"), _api("5XXError")),
        _chart("Latency, p99 (ms)", "p99", _api("Latency"), _api("IntegrationLatency")),
        _chart(
            "Requests by outcome",
            "SampleCount",
            *([namespace, *REQUEST.units, "status_class", f"{digit}xx"] for digit in range(2, 6)),
        ),
        _chart(
            "Feeds and ads",
            "Sum",
            *(
                [namespace, name]
                for metrics in (DELIVERIES, FAN_OUTS_FAILED, AD_EVENTS, UNSENT)
                for name in metrics.units
            ),
        ),
        _chart("Concurrent executions", "Maximum", *_lambda(functions, "ConcurrentExecutions")),
        _chart("Duration, p99 (ms)", "p99", *_lambda(functions, "Duration")),
        # Only runs that succeeded; the chart above has all runs of each function.
        _chart(
            "Schedules, p99 (ms)",
            "p99",
            *(
                [namespace, *SCHEDULE.units, "schedule", schedule.name]
                for function in functions
                if isinstance(function, Scheduled)
                for schedule in function.schedules
            ),
        ),
        _chart("Errors", "Sum", *_lambda(functions, "Errors")),
        _chart("Throttles", "Sum", *_lambda(functions, "Throttles")),
        *_queue_charts([each for each in functions if isinstance(each, Worker)], namespace),
    ]
    names = [each["Properties"]["AlarmName"]["Fn::Sub"] for each in alarms.values()]
    lists = _alarm_lists(names)
    body = {"widgets": [*lists, *_placed(charts, rows=len(lists))]}
    return {
        "Type": "AWS::CloudWatch::Dashboard",
        "Properties": {
            "DashboardName": filled(DASHBOARD_NAME),
            "DashboardBody": filled(json.dumps(body)),
        },
    }


def _queue_charts(workers: list[Worker], namespace: str) -> list[dict[str, Any]]:
    *_, failed = BATCH.units
    queues = [queue_id(worker) for worker in workers]
    dead = [*(dead_letters_id(worker) for worker in workers), FAILED_SCHEDULES]
    visible, age = "ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"
    return [
        _chart("Messages waiting", "Maximum", *_sqs(queues, visible)),
        _chart("Age of the oldest message (s)", "Maximum", *_sqs(queues, age)),
        _chart("Messages sent", "Sum", *_sqs(queues, "NumberOfMessagesSent")),
        _chart(
            "Failed messages",
            "Sum",
            *([namespace, failed, "queue", f"${{{queue}.QueueName}}"] for queue in queues),
        ),
        _chart("Dead letters", "Maximum", *_sqs(dead, visible)),
    ]


def _api(metric: str) -> Series:
    return ["AWS/ApiGateway", metric, "ApiName", "${AWS::StackName}"]


def _lambda(functions: list[Function], metric: str) -> list[Series]:
    return [
        ["AWS/Lambda", metric, "FunctionName", f"${{{each.resource}}}", {"label": each.title}]
        for each in functions
    ]


def _sqs(queues: list[str], metric: str) -> list[Series]:
    return [["AWS/SQS", metric, "QueueName", f"${{{queue}.QueueName}}"] for queue in queues]


def _chart(title: str, statistic: str, *series: Series) -> dict[str, Any]:
    return {
        "type": "metric",
        "width": _WIDTH,
        "height": _HEIGHT,
        "properties": {
            "title": title,
            "stat": statistic,
            "period": 60,
            "region": "${AWS::Region}",
            "metrics": list(series),
        },
    }


def _alarm_lists(names: list[str]) -> list[dict[str, Any]]:
    prefix = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:"
    parts = [names[start : start + _LISTED] for start in range(0, len(names), _LISTED)]
    return [
        {
            "type": "alarm",
            "x": 0,
            "y": _HEIGHT * row,
            "width": 2 * _WIDTH,
            "height": _HEIGHT,
            "properties": {"title": "Alarms", "alarms": [prefix + name for name in part]},
        }
        for row, part in enumerate(parts)
    ]


def _placed(charts: list[dict[str, Any]], rows: int) -> list[dict[str, Any]]:
    """Lay the charts in two columns below some rows of alarms."""
    return [
        {**chart, "x": (number % 2) * _WIDTH, "y": _HEIGHT * (rows + number // 2)}
        for number, chart in enumerate(charts)
    ]

"""Functions beyond Chalice's template: log, network, and concurrency."""

import json
from datetime import timedelta
from typing import Any

from chalice.utils import to_cfn_resource_name

from chalicelib.jobs.schedules import ScheduledJob, event_of
from deploy.declared import Api, Function, Scheduled, Worker, seconds_between
from deploy.intrinsics import NO_VALUE, attribute, reference, when
from deploy.parameters import (
    ASKING,
    CARRYING,
    IMPORTING,
    NOTIFYING,
    PAYING,
    PUSHING,
    api_variables,
    import_variables,
    notifier_variables,
    payment_variables,
    push_variables,
    sender_variables,
    signature_variables,
    spam_variables,
)
from deploy.queues import (
    FAILED_SCHEDULES,
    MAIL_WORKER,
    concurrency_parameter,
    mapping_properties,
    queue_id,
)

# Lambda keeps an event for a minute at least and six hours at most.
_LEAST_EVENT_AGE_SECONDS, _MOST_EVENT_AGE_SECONDS = 60, 6 * 3_600


def log_group_id(function: Function) -> str:
    """Return the logical id of a function's log group."""
    return f"{function.resource}Log"


def log_group(function: Function) -> dict[str, Any]:
    """Return a function's log group."""
    return {log_group_id(function): retained_log()}


def retained_log() -> dict[str, Any]:
    """Return a log group that outlasts the stack; its lines expire."""
    return {
        "Type": "AWS::Logs::LogGroup",
        "DeletionPolicy": "RetainExceptOnCreate",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "RetentionInDays": reference("LogRetentionDays"),
            "KmsKeyId": when("HasKey", reference("KmsKeyArn")),
        },
    }


def function_additions(function: Function) -> dict[str, Any]:
    """Return the properties that are merged into a function's resource."""
    properties: dict[str, Any] = {
        "LoggingConfig": {"LogGroup": reference(log_group_id(function))},
        "KmsKeyArn": when("HasKey", reference("KmsKeyArn")),
        "CodeSigningConfigArn": when("ChecksSignature", reference("CodeSigningConfigArn")),
        "VpcConfig": when(
            "InVpc",
            {
                "SubnetIds": reference("SubnetIds"),
                "SecurityGroupIds": reference("SecurityGroupIds"),
            },
        ),
        "ReservedConcurrentExecutions": _reserved(function),
    }
    if isinstance(function, Api):
        properties["MemorySize"] = reference("ApiMemoryMegabytes")
    if variables := _own_variables(function):
        properties["Environment"] = {"Variables": variables}
    if isinstance(function, Scheduled):
        properties |= _clock(function)
    if not isinstance(function, Worker):
        return {"Properties": properties}
    event = {"Properties": mapping_properties(function)}
    properties["Events"] = {f"{function.resource}SqsEventSource": event}
    # The mapping names its queue by a constructed ARN, which creates no dependency.
    return {"DependsOn": [queue_id(function)], "Properties": properties}


def _own_variables(function: Function) -> dict[str, Any]:
    """Return the variables that a function has beside the shared ones."""
    if isinstance(function, Api):
        return api_variables()
    makers = (
        (PAYING, payment_variables),
        (IMPORTING, import_variables),
        (NOTIFYING, notifier_variables),
        (CARRYING, signature_variables),
        (ASKING, spam_variables),
        (PUSHING, push_variables),
        ({MAIL_WORKER}, sender_variables),
    )
    made = [make() for names, make in makers if function.name in names]
    return {name: value for variables in made for name, value in variables.items()}


def _clock(function: Scheduled) -> dict[str, Any]:
    """Return the rules of a function's schedules, and the settings of runs that fail.

    Lambda retries no run: the next run does the work. Runs that failed or never began go to a
    queue for inspection. A run waits at most as long as the shortest rate, so few runs wait.
    """
    age = min(seconds_between(each) for each in function.schedules)
    return {
        "Events": {to_cfn_resource_name(each.name): _rule(each) for each in function.schedules},
        "EventInvokeConfig": {
            "DestinationConfig": {
                "OnFailure": {"Type": "SQS", "Destination": attribute(FAILED_SCHEDULES)}
            },
            "MaximumRetryAttempts": 0,
            "MaximumEventAgeInSeconds": min(
                max(_LEAST_EVENT_AGE_SECONDS, age), _MOST_EVENT_AGE_SECONDS
            ),
        },
    }


def _rule(schedule: ScheduledJob) -> dict[str, Any]:
    properties = {"Schedule": rate(schedule.every), "Input": json.dumps(event_of(schedule.name))}
    return {"Type": "Schedule", "Properties": properties}


def rate(every: timedelta) -> str:
    """Return EventBridge's expression of a rate; raises ValueError for parts of a minute."""
    minutes, rest = divmod(every, timedelta(minutes=1))
    if rest or minutes < 1:
        raise ValueError(f"a schedule runs every whole number of minutes, not every {every}")
    return f"rate({minutes} minute{'s' if minutes > 1 else ''})"


def runs_at_once(function: Scheduled) -> int:
    """Return the most runs at a time, if each takes its whole time-out: so no run waits."""
    return sum(-(-function.timeout_seconds // seconds_between(each)) for each in function.schedules)


def _reserved(function: Function) -> Any:
    match function:
        case Api():
            return when("Reserves", reference("ApiConcurrency"))
        case Worker():
            return when("Reserves", reference(concurrency_parameter(function)))
        case Scheduled():
            return when("Reserves", runs_at_once(function))
    return NO_VALUE

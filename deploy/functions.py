"""Functions beyond Chalice's template: log, network, and concurrency."""

from typing import Any

from deploy.declared import Api, Function, Schedule, Worker
from deploy.intrinsics import NO_VALUE, attribute, reference, when
from deploy.parameters import ASKING, PAYING, api_variables, payment_variables, spam_variables
from deploy.queues import FAILED_SCHEDULES, concurrency_parameter, mapping_properties, queue_id

# Lambda keeps an event for a minute at least and six hours at most.
_LEAST_EVENT_AGE_SECONDS, _MOST_EVENT_AGE_SECONDS = 60, 6 * 3_600


def log_group_id(function: Function) -> str:
    """Return the logical id of a function's log group."""
    return f"{function.resource}Log"


def log_group(function: Function) -> dict[str, Any]:
    """Return a function's log group."""
    return {log_group_id(function): retained_log()}


def retained_log() -> dict[str, Any]:
    """Return a log group, which stays when the stack goes, until its lines expire."""
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
        properties["Environment"] = {"Variables": api_variables()}
    if function.name in PAYING:
        properties["Environment"] = {"Variables": payment_variables()}
    if function.name in ASKING:
        properties["Environment"] = {"Variables": spam_variables()}
    if isinstance(function, Schedule):
        # The next run is the retry; runs that failed or never began are kept for inspection.
        properties["EventInvokeConfig"] = {
            "DestinationConfig": {
                "OnFailure": {"Type": "SQS", "Destination": attribute(FAILED_SCHEDULES)}
            },
            "MaximumRetryAttempts": 0,
            "MaximumEventAgeInSeconds": min(
                max(_LEAST_EVENT_AGE_SECONDS, function.every_seconds), _MOST_EVENT_AGE_SECONDS
            ),
        }
    if not isinstance(function, Worker):
        return {"Properties": properties}
    event = {"Properties": mapping_properties(function)}
    properties["Events"] = {f"{function.resource}SqsEventSource": event}
    # The mapping names its queue by a constructed ARN, which creates no dependency.
    return {"DependsOn": [queue_id(function)], "Properties": properties}


def _reserved(function: Function) -> Any:
    match function:
        case Api():
            return when("Reserves", reference("ApiConcurrency"))
        case Worker():
            return when("Reserves", reference(concurrency_parameter(function)))
        case Schedule():
            # Its runs need not overlap.
            return when("Reserves", 1)
    return NO_VALUE

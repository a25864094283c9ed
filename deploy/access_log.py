"""The API's access log: each call with its source address, even if no function saw it."""

import json
from typing import Any

from deploy.functions import retained_log
from deploy.intrinsics import attribute, filled, when

# The line has no path: paths contain ids of people, and tokens. `resource` is the greedy resource
# for nearly all calls; the functions' lines have the same request id, and the route.
_LINE = {
    "request_id": "$context.requestId",
    "time_ms": "$context.requestTimeEpoch",
    "address": "$context.identity.sourceIp",
    "user_agent": "$context.identity.userAgent",
    "api_key_id": "$context.identity.apiKeyId",
    "method": "$context.httpMethod",
    "resource": "$context.resourcePath",
    "status": "$context.status",
    "answer_type": "$context.error.responseType",
    "answer_bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "tls": "$context.tlsVersion",
}
_PUSH = "arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"


def access_log_setting() -> dict[str, Any]:
    """Return the destination and the format of the stage's lines."""
    group = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:${ApiAccessLog}"
    setting = {"DestinationArn": filled(group), "Format": json.dumps(_LINE)}
    return when("LogsAccess", setting)


def access_log_resources() -> dict[str, Any]:
    """Return the log group, and the role by which API Gateway writes logs in this region.

    The role belongs to the account, one for all APIs; it stays, since others may use it.
    """
    kept = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    gateway = {
        "Effect": "Allow",
        "Principal": {"Service": "apigateway.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    return {
        "ApiAccessLog": {**retained_log(), "Condition": "LogsAccess"},
        "ApiLogsRole": {
            "Type": "AWS::IAM::Role",
            "Condition": "MakesLogsRole",
            **kept,
            "Properties": {
                "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [gateway]},
                "ManagedPolicyArns": [filled(_PUSH)],
            },
        },
        "ApiLogsAccount": {
            "Type": "AWS::ApiGateway::Account",
            "Condition": "MakesLogsRole",
            **kept,
            "Properties": {"CloudWatchRoleArn": attribute("ApiLogsRole")},
        },
    }

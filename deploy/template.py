"""The part of the template that Chalice does not write, derived from what the app declares."""

import json
from pathlib import Path
from typing import Any

from chalice.app import Chalice, SQSEventConfig
from chalice.utils import to_cfn_resource_name

from chalicelib.http import CORS
from chalicelib.queues import DEAD_LETTER_SUFFIX, MAX_RECEIVES

ROOT = Path(__file__).resolve().parents[1]
CONFIG: dict[str, Any] = json.loads((ROOT / ".chalice" / "config.json").read_text())
GATEWAY_RESPONSES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "gateway_responses.json").read_text()
)
# AWS's advice for a queue that a function reads: six times the function's own time-out.
_VISIBILITY_FACTOR = 6
DEAD_LETTERS_KEPT_SECONDS = 14 * 24 * 3_600

# The members of the deployment's secret, and the variables that they become.
SECRETS = {
    "PLAZA_MONGODB_URI": "mongodb_uri",
    "PLAZA_JWT_SECRET": "jwt_secret",
    "PLAZA_SIGNING_KEYS": "signing_keys",
}


def declared_queues(app: Chalice) -> list[SQSEventConfig]:
    """Return the event source mappings that the app declares."""
    return [source for source in app.event_sources if isinstance(source, SQSEventConfig)]


def stage_environment(stage: str) -> dict[str, str]:
    """Return a stage's environment variables; raises KeyError for a stage that is not there."""
    return dict(CONFIG["stages"][stage]["environment_variables"])


def visibility_timeout_seconds(source: SQSEventConfig, stage: str = "dev") -> int:
    """Return how long a message stays with a worker before SQS gives it to another."""
    own = CONFIG["stages"][stage]["lambda_functions"].get(source.name, {})
    return _VISIBILITY_FACTOR * int(own.get("lambda_timeout", CONFIG["lambda_timeout"]))


def problem_body(response: dict[str, Any]) -> dict[str, Any]:
    """Return the problem+json of one of API Gateway's own answers."""
    return {
        "type": f"urn:plaza:problem:{response['code']}",
        "title": response["title"],
        "status": response["statusCode"],
        "code": response["code"],
    }


def merge_template(app: Chalice, stage: str) -> dict[str, Any]:
    """Return what `chalice package --merge-template` merges into the template."""
    resources: dict[str, Any] = {"RestAPI": _api()}
    for source in declared_queues(app):
        resources |= _queue(source, stage)
    return {
        "Parameters": {
            "SecretName": {
                "Type": "String",
                "Default": f"plaza/{stage}",
                "Description": f"A secret in Secrets Manager: {', '.join(SECRETS.values())}",
            }
        },
        "Globals": {"Function": {"Environment": {"Variables": _secret_variables()}}},
        "Resources": resources,
    }


def _secret_variables() -> dict[str, Any]:
    return {
        variable: {"Fn::Sub": f"{{{{resolve:secretsmanager:${{SecretName}}:SecretString:{key}}}}}"}
        for variable, key in SECRETS.items()
    }


def _queue(source: SQSEventConfig, stage: str) -> dict[str, Any]:
    """Return a queue, its dead letters, and what its worker's mapping lacks."""
    function = to_cfn_resource_name(source.name)
    return {
        f"{function}Queue": {
            "Type": "AWS::SQS::Queue",
            "Properties": {
                "QueueName": source.queue,
                "VisibilityTimeout": visibility_timeout_seconds(source, stage),
                "SqsManagedSseEnabled": True,
                "RedrivePolicy": {
                    "deadLetterTargetArn": {"Fn::GetAtt": [f"{function}DeadLetters", "Arn"]},
                    "maxReceiveCount": MAX_RECEIVES,
                },
            },
        },
        f"{function}DeadLetters": {
            "Type": "AWS::SQS::Queue",
            "Properties": {
                "QueueName": f"{source.queue}{DEAD_LETTER_SUFFIX}",
                "MessageRetentionPeriod": DEAD_LETTERS_KEPT_SECONDS,
                "SqsManagedSseEnabled": True,
            },
        },
        function: {
            # The mapping names its queue by a constructed ARN, which orders nothing.
            "DependsOn": [f"{function}Queue"],
            "Properties": {
                "Events": {
                    f"{function}SqsEventSource": {
                        # Without it, the messages that a handler reports as failed are lost.
                        "Properties": {"FunctionResponseTypes": ["ReportBatchItemFailures"]}
                    }
                }
            },
        },
    }


def _api() -> dict[str, Any]:
    """Return API Gateway's own answers, as problem+json that any page may read."""
    cors = {
        f"gatewayresponse.header.{name}": f"'{value}'"
        for name, value in CORS.get_access_control_headers().items()
    }
    responses = {
        kind: {
            "statusCode": response["statusCode"],
            "responseParameters": cors,
            "responseTemplates": {"application/problem+json": json.dumps(problem_body(response))},
        }
        for kind, response in GATEWAY_RESPONSES.items()
    }
    return {"Properties": {"DefinitionBody": {"x-amazon-apigateway-gateway-responses": responses}}}

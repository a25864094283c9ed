"""The API beyond Chalice's template: gateway answers, throttling, keys, tracing, web ACL."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chalicelib.http.middleware import CORS, SAFE_HEADERS
from deploy.access_log import access_log_resources, access_log_setting
from deploy.firewall import firewall
from deploy.intrinsics import filled, first_of, reference, when

GATEWAY_RESPONSES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "gateway_responses.json").read_text()
)
# Every deployment's API has the stack's name, which distinguishes them in CloudWatch.
API_NAME = filled("${AWS::StackName}")
_STAGE = reference("RestAPI.Stage")


def problem_body(response: dict[str, Any]) -> dict[str, Any]:
    """Return the problem+json of one of API Gateway's own answers.

    The default for all other answers, whose status varies, leaves the status out.
    """
    status = {"status": response["statusCode"]} if "statusCode" in response else {}
    return {
        "type": f"urn:plaza:problem:{response['code']}",
        "title": response["title"],
        **status,
        "code": response["code"],
    }


def api_resources() -> dict[str, Any]:
    """Return the API's additions, its usage plan, and its link to a web ACL."""
    return {
        "RestAPI": {"Properties": _api()},
        "UsagePlan": {
            "Type": "AWS::ApiGateway::UsagePlan",
            "Condition": "RequiresApiKey",
            "Properties": _usage_plan(),
        },
        **access_log_resources(),
        **firewall(_plain_headers()),
    }


def _api() -> dict[str, Any]:
    """Return the properties that are merged into the API."""
    every_method = {
        "HttpMethod": "*",
        "ResourcePath": "/*",
        "MetricsEnabled": True,
        "ThrottlingRateLimit": reference("ApiRateLimit"),
        "ThrottlingBurstLimit": reference("ApiBurstLimit"),
    }
    return {
        "Name": API_NAME,
        "DefinitionBody": _definition(),
        # Else the stage would keep the last snapshot when parameters alone change, since SAM
        # compares the definition before their values are in it.
        "AlwaysDeploy": True,
        "TracingEnabled": True,
        "AccessLogSetting": access_log_setting(),
        "MethodSettings": [every_method],
    }


def _usage_plan() -> dict[str, Any]:
    """Return the usage plan of callers with a key; its rates are those of the API."""
    return {
        "Description": filled("Who calls ${AWS::StackName}"),
        "ApiStages": [{"ApiId": reference("RestAPI"), "Stage": _STAGE}],
        "Throttle": {
            "RateLimit": reference("ApiRateLimit"),
            "BurstLimit": reference("ApiBurstLimit"),
        },
        "Quota": {"Limit": reference("ApiDailyQuota"), "Period": "DAY"},
    }


def _definition() -> dict[str, Any]:
    """Return the parts that are merged into the API's Swagger document."""
    return {
        "info": {"title": API_NAME, "description": _description()},
        "securityDefinitions": {"api_key": {"type": "apiKey", "name": "x-api-key", "in": "header"}},
        # All of them: API Gateway would look at the first type of `Accept` alone.
        "x-amazon-apigateway-binary-media-types": ["*/*"],
        "x-amazon-apigateway-gateway-responses": _own_answers(),
        # By OpenAPI's extensions, since the translator that tests this knows no such properties.
        "x-amazon-apigateway-security-policy": when("NamesTlsPolicy", reference("TlsPolicy")),
        "x-amazon-apigateway-endpoint-access-mode": when("NamesTlsPolicy", "BASIC"),
    }


def _description() -> Any:
    """Return the API's description, which names the account's role for logs if we set it.

    So the role is set before the stage, which cannot log without it.
    """
    by_role = filled("Plaza. Logs by the role of ${ApiLogsAccount}")
    return when("MakesLogsRole", by_role, otherwise="Plaza")


def _own_answers() -> dict[str, Any]:
    """Return API Gateway's own answers, as problem+json that an allowed page may read."""
    return {
        kind: {
            **({"statusCode": response["statusCode"]} if "statusCode" in response else {}),
            "responseParameters": _parameters(),
            "responseTemplates": {"application/problem+json": json.dumps(problem_body(response))},
        }
        for kind, response in GATEWAY_RESPONSES.items()
    }


def _parameters() -> dict[str, Any]:
    """Return the headers of a gateway's own answer, whose form quotes each constant."""
    return {
        f"gatewayresponse.header.{name}": _mapped(value, "'{}'".format)
        for name, value in _plain_headers().items()
    }


def _mapped(value: Any, quoted: Callable[[str], str]) -> Any:
    match value:
        case str():
            return quoted(value)
        case {"Fn::If": [condition, *values]}:
            return {"Fn::If": [condition, *(_mapped(each, quoted) for each in values)]}
        case {"Fn::Select": _}:
            return {"Fn::Sub": [quoted("${Origin}"), {"Origin": value}]}
    return value


def _plain_headers() -> dict[str, Any]:
    """Return the headers of each answer that API Gateway gives by itself.

    Its CORS headers are those that the app sends to a caller whose origin is not listed. API
    Gateway cannot look an origin up. It could reflect any, and then allow what the list does not:
    docs/decisions/0049.
    """
    first = first_of(reference("AllowedOrigins"))
    return {
        **SAFE_HEADERS,
        **CORS.get_access_control_headers(),
        "Access-Control-Allow-Origin": when("NamesOrigins", first, otherwise="*"),
        "Access-Control-Allow-Credentials": when("NamesOrigins", "true"),
        "Vary": when("NamesOrigins", "Authorization, Origin", otherwise="Authorization"),
    }

"""The API beyond Chalice's template: gateway answers, throttling, keys, web ACL."""

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
    """Return the problem+json of an answer of API Gateway's own.

    A default answer has no status here, since its status varies.
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
        # Without it, SAM makes a second public stage, `Stage`, which has neither our throttling nor
        # the web ACL nor an access log.
        "OpenApiVersion": "2.0",
        "DefinitionBody": _definition(),
        # SAM compares definitions before it fills parameters in. Without this, the stage would
        # stay at its last snapshot when parameters alone change.
        "AlwaysDeploy": True,
        # A trace of the gateway's has whole addresses, with the tokens in their queries, and the
        # callers' networks. Lambda traces by itself, without either.
        "TracingEnabled": False,
        "AccessLogSetting": access_log_setting(),
        "MethodSettings": [every_method],
    }


def _usage_plan() -> dict[str, Any]:
    """Return the usage plan of callers with a key; its rates equal the API's."""
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
        # Every type is binary: with a list, API Gateway would compare only the first of `Accept`.
        "x-amazon-apigateway-binary-media-types": ["*/*"],
        "x-amazon-apigateway-gateway-responses": _own_answers(),
        # OpenAPI's extensions, since the SAM translator of the tests lacks these properties.
        "x-amazon-apigateway-security-policy": when("NamesTlsPolicy", reference("TlsPolicy")),
        "x-amazon-apigateway-endpoint-access-mode": when("NamesTlsPolicy", "BASIC"),
    }


def _description() -> Any:
    """Return the API's description, which refers to the account's role for logs if we set it.

    The reference orders CloudFormation: the role before the stage, which cannot log without it.
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
    """Return the headers in the form of a gateway response: constants have single quotes."""
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
    """Return the headers of API Gateway's own answers.

    The CORS headers are the app's for an unlisted origin: API Gateway cannot look an origin up.
    If it reflected every origin, it would allow unlisted origins: docs/decisions/0049.
    """
    first = first_of(reference("AllowedOrigins"))
    return {
        **SAFE_HEADERS,
        **CORS.get_access_control_headers(),
        "Access-Control-Allow-Origin": when("NamesOrigins", first, otherwise="*"),
        "Access-Control-Allow-Credentials": when("NamesOrigins", "true"),
        "Vary": when("NamesOrigins", "Authorization, Origin", otherwise="Authorization"),
    }

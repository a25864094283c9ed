"""The API Gateway of the template: its limits, its own answers, its access log, its TLS."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import app as declared_app
from app import create_app
from chalicelib.http.front import GREEDY
from chalicelib.runtime import Runtime
from deploy.api import GATEWAY_RESPONSES, problem_body
from deploy.declared import declared_functions
from deploy.resources import OWN_RESOURCES, with_few_resources
from local.gateway import lambda_event
from tests.deploy.sam import translated
from tests.deploy.support.reading import attribute_of, condition, deployed_with, properties
from tests.support.http_client import Client

pytestmark = pytest.mark.processes

FUNCTIONS = declared_functions(declared_app, "prod")
NOTHING = {"Ref": "AWS::NoValue"}
ANY = "x-amazon-apigateway-any-method"


def test_the_api_is_throttled_and_counted_by_the_stacks_name(template: Any) -> None:
    api = properties(template, "RestAPI")
    (settings,) = api["MethodSettings"]

    assert (settings["HttpMethod"], settings["ResourcePath"]) == ("*", "/*")
    assert settings["ThrottlingRateLimit"] == {"Ref": "ApiRateLimit"}
    assert settings["ThrottlingBurstLimit"] == {"Ref": "ApiBurstLimit"}
    assert settings["MetricsEnabled"] is True
    # Else X-Ray keeps the tokens in the queries of addresses.
    assert api["TracingEnabled"] is False
    assert api["Name"] == api["DefinitionBody"]["info"]["title"] == {"Fn::Sub": "${AWS::StackName}"}


def test_each_deployment_of_the_stack_makes_one_of_the_api(template: Any) -> None:
    """With the same id, the stage would not hear of parameters, such as `RequireApiKey`."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        one, other = (
            translated(copy.deepcopy(template), seconds)["Resources"] for seconds in (1, 2)
        )
    (deployment,) = (
        name for name, each in other.items() if each["Type"] == "AWS::ApiGateway::Deployment"
    )

    assert deployment not in one
    # A deployment with the name of a stage makes one of its own, without throttling or a web ACL.
    assert "StageName" not in other[deployment]["Properties"]
    (stage,) = (each for each in other.values() if each["Type"] == "AWS::ApiGateway::Stage")
    assert stage["Properties"]["DeploymentId"] == {"Ref": deployment}


def resource_of(paths: dict[str, Any], method: str, path: str) -> tuple[str, Any]:
    """Return the most specific resource that takes a call, as API Gateway does, and its method."""
    parts = path.strip("/").split("/")
    found = [each for each in paths if _rank(each.strip("/").split("/"), parts) is not None]
    ranked = sorted(found, key=lambda each: _rank(each.strip("/").split("/"), parts) or [])
    for resource in ranked:
        for name in (method.lower(), ANY):
            if name in paths[resource]:
                return resource, paths[resource][name]
    raise AssertionError(f"no resource takes {method} {path}")


def _rank(pattern: list[str], parts: list[str]) -> list[int] | None:
    """Return the rank of each part: 0 for a literal, 1 for a parameter, 2 for all that follows."""
    ranks: list[int] = []
    for place, expected in enumerate(pattern):
        if expected.endswith("+}"):
            return [*ranks, 2] if parts[place:] != [""] else None
        if place >= len(parts) or (expected[0:1] != "{" and expected != parts[place]):
            return None
        ranks.append(int(expected[0:1] == "{"))
    return ranks if len(pattern) == len(parts) else None


# What is called without a key though keys are required: the pages and files of browsers.
WITHOUT_A_KEY = {
    f"{method} {path}"
    for path in (
        *("/", "/docs", "/docs/{file}", "/openapi.json", "/web/{version}/{file}"),
        *("/assets/{asset}", "/assets/{asset}/{number}", "/console", "/console/{file}"),
    )
    for method in ("GET", "HEAD")
}
OPERATIONS = [(method, path) for path, methods in declared_app.routes.items() for method in methods]


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_operation_needs_a_key_where_the_parameter_says_so(
    template: Any, method: str, path: str
) -> None:
    paths = properties(template, "RestAPI")["DefinitionBody"]["paths"]
    is_open = method == "OPTIONS" or f"{method} {path}" in WITHOUT_A_KEY

    resource, called = resource_of(paths, method, re.sub(r"{\w+}", "x", path))

    assert deployed_with(template, called.get("security"), RequireApiKey="false") in (None, NOTHING)
    needed = deployed_with(template, called.get("security"), RequireApiKey="true")
    assert needed in (None, NOTHING) if is_open else needed == [{"api_key": []}]
    # The front finds the route, or the gateway has.
    assert resource in {path, GREEDY}
    assert template["Resources"]["UsagePlan"]["Condition"] == "RequiresApiKey"


def test_a_path_without_a_key_takes_nothing_that_needs_one(template: Any) -> None:
    """Whatever API Gateway does about a method that a resource lacks: none is lacking."""
    paths = properties(template, "RestAPI")["DefinitionBody"]["paths"]

    for resource, methods in paths.items():
        assert ANY in methods
        if resource != GREEDY:
            assert methods.keys() == {ANY}
            assert declared_app.routes[resource].keys() <= {"GET", "HEAD", "OPTIONS"}


def test_only_paths_with_a_reason_have_a_resource(template: Any) -> None:
    paths = properties(template, "RestAPI")["DefinitionBody"]["paths"]

    assert paths.keys() == {*OWN_RESOURCES, GREEDY}
    assert declared_app.routes.keys() >= OWN_RESOURCES.keys()
    assert all(OWN_RESOURCES.values())


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_the_local_server_knows_the_templates_resources(
    template: Any, method: str, path: str
) -> None:
    paths = properties(template, "RestAPI")["DefinitionBody"]["paths"]
    target = re.sub(r"{\w+}", "a%2Fb", path)

    event = lambda_event(method, target, {})

    assert event["resource"] == resource_of(paths, method, target)[0]


def test_every_resource_calls_the_function(template: Any) -> None:
    """Preflights too: API Gateway's own would name `*`, to which no browser sends credentials."""
    paths = properties(template, "RestAPI")["DefinitionBody"]["paths"]
    integrations = [
        method["x-amazon-apigateway-integration"]
        for methods in paths.values()
        for method in methods.values()
    ]

    assert len(integrations) == len(paths) + 1
    assert all(each == integrations[0] for each in integrations)
    assert integrations[0]["type"] == "aws_proxy"
    assert "${APIHandler.Arn}" in integrations[0]["uri"]["Fn::Sub"]
    source, _ = properties(template, "APIHandlerInvokePermission")["SourceArn"]["Fn::Sub"]
    assert source.endswith("${RestAPIId}/*")


def test_every_parameter_of_a_resource_is_declared(template: Any) -> None:
    paths = properties(template, "RestAPI")["DefinitionBody"]["paths"]

    for path, methods in paths.items():
        for method in methods.values():
            named = [each["name"] for each in method["parameters"]]
            assert named == re.findall(r"{(\w+)\+?}", path)


def test_a_template_keeps_all_but_the_paths(template: Any) -> None:
    definition = properties(template, "RestAPI")["DefinitionBody"]
    routes = {path: {"get": definition["paths"]["/"][ANY]} for path in ("/", "/things/{thing}")}
    before = {
        "Resources": {
            "RestAPI": {"Properties": {"DefinitionBody": {**definition, "paths": routes}}},
            "Other": {"Type": "AWS::SQS::Queue"},
        }
    }
    kept = copy.deepcopy(before)

    after = with_few_resources(before)

    assert before == kept
    assert after["Resources"]["Other"] == kept["Resources"]["Other"]
    assert after["Resources"]["RestAPI"]["Properties"]["DefinitionBody"] == definition


def test_the_gateways_own_answers_are_those_of_the_local_server(
    template: Any, client: Client
) -> None:
    body = properties(template, "RestAPI")["DefinitionBody"]
    responses = body["x-amazon-apigateway-gateway-responses"]
    assert responses.keys() == GATEWAY_RESPONSES.keys()

    deployed = responses["MISSING_AUTHENTICATION_TOKEN"]
    local = client.request("TRACE", "/docs")

    assert deployed["statusCode"] == local.status
    assert json.loads(deployed["responseTemplates"]["application/problem+json"]) == local.json


@pytest.mark.parametrize(
    "allowed", [(), ("https://a.example",), ("https://a.example", "https://b.example")], ids=len
)
def test_the_gateways_own_answers_may_be_read_by_whom_the_app_names_to_a_stranger(
    template: Any, runtime: Runtime, token: Callable[..., str], allowed: tuple[str, ...]
) -> None:
    settings = runtime.settings.model_copy(update={"allowed_origins": allowed})
    app = create_app(replace(runtime, settings=settings), LocalChalice)
    stranger = {"Origin": "https://elsewhere.example"}

    answer = Client(app, token, stranger).get("/users/nobody")

    ours = {
        name: value
        for name, value in answer.headers.items()
        if name.startswith("Access-Control-")
        or name in {"Vary", "X-Content-Type-Options", "Cache-Control"}
    }
    body = properties(template, "RestAPI")["DefinitionBody"]
    for response in body["x-amazon-apigateway-gateway-responses"].values():
        stated = deployed_with(
            template, response["responseParameters"], AllowedOrigins=", ".join(allowed)
        )
        assert stated == {
            f"gatewayresponse.header.{name}": f"'{value}'" for name, value in ours.items()
        }
    _, _, limiting = properties(template, "WebAcl")["Rules"][0]["Fn::If"]
    rule = limiting["Action"]["Block"]["CustomResponse"]
    headers = deployed_with(template, rule["ResponseHeaders"], AllowedOrigins=", ".join(allowed))
    # CloudFormation takes out of a list what a condition leaves out of it.
    assert {each["Name"]: each["Value"] for each in headers if each} == {
        "Retry-After": "300",
        **ours,
    }


def test_a_refusal_of_a_kind_that_is_not_named_keeps_its_status(template: Any) -> None:
    body = properties(template, "RestAPI")["DefinitionBody"]

    other = body["x-amazon-apigateway-gateway-responses"]["DEFAULT_4XX"]

    assert "statusCode" not in other
    problem = json.loads(other["responseTemplates"]["application/problem+json"])
    assert problem.keys() == {"type", "title", "code"}


@pytest.mark.parametrize("kind", GATEWAY_RESPONSES)
def test_a_gateway_answer_is_the_same_problem_as_the_apps(kind: str) -> None:
    from chalicelib import errors

    answer = problem_body(GATEWAY_RESPONSES[kind])
    ours = {
        each.code: each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.Problem)
    }
    if answer["code"] in {"invalid_api_key", "filtered", "throttled", "timeout", "refused"}:
        assert answer["code"] not in ours
    else:
        assert ours[answer["code"]]().body() == answer


@pytest.mark.parametrize(("given", "made", "linked"), [("", 1, 1), ("none", 0, 0), ("arn:x", 0, 1)])
def test_the_api_has_a_web_acl_by_default_another_one_or_none(
    template: Any, given: str, made: int, linked: int
) -> None:
    own, link = template["Resources"]["WebAcl"], template["Resources"]["WebAclAssociation"]

    assert condition(template, own["Condition"], WebAclArn=given) == made
    assert condition(template, link["Condition"], WebAclArn=given) == linked
    arn = link["Properties"]["WebACLArn"]["Fn::If"]
    assert arn == ["MakesWebAcl", attribute_of("WebAcl"), {"Ref": "WebAclArn"}]


def test_the_stacks_own_web_acl_refuses_an_address_that_asks_too_often(template: Any) -> None:
    acl = properties(template, "WebAcl")
    condition, _, rule = acl["Rules"][0]["Fn::If"]

    assert condition == "HasCdn"
    assert acl["DefaultAction"] == {"Allow": {}}
    assert rule["Statement"]["RateBasedStatement"] == {
        "Limit": {"Ref": "AddressRateLimit"},
        "AggregateKeyType": "IP",
        "EvaluationWindowSec": 300,
    }
    answer = rule["Action"]["Block"]["CustomResponse"]
    problem = json.loads(acl["CustomResponseBodies"][answer["CustomResponseBodyKey"]]["Content"])
    assert problem == problem_body(GATEWAY_RESPONSES["THROTTLED"])
    assert answer["ResponseCode"] == problem["status"] == 429


def test_each_call_is_logged_with_its_address_and_request_and_no_path(template: Any) -> None:
    name, setting, nothing = properties(template, "RestAPI")["AccessLogSetting"]["Fn::If"]
    line = json.loads(setting["Format"])

    assert (name, nothing) == ("LogsAccess", NOTHING)
    assert setting["DestinationArn"]["Fn::Sub"].endswith(":log-group:${ApiAccessLog}")
    assert line["address"] == "$context.identity.sourceIp"
    assert line["request_id"] == "$context.requestId"
    assert line["resource"] == "$context.resourcePath"
    # It holds the tokens of ads and the ids of visitors.
    assert "$context.path" not in line.values()
    assert condition(template, "LogsAccess")
    assert not condition(template, "LogsAccess", AccessLogs="false")


def test_the_role_for_logs_is_set_before_the_stage_that_logs(template: Any) -> None:
    description = properties(template, "RestAPI")["DefinitionBody"]["info"]["description"]

    assert description["Fn::If"][0] == template["Resources"]["ApiLogsAccount"]["Condition"]
    assert "${ApiLogsAccount}" in description["Fn::If"][1]["Fn::Sub"]
    for name in ("ApiLogsAccount", "ApiLogsRole"):
        assert template["Resources"][name]["DeletionPolicy"] == "Retain"
    assert not condition(template, "MakesLogsRole", AccountLogsRole="false")
    assert not condition(template, "MakesLogsRole", AccessLogs="false")


def test_the_api_takes_no_tls_below_1_2(template: Any) -> None:
    api = properties(template, "RestAPI")
    body = api["DefinitionBody"]

    assert api["EndpointConfiguration"] == "REGIONAL"
    policy = body["x-amazon-apigateway-security-policy"]["Fn::If"]
    assert policy == ["NamesTlsPolicy", {"Ref": "TlsPolicy"}, NOTHING]
    mode = body["x-amazon-apigateway-endpoint-access-mode"]["Fn::If"]
    assert mode == ["NamesTlsPolicy", "BASIC", NOTHING]
    assert template["Parameters"]["TlsPolicy"]["Default"].startswith("SecurityPolicy_TLS13_1_2_")


def test_every_body_is_binary_to_the_gateway_and_no_route_of_chalices(template: Any) -> None:
    definition = properties(template, "RestAPI")["DefinitionBody"]

    assert definition["x-amazon-apigateway-binary-media-types"] == ["*/*"]
    assert declared_app.api.binary_types == []

"""The package as Lambda gets it: the real zip, and the template that deploys it."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest
from chalice.app import ScheduledEventConfig
from chalice.utils import to_cfn_resource_name

from app import app as declared_app
from chalicelib.queues import MAX_RECEIVES
from deploy.template import CONFIG, GATEWAY_RESPONSES, ROOT, declared_queues, problem_body
from tests.http_client import Client

# Imports every module of the package with nothing else to be found but the standard library.
IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
package, *stdlib = json.loads(sys.argv[1])
sys.path[:] = [package, *stdlib]
import app, chalicelib
modules = [each.name for each in pkgutil.walk_packages(chalicelib.__path__, "chalicelib.")]
for module in modules:
    importlib.import_module(module)
assert "boto3" not in sys.modules and "botocore" not in sys.modules
declared = [*app.app.event_sources, *app.app.pure_lambda_functions]
functions = sorted(each.name for each in declared)
assert all(callable(getattr(app, name)) for name in functions)
print(json.dumps({"modules": modules, "functions": functions}))
"""

ANSWER_ONE_REQUEST = """
import json, sys
package, *stdlib = json.loads(sys.argv[1])
sys.path[:] = [package, *stdlib]
import app
event = {
    "requestContext": {"httpMethod": "GET", "resourcePath": "/health", "path": "/health"},
    "headers": {}, "pathParameters": {}, "multiValueQueryStringParameters": None,
    "stageVariables": {}, "body": None,
}
print(json.dumps(app.app(event, None)))
"""


@pytest.fixture(scope="session")
def template(package: Path) -> Any:
    return json.loads((package / "sam.json").read_text())


def declared_functions() -> list[str]:
    """Return the names of the functions beside the API's own."""
    workers = [source.name for source in declared_app.event_sources]
    commands = [command.name for command in declared_app.pure_lambda_functions]
    return sorted(workers + commands)


def run_alone(script: str, package: Path, **environment: str) -> Any:
    """Run a script with the package and the standard library alone; return its last line."""
    paths = sysconfig.get_paths()
    dynamic = sysconfig.get_config_var("DESTSHARED") or paths["platstdlib"] + "/lib-dynload"
    visible = json.dumps([str(package / "content"), paths["stdlib"], dynamic])
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, visible],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_the_zip_imports_with_only_itself(package: Path) -> None:
    found = run_alone(IMPORT_EVERYTHING, package)

    sources = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "chalicelib").rglob("*.py")
        if path.name != "__init__.py"
    }
    assert sources <= set(found["modules"])
    assert found["functions"] == declared_functions()


def test_the_zip_answers_a_request(package: Path, mongodb_uri: str) -> None:
    answer = run_alone(ANSWER_ONE_REQUEST, package, PLAZA_MONGODB_URI=mongodb_uri)

    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["status"] == "ok"


def test_the_zip_has_what_runs_and_nothing_else(package: Path) -> None:
    names = zipfile.ZipFile(package / "deployment.zip").namelist()
    top = {name.split("/")[0] for name in names}

    assert {"app.py", "chalicelib", "chalice", "pymongo", "pydantic"} <= top
    assert not top & {"boto3", "botocore", "moto", "pytest", "local", "tests", "deploy", ".plaza"}
    assert not [name for name in names if name.endswith(".pyc")]


def test_each_queue_has_dead_letters_and_time_enough(template: Any) -> None:
    resources = template["Resources"]
    for source in declared_queues(declared_app):
        name = to_cfn_resource_name(source.name)
        queue = resources[f"{name}Queue"]["Properties"]
        function = resources[name]["Properties"]
        assert queue["VisibilityTimeout"] == 6 * function["Timeout"]
        assert queue["RedrivePolicy"]["maxReceiveCount"] == MAX_RECEIVES
        assert queue["RedrivePolicy"]["deadLetterTargetArn"] == {
            "Fn::GetAtt": [f"{name}DeadLetters", "Arn"]
        }
        assert resources[f"{name}DeadLetters"]["Properties"]["QueueName"].endswith("-dead")


def test_each_mapping_reports_failures_by_message(template: Any) -> None:
    """A handler that names its failures under a mapping without this loses messages."""
    sources = declared_queues(declared_app)
    assert sources
    for source in sources:
        name = to_cfn_resource_name(source.name)
        function = template["Resources"][name]
        mapping = function["Properties"]["Events"][f"{name}SqsEventSource"]["Properties"]
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["BatchSize"] == source.batch_size
        queue = template["Resources"][f"{name}Queue"]["Properties"]["QueueName"]
        assert mapping["Queue"]["Fn::Sub"].endswith(f":{queue}")
        assert queue.startswith(
            CONFIG["stages"]["prod"]["environment_variables"]["PLAZA_QUEUE_PREFIX"]
        )
        assert function["DependsOn"] == [f"{name}Queue"]


def test_each_handler_is_found_where_lambda_looks(template: Any) -> None:
    import app as module

    functions = [
        resource["Properties"]["Handler"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    ]
    declared = {"app.app", *(f"app.{name}" for name in declared_functions())}
    assert set(functions) == declared
    for handler in functions:
        assert callable(getattr(module, handler.removeprefix("app.")))


def test_each_schedule_is_in_the_template(template: Any) -> None:
    for source in declared_app.event_sources:
        if isinstance(source, ScheduledEventConfig):
            events = template["Resources"][to_cfn_resource_name(source.name)]["Properties"][
                "Events"
            ]
            (schedule,) = events.values()
            assert schedule["Properties"]["Schedule"].startswith("rate(")


def test_the_gateways_own_answers_are_those_of_the_local_server(
    template: Any, client: Client
) -> None:
    body = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    responses = body["x-amazon-apigateway-gateway-responses"]
    assert responses.keys() == GATEWAY_RESPONSES.keys()

    deployed = responses["MISSING_AUTHENTICATION_TOKEN"]
    local = client.get("/no-such-path")

    assert deployed["statusCode"] == local.status
    assert json.loads(deployed["responseTemplates"]["application/problem+json"]) == local.json
    for header, value in deployed["responseParameters"].items():
        assert f"'{local.headers[header.removeprefix('gatewayresponse.header.')]}'" == value


@pytest.mark.parametrize("kind", GATEWAY_RESPONSES)
def test_a_gateway_answer_is_the_same_problem_as_the_apps(kind: str) -> None:
    from chalicelib import errors

    answer = problem_body(GATEWAY_RESPONSES[kind])
    ours = {
        each.code: each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.Problem)
    }
    if answer["code"] in ours:
        assert ours[answer["code"]]().body() == answer


def test_no_secret_is_in_the_template(template: Any) -> None:
    variables = template["Globals"]["Function"]["Environment"]["Variables"]

    for name in ("PLAZA_MONGODB_URI", "PLAZA_JWT_SECRET", "PLAZA_SIGNING_KEYS"):
        assert variables[name]["Fn::Sub"].startswith("{{resolve:secretsmanager:${SecretName}:")


def test_the_template_passes_cfn_lint(package: Path) -> None:
    linter = Path(sys.executable).with_name("cfn-lint")
    result = subprocess.run(
        [linter, package / "sam.json"], capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stdout

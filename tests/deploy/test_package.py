"""The package as Lambda gets it: the real zip."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app import app as declared_app
from deploy.declared import ROOT

pytestmark = pytest.mark.processes

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
    "requestContext": {"httpMethod": "GET", "resourcePath": "/{path+}", "path": "/health"},
    "headers": {}, "pathParameters": {"path": "health"}, "multiValueQueryStringParameters": None,
    "stageVariables": {}, "body": None,
}
print(json.dumps(app.app(event, None)))
"""

ANSWER_ONE_FILE = ANSWER_ONE_REQUEST.replace('"/{path+}"', '"/docs/{file}"').replace(
    '{"path": "health"}', '{"file": "docs.css"}'
)


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


def test_the_zip_serves_the_reference(package: Path, mongodb_uri: str) -> None:
    answer = run_alone(ANSWER_ONE_FILE, package, PLAZA_MONGODB_URI=mongodb_uri)

    assert answer["statusCode"] == 200
    assert answer["headers"]["Content-Type"].startswith("text/css")
    assert ".operation" in answer["body"]


def test_the_zip_has_what_runs_and_nothing_else(package: Path) -> None:
    names = zipfile.ZipFile(package / "deployment.zip").namelist()
    top = {name.split("/")[0] for name in names}

    assert {"app.py", "chalicelib", "chalice", "pymongo", "pydantic"} <= top
    assert not top & {"boto3", "botocore", "moto", "pytest", "local", "tests", "deploy", "flask"}
    compiled = {name for name in names if name.endswith(".pyc")}
    assert {f"__pycache__/app.{sys.implementation.cache_tag}.pyc"} <= compiled
    assert len(compiled) == len({name for name in names if name.endswith(".py")})

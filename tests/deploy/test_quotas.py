"""How much of AWS's quotas a deployment uses: under 65% of each, so that there is room to grow.

Sources: "CloudFormation quotas", "Lambda quotas", "Amazon API Gateway quotas" and "Dashboard body
structure and syntax" in AWS's documentation. What to do when one is reached: docs/decisions/0221.
"""

import copy
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib.http.document import FILE
from chalicelib.web.files import PAGES
from deploy.template import ALARMS, DASHBOARD
from tests.deploy.sam import translated

pytestmark = pytest.mark.processes

SHARE = 0.65
NESTED = (ALARMS, DASHBOARD)
STACK = {"bytes": 1_000_000, "resources": 500, "parameters": 200}
QUOTAS = {
    **{f"{name} of the main stack": quota for name, quota in STACK.items()},
    **{f"{name} of {file}": quota for file in NESTED for name, quota in STACK.items()},
    "bytes of the translated template": 1_000_000,
    "outputs of the main stack": 200,
    "dynamic references": 60,
    "alarms of a widget": 100,
    "metrics of a widget": 500,
    "resources of the API": 300,
    "bytes of the API's definition": 6_000_000,
    "bytes of the package": 50_000_000,
    "bytes of the package, unpacked": 250_000_000,
    "characters of a role's policies": 10_240,
    "bytes of a function's environment": 4_096,
    "bytes of the largest answer that is a file": 6_291_556,
}


@pytest.fixture(scope="module")
def used(package: Path, template: Any, nested: dict[str, Any]) -> dict[str, int]:
    """What of each quota is used."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        plain = translated(copy.deepcopy(template))
    text, archive = json.dumps(plain), package / "deployment.zip"
    definition = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    unpacked = sum(each.file_size for each in zipfile.ZipFile(archive).infolist())
    widgets = _widgets(nested)
    return {
        "bytes of the main stack": (package / "sam.json").stat().st_size,
        "resources of the main stack": len(plain["Resources"]),
        "parameters of the main stack": len(plain["Parameters"]),
        **{f"bytes of {file}": (package / file).stat().st_size for file in NESTED},
        **{f"resources of {file}": len(nested[file]["Resources"]) for file in NESTED},
        **{f"parameters of {file}": len(nested[file]["Parameters"]) for file in NESTED},
        "bytes of the translated template": len(text),
        "outputs of the main stack": len(plain["Outputs"]),
        "dynamic references": text.count("{{resolve:"),
        "alarms of a widget": max(len(each.get("alarms", ())) for each in widgets),
        "metrics of a widget": max(len(each.get("metrics", ())) for each in widgets),
        "resources of the API": len(set(_resources(definition["paths"]))),
        "bytes of the API's definition": len(json.dumps(definition)),
        "bytes of the package": archive.stat().st_size,
        "bytes of the package, unpacked": unpacked,
        "characters of a role's policies": max(map(_policy_size, _of_type(plain, "IAM::Role"))),
        "bytes of a function's environment": max(
            map(_variables, _of_type(plain, "Lambda::Function"))
        ),
        "bytes of the largest answer that is a file": max(
            each.stat().st_size for each in (FILE, *PAGES.iterdir())
        ),
    }


def _widgets(nested: dict[str, Any]) -> list[Any]:
    (dashboard,) = nested[DASHBOARD]["Resources"].values()
    body = json.loads(dashboard["Properties"]["DashboardBody"]["Fn::Sub"])
    return [each["properties"] for each in body["widgets"]]


def _resources(paths: dict[str, Any]) -> Iterator[str]:
    """Yield API Gateway's resources: one for each part of each path, and the root."""
    yield "/"
    for path in paths:
        parts = path.strip("/").split("/")
        yield from ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _of_type(template: Any, kind: str) -> list[Any]:
    resources = template["Resources"].values()
    return [each["Properties"] for each in resources if each["Type"] == f"AWS::{kind}"]


def _policy_size(role: Any) -> int:
    """Return the size of a role's own policies, and a little more: with what wraps them."""
    return len(json.dumps(role.get("Policies", "")))


def _variables(function: Any) -> int:
    return len(json.dumps(function["Environment"]["Variables"]))


@pytest.mark.parametrize("quota", QUOTAS)
def test_there_is_room_to_grow(quota: str, used: dict[str, int]) -> None:
    assert 0 < used[quota] < SHARE * QUOTAS[quota], f"{used[quota]:,} of {QUOTAS[quota]:,}"


def test_two_more_queues_fit_into_the_references(used: dict[str, int]) -> None:
    """Each brings a function, which refers to the database's address."""
    assert used["dynamic references"] + 2 <= SHARE * QUOTAS["dynamic references"]


def test_every_quota_is_counted(used: dict[str, int]) -> None:
    assert used.keys() == QUOTAS.keys()

"""How much of AWS's quotas a deployment uses: under 80% of each, so that there is room to grow.

Sources: "CloudFormation quotas", "Lambda quotas" and "Amazon API Gateway quotas" in AWS's
documentation. What to do when one is reached: docs/decisions/0114.
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
from tests.deploy.sam import translated

pytestmark = pytest.mark.processes

SHARE = 0.8
QUOTAS = {
    "bytes of the template": 1_000_000,
    "bytes of the translated template": 1_000_000,
    "resources of the stack": 500,
    "parameters of the stack": 200,
    "outputs of the stack": 200,
    "dynamic references": 60,
    "resources of the API": 300,
    "bytes of the API's definition": 6_000_000,
    "bytes of the package": 50_000_000,
    "bytes of the package, unpacked": 250_000_000,
    "characters of a role's policies": 10_240,
    "bytes of a function's environment": 4_096,
    "bytes of the largest answer that is a file": 6_291_556,
}


@pytest.fixture(scope="module")
def used(package: Path, template: Any) -> dict[str, int]:
    """What of each quota is used."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        plain = translated(copy.deepcopy(template))
    text, archive = json.dumps(plain), package / "deployment.zip"
    definition = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    unpacked = sum(each.file_size for each in zipfile.ZipFile(archive).infolist())
    return {
        "bytes of the template": (package / "sam.json").stat().st_size,
        "bytes of the translated template": len(text),
        "resources of the stack": len(plain["Resources"]),
        "parameters of the stack": len(plain["Parameters"]),
        "outputs of the stack": len(plain["Outputs"]),
        "dynamic references": text.count("{{resolve:"),
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


def test_every_quota_is_counted(used: dict[str, int]) -> None:
    assert used.keys() == QUOTAS.keys()

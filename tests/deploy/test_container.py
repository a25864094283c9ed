"""One container: what its cold start imports, its connections, and how it wakes from a freeze."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from app import app
from chalicelib.database import OPERATION_TIMEOUT_MS, SERVER_SELECTION_TIMEOUT_MS
from chalicelib.observability.invocations import MARGIN_SECONDS
from deploy.declared import declared_functions
from local.lambda_runtime import (
    Function,
    lambda_function,
    link_runtime,
    standard_library,
)
from local.mongod import free_port
from tests.deploy.test_lambda import SECRET, http_event
from tests.resilience.replica_set import Member, ReplicaSet

pytestmark = pytest.mark.processes

# An interpreter that imports the package, on a machine that does much else.
SECONDS_TO_START = 20.0
# What few calls need comes with the first of them (docs/decisions/0138).
_LATE = {"boto3", "botocore", "crawleruseragents", "jwt", "markdown_it", "nh3"}
_COLD_CALL = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
import app
answer = app.app(json.loads(sys.argv[2]), None)
print(json.dumps({"status": answer["statusCode"], "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runtime")
    link_runtime(folder)
    return folder


@pytest.fixture
def container(package: Path, runtime_folder: Path, replica_set: ReplicaSet) -> Iterator[Function]:
    """A container of the API over the replica set of three."""
    with lambda_function(
        package / "content",
        runtime_folder,
        "app.app",
        PLAZA_MONGODB_URI=replica_set.uri,
        PLAZA_DATABASE="plaza-container",
        PLAZA_JWT_SECRET=SECRET,
        PLAZA_SIGNING_KEYS=SECRET,
    ) as function:
        yield function


def read_a_node(container: Function) -> Any:
    """Call what asks the database, for a node that is not there."""
    return container.invoke(http_event("GET", "/nodes/{node}"))


def test_a_first_call_loads_no_library_that_it_does_not_use(
    package: Path, mongodb_uri: str
) -> None:
    """With the package and the standard library alone: boto3 could not even be imported."""
    paths = [str(package / "content"), *standard_library()]
    event = http_event("GET", "/nodes/{node}")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _COLD_CALL, json.dumps(paths), json.dumps(event)],
        env={"PLAZA_MONGODB_URI": mongodb_uri, "PLAZA_DATABASE": "plaza-container"},
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout.splitlines()[-1])

    assert result["status"] == 404
    assert _LATE.isdisjoint(result["modules"])


def test_a_container_holds_few_connections(container: Function, replica_set: ReplicaSet) -> None:
    for _ in range(20):
        assert read_a_node(container)["statusCode"] == 404

    primary = replica_set.primary()
    others = [member for member in replica_set.members if member is not primary]
    # One watches the member, one or two do the work.
    assert 2 <= connections(primary) <= 3
    assert [connections(member) for member in others] == [1, 1]


def connections(member: Member) -> int:
    """Count the connections of Lambda containers to a member, idle ones too."""
    with MongoClient[Any]("127.0.0.1", member.port, directConnection=True) as client:
        found = client.admin.aggregate(
            [
                {"$currentOp": {"allUsers": True, "idleConnections": True}},
                {"$match": {"clientMetadata.env.name": "aws.lambda", "appName": "plaza"}},
            ]
        )
        return len({operation["connectionId"] for operation in found})


@pytest.mark.parametrize("is_frozen", [True, False])
def test_a_container_finds_another_primary(
    container: Function,
    replica_set: ReplicaSet,
    is_frozen: bool,  # noqa: FBT001 - the two cases
) -> None:
    """Frozen between two calls, as Lambda does, or not: its server dies, with its connections."""
    assert read_a_node(container)["statusCode"] == 404
    if is_frozen:
        container.process.send_signal(signal.SIGSTOP)
    replica_set.primary().kill()
    replica_set.primary()
    container.process.send_signal(signal.SIGCONT)

    began = time.monotonic()
    assert read_a_node(container)["statusCode"] == 404
    assert time.monotonic() - began < SERVER_SELECTION_TIMEOUT_MS / 1000
    replica_set.whole()


def test_an_outage_is_answered_before_the_time_is_over(package: Path, runtime_folder: Path) -> None:
    nothing = f"mongodb://127.0.0.1:{free_port()}/?replicaSet=plaza"
    with lambda_function(
        package / "content", runtime_folder, "app.app", 4.0, PLAZA_MONGODB_URI=nothing
    ) as container:
        began = time.monotonic()
        answer = read_a_node(container)

        assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (503, "unavailable")
        assert time.monotonic() - began < 4 + SECONDS_TO_START


def test_no_operation_outlasts_a_function() -> None:
    shortest = min(each.timeout_seconds for each in declared_functions(app, "prod"))

    assert shortest - MARGIN_SECONDS > OPERATION_TIMEOUT_MS / 1000
    assert SERVER_SELECTION_TIMEOUT_MS < OPERATION_TIMEOUT_MS

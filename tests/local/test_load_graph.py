"""script/load-graph as somebody runs it."""

import os
import pty
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from pymongo import MongoClient

from chalicelib.database import Document
from local.mongod import running_mongod
from tests.local.stack import ROOT

pytestmark = pytest.mark.processes

SAMPLE = "tests/social/graph_data"
COUNTS = "users: 42\ncircles: 15\nmembers: 65\n"


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """The environment of somebody whose local data are in a folder of their own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLAZA_")}
    return {**kept, "PLAZA_LOCAL_FOLDER": str(tmp_path)}


def load_graph(
    environment: Mapping[str, str], folder: str = SAMPLE
) -> "subprocess.CompletedProcess[str]":
    command = ["script/load-graph", folder]
    return subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_circles_are_loaded_into_the_local_servers_database(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    with running_mongod(tmp_path / "mongodb") as uri:
        done = load_graph(environment)

        assert (done.returncode, done.stdout, done.stderr) == (0, COUNTS, "")
        with MongoClient[Document](uri) as mongo:
            assert mongo["plaza"]["social.user"].count_documents({}) == 42


def test_a_person_who_looks_on_sees_how_far_it_is(
    environment: Mapping[str, str], mongodb_uri: str
) -> None:
    given = {**environment, "PLAZA_MONGODB_URI": mongodb_uri, "PLAZA_DATABASE": "plaza-test-graph"}
    ours, theirs = pty.openpty()
    command = ["script/load-graph", SAMPLE]
    with subprocess.Popen(
        command, env=given, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        assert process.wait() == 0
    shown = os.read(ours, 10_000).decode()
    os.close(ours)

    assert "users    [########################################] 42/42" in shown
    assert "members  [########################################] 65/65" in shown


@pytest.mark.parametrize(
    ("uri", "folder", "reason"),
    [
        ("", SAMPLE, "script/server is not running, and PLAZA_MONGODB_URI is not set"),
        ("nonsense", SAMPLE, "PLAZA_MONGODB_URI cannot be used"),
        ("", "tests/local", "tests/local has no .circles files"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    environment: Mapping[str, str], uri: str, folder: str, reason: str
) -> None:
    done = load_graph({**environment, "PLAZA_MONGODB_URI": uri}, folder)

    assert done.returncode == 1
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1

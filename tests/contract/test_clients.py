"""The clients that are made from the document do what a site does: post, page, read a report."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chalice.app import Chalice

from chalicelib.runtime import Runtime
from contract.clients import (
    TYPESCRIPT,
    python_client,
    typescript_tools,
    typescript_types,
)
from contract.programs import NoNode, program
from deploy.declared import ROOT
from tests.security.support.world import World, build
from tests.support.http_client import Client
from tests.support.serving import served
from tests.support.workers import Workers

pytestmark = pytest.mark.processes
# What both examples print.
DONE = {"texts": ["The moon is up.", "So it is.", "Since when?", "Since nine."], "impressions": 1}


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    """A node to comment on, and a campaign of which an ad was seen."""
    world = build(client, runtime, workers)
    world.as_("admin").put("/nodes/harbour:moon", title="Moon", url="https://harbour.example/moon")
    seen = client.request("POST", f"/ads/events/{world.names['event']}", body=b"")
    assert seen.status < 300
    workers.drain()
    return world


@pytest.fixture
def environment(app: Chalice, world: World, token: Callable[..., str]) -> Iterator[dict[str, str]]:
    """What an example is told by its environment."""
    with served(app) as url:
        yield {
            **os.environ,
            "PLAZA_URL": url,
            "PLAZA_TOKEN": token("admin", roles=["admin"]),
            "PLAZA_CAMPAIGN": world.names["campaign"],
        }


def printed(command: list[str], environment: dict[str, str]) -> object:
    """Run an example; return the JSON that it prints."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_python_client(tmp_path: Path, environment: dict[str, str]) -> None:
    python_client(tmp_path)

    python = program("python")
    example = str(ROOT / "contract" / "python" / "example.py")
    assert printed([python, example], environment | {"PYTHONPATH": str(tmp_path)}) == DONE


def test_the_typescript_types_and_fetch(tmp_path: Path, environment: dict[str, str]) -> None:
    try:
        tools = typescript_tools()
    except NoNode as failure:
        if "CI" in os.environ:
            raise
        pytest.skip(str(failure))
    for name in ("example.ts", "package.json", "tsconfig.json"):
        shutil.copy(TYPESCRIPT / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(tools.parent)
    typescript_types(tmp_path)

    checked = subprocess.run(
        [tools / "tsc", "-p", tmp_path], capture_output=True, text=True, check=False
    )

    assert checked.stdout == ""
    assert printed(["node", str(tmp_path / "build" / "example.js")], environment) == DONE

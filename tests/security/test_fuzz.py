"""Requests that nobody means well with: whatever comes, an answer in form and no failure of ours.

`PLAZA_FUZZ_REQUESTS` makes a run longer; the seed of a failing request is in its message.
"""

import os
import random

import pytest

from chalicelib.errors import Problem
from chalicelib.runtime import Runtime
from tests.security.support.requests import Hostile
from tests.security.support.world import World, build
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

REQUESTS = int(os.environ.get("PLAZA_FUZZ_REQUESTS", "600"))
SEEDS = (1, 2)
# What an answer must never tell: where the code is, or what it is made of.
LEAKS = (
    b"Traceback",
    b'File "',
    b"pymongo",
    b"mongod",
    b"chalicelib",
    b"NoneType",
    b"object at 0x",
)


def codes(kind: type[Problem] = Problem) -> set[str]:
    """Return the codes of every problem that is declared."""
    found = {kind.code} if getattr(kind, "code", None) else set()
    return found.union(*(codes(each) for each in kind.__subclasses__()))


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_request_has_an_answer_in_form(seed: int, world: World) -> None:
    declared = codes()
    hostile = Hostile(world, random.Random(seed))

    for number in range(REQUESTS // len(SEEDS)):
        request = hostile.request()
        reply = request.send()
        fault = fault_of(reply, declared)

        assert fault is None, f"seed {seed}, request {number}: {request}: {fault}"


def fault_of(reply: Reply, declared: set[str]) -> str | None:
    """Return the fault of an answer, or None."""
    told = [leak.decode() for leak in LEAKS if leak in reply.body]
    if told:
        return f"it tells of {told}"
    if reply.status >= 500:
        return f"{reply.status} {reply.body[:200]!r}"
    if reply.status < 400:
        return None
    if reply.headers.get("Content-Type") != "application/problem+json":
        return f"{reply.status} without a problem: {reply.body[:200]!r}"
    return None if reply.code in declared else f"the code {reply.code} is not declared"

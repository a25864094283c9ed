"""What every operation refuses alike: bad tokens, bodies, queries, paths, and calls too fast."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice

from app import create_app
from chalicelib.errors import Problem
from chalicelib.http import Operation, outcomes
from chalicelib.runtime import Runtime
from deploy.openapi.files import operations
from tests.security.support.world import World, build
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

# What a query may not leave out.
NEEDED = {
    "from": "2026-03-01",
    "to": "2026-03-02",
    "address": "page",
    "type": "application_rating",
    "site": "alpha",
    "q": "lighthouse",
}
# A part of a path that no type takes: some bound nothing but its length.
HUGE = "%00" * 2_000
# A body that the models take, where a call is counted only once its body is known.
ACCEPTED = {"POST /nodes/{node}/comments": b'{"text": "Again and again."}'}


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def declared(app: Chalice, problem: str) -> Iterator[Operation]:
    """Return the operations that declare a problem, by its code."""
    found = [each for each in operations(app) if outcomes.is_declared(each)]
    return (each for each in found if problem in {p.code for p in outcomes.problems(each)})


def target(world: World, operation: Operation) -> str:
    """Return the path of an operation on things that exist."""
    names = {"token": world.names["event"], "file": "docs.js", **world.names}
    if (operation.method, operation.path) == ("DELETE", "/sites/{site}/people/{user}"):
        # It takes people without an account alone.
        names["user"] = f"g_{'x' * 22}"
    return operation.path.format(**names)


def send(client: Client, operation: Operation, target: str, body: bytes, **headers: str) -> Reply:
    kinds = {"Content-Type": operation.content_types[0]} if operation.content_types else {}
    return client.request(operation.method, target, body=body, headers=kinds | headers)


def faults(
    app: Chalice, problem: str, call: Callable[[Operation], Reply]
) -> dict[str, tuple[int, str]]:
    """Return what each operation answered that did not answer with the problem."""
    found = {}
    for operation in declared(app, problem):
        reply = call(operation)
        answered = reply.json.get("code", "") if reply.body else ""
        if answered != problem:
            found[f"{operation.method} {operation.path}"] = (reply.status, answered)
    return found


def test_a_token_that_is_none_is_refused(world: World, app: Chalice) -> None:
    bearer = {"Authorization": "Bearer nonsense"}

    def call(operation: Operation) -> Reply:
        return send(world.client, operation, target(world, operation), b"{}", **bearer)

    assert faults(app, "unauthenticated", call) == {}


def test_a_caller_without_the_role_is_refused(world: World, app: Chalice) -> None:
    nobody = world.client.as_("nobody")

    def call(operation: Operation) -> Reply:
        return send(nobody, operation, target(world, operation), b"{}")

    needing = [each for each in declared(app, "forbidden") if _roles(each)]
    answers = {each.path: call(each).status for each in needing}
    assert set(answers.values()) <= {403}, answers


def test_a_body_that_is_no_json_is_refused(world: World, app: Chalice) -> None:
    admin = world.as_("admin")

    def call(operation: Operation) -> Reply:
        return send(admin, operation, target(world, operation), b"{")

    assert faults(app, "invalid_json", call) == {}


def test_a_body_over_the_limit_is_refused(world: World, app: Chalice) -> None:
    admin = world.as_("admin")

    def call(operation: Operation) -> Reply:
        large = b" " * (operation.rules.body_limit_bytes + 1)
        return send(admin, operation, target(world, operation), large)

    assert faults(app, "body_too_large", call) == {}


def test_a_body_of_another_type_is_refused(world: World, app: Chalice) -> None:
    admin = world.as_("admin")

    def call(operation: Operation) -> Reply:
        kind = {"Content-Type": "application/xml"}
        return send(admin, operation, target(world, operation), b"<a/>", **kind)

    assert faults(app, "unsupported_media_type", call) == {}


def test_what_no_model_takes_is_refused(world: World, app: Chalice) -> None:
    admin = world.as_("admin")

    def call(operation: Operation) -> Reply:
        path = target(world, operation)
        # Trackers add names to addresses that browsers open.
        if operation.signature.query is not None and operation.signature.opened != "always":
            return send(admin, operation, f"{path}?nonsense=1", b"{}")
        if operation.signature.body not in {None, bytes}:
            return send(admin, operation, path, b'{"nonsense": 1}')
        names = dict.fromkeys(operation.signature.path, HUGE)
        return send(admin, operation, operation.path.format(**names), b"")

    assert faults(app, "invalid_request", call) == {}


def test_a_cursor_of_no_listing_is_refused(world: World, app: Chalice) -> None:
    admin = world.as_("admin")

    def call(operation: Operation) -> Reply:
        query = operation.signature.query
        assert query is not None
        fields = query.model_fields
        needed = [field.alias or name for name, field in fields.items() if field.is_required()]
        given = [f"{name}={NEEDED[name]}" for name in needed]
        query_string = "&".join([*given, "cursor=nonsense"])
        return send(admin, operation, f"{target(world, operation)}?{query_string}", b"")

    assert faults(app, "invalid_cursor", call) == {}


def test_calls_that_come_too_fast_are_refused(world: World, app: Chalice, runtime: Runtime) -> None:
    """With limits of one write, each second one is refused whatever came of the first."""
    limited = _with_limits(runtime, 0.000_001)
    # An admin is not limited.
    hasty = Client(limited, world.client.token).as_("hasty")

    def call(operation: Operation) -> Reply:
        body = ACCEPTED.get(f"{operation.method} {operation.path}", b"{}")
        replies = [send(hasty, operation, target(world, operation), body) for _ in range(2)]
        return replies[-1]

    assert faults(app, "too_fast", call) == {}


def _with_limits(runtime: Runtime, factor: float) -> Chalice:
    settings = runtime.settings.model_copy(update={"limits": factor})
    return create_app(dataclasses.replace(runtime, settings=settings), LocalChalice)


def _roles(operation: Operation) -> tuple[Any, ...]:
    caller = operation.signature.caller
    return caller.roles if caller is not None else ()


def test_every_problem_has_a_title_and_a_code() -> None:
    """The document lists them, so none may be without."""
    waiting, found = [Problem], []
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting += kind.__subclasses__()

    assert [each.__name__ for each in found if not each.title or not each.code] == []

"""Who may do what: every route of the app, called by every kind of caller."""

import re

import orjson
import pytest
from chalice.app import Chalice

from chalicelib.runtime import Runtime
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row, expected_of
from tests.security.support.world import World, build
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def target_of(world: World, row: Row) -> str:
    """Return the address that a row is about, a new one if calls use it up."""
    names = {**world.names, **(row.made(world) if row.made else {}), **row.path}
    return row.call.split(" ", 1)[1].format(**names) + row.query


def call(world: World, row: Row, client: Client, target: str) -> Reply:
    """Make the call of a row by a caller's client."""
    method = row.call.split(" ", 1)[0]
    headers = {"Idempotency-Key": world.fresh()}
    if row.version is not None:
        headers["If-Match"] = f'"{row.version}"'
    if row.data:
        headers["Content-Type"] = "application/octet-stream"
        return client.request(method, target, body=row.data, headers=headers)
    if row.body is None:
        return client.request(method, target, headers=headers)
    headers["Content-Type"] = "application/json"
    return client.request(method, target, body=orjson.dumps(row.body), headers=headers)


@pytest.mark.parametrize("feature", FEATURES)
def test_each_caller_is_answered_as_the_matrix_says(feature: str, world: World) -> None:
    """The rows of a feature in their order, in one world: a row takes nothing from a later one."""
    wrong = {
        str(row): {
            caller: f"{answered} instead of {wanted}"
            for caller, wanted in expected_of(row).items()
            if (answered := call(world, row, world.as_(caller), target_of(world, row)).status)
            != wanted
        }
        for row in FEATURES[feature]
    }

    assert {row: found for row, found in wrong.items() if found} == {}


def routes_of(app: Chalice) -> set[str]:
    """Return each method and path of the app, with the path's parameters made alike."""
    return {
        f"{method} {re.sub(r'{[^}]+}', '{}', path)}"
        for path, methods in app.routes.items()
        for method in methods
        if method not in {"OPTIONS", "HEAD"}
    }


def test_every_route_has_a_row(app: Chalice) -> None:
    rows = {re.sub(r"{[^}]+}", "{}", row.call) for rows in FEATURES.values() for row in rows}

    assert routes_of(app) - rows == set(), "add rows to tests/security/support/matrix.py"
    assert rows - routes_of(app) == set(), "these rows have no route any more"

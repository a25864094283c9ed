"""Guests of a site: its readers in discussions there, and anonymous everywhere else."""

import re

import pytest
from chalice.app import Chalice

from chalicelib.http import Operation
from chalicelib.runtime import Runtime
from tests.security.support.callers import OWN_SITE
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row, expected_of
from tests.security.support.world import World, build
from tests.security.test_access_matrix import call, target_of
from tests.support.http_client import Client
from tests.support.workers import Workers

# Routes about the caller alone, whatever site they are a guest of.
OWN = {
    "GET /me",
    "POST /preview",
    "DELETE /users/me",
    "GET /users/me/erasure",
    "GET /users/me/export",
}


def is_in_discussions(method_and_path: str) -> bool:
    """Return whether a route is about discussions of the site in its path."""
    _, path = method_and_path.split(" ")
    of_sites = (
        "comments",
        "discuss(ions|ed)",
        "guests",
        "blocked",
        "people",
        "moderation",
        "search",
        "sign-in",
    )
    parts = "|".join(of_sites)
    return path.startswith("/nodes/{node}") or bool(re.match(rf"/sites/{{site}}/({parts})", path))


def operations_of(app: Chalice) -> dict[str, Operation]:
    return {
        f"{method} {path}": entry.view_function.operation
        for path, methods in app.routes.items()
        for method, entry in methods.items()
        if hasattr(entry.view_function, "operation") and method != "HEAD"
    }


def test_guests_are_admitted_to_discussions_and_to_themselves_alone(app: Chalice) -> None:
    found = {
        name for name, each in operations_of(app).items() if each.rules.of_one_site is not None
    }

    wanted = {name for name in operations_of(app) if is_in_discussions(name)} | OWN
    assert found == wanted


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def alike(row: Row) -> str:
    """Return the caller of the matrix whose answers a guest has."""
    is_reader = row.call in OWN or is_in_discussions(row.call)
    return "stranger" if is_reader else "anonymous"


@pytest.mark.parametrize("feature", FEATURES)
def test_a_guest_is_answered_as_a_reader_there_and_as_nobody_elsewhere(
    feature: str, world: World, client: Client
) -> None:
    begun = client.post(f"/sites/{OWN_SITE}/guests", name="Ferry passenger")
    bearer = {"Authorization": f"Bearer {begun.json['token']}"}
    guest = Client(client.app, client.token, bearer)
    wrong = {}
    for row in FEATURES[feature]:
        wanted = expected_of(row)[alike(row)]
        answered = call(world, row, guest, target_of(world, row)).status
        if answered != wanted:
            wrong[str(row)] = f"{answered} instead of {wanted}"

    assert wrong == {}

"""People of one site: its readers in discussions there, and anonymous everywhere else.

They are its guests, and the people of its own issuers.
"""

import re

import jwt
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
    "GET /changes",
    "GET /notifications",
    "PUT /notifications/seen",
    "PUT /notifications/read",
    "GET /notifications/mail",
    "PUT /notifications/mail",
    "GET /notifications/push/browsers",
    "GET /notifications/push/key",
    "PUT /notifications/push",
    "DELETE /notifications/push/browsers/{subscription}",
    "GET /notifications/preferences",
    "PUT /notifications/preferences",
    "GET /watches",
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
        "providers",
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


def test_people_of_one_site_are_admitted_to_discussions_and_to_themselves_alone(
    app: Chalice,
) -> None:
    found = {
        name for name, each in operations_of(app).items() if each.rules.of_one_site is not None
    }

    wanted = {name for name in operations_of(app) if is_in_discussions(name)} | OWN
    assert found == wanted


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def alike(row: Row) -> str:
    """Return the caller of the matrix whose answers a person of one site has."""
    is_reader = row.call in OWN or is_in_discussions(row.call)
    return "stranger" if is_reader else "anonymous"


def token_of(kind: str, world: World, client: Client) -> str:
    """Return the token of a guest of the site, or of a person of its own issuer."""
    if kind == "guest":
        begun = client.post(f"/sites/{OWN_SITE}/guests", name="Ferry passenger")
        return str(begun.json["token"])
    issuer = {"iss": "https://ferry.example", "secret": "a-secret-of-the-ferry-".ljust(32, "x")}
    accepted = world.as_("publisher_own").put(f"/sites/{OWN_SITE}/issuers/ferry", **issuer)
    assert accepted.status == 200
    said = {"iss": issuer["iss"], "aud": f"plaza:{OWN_SITE}", "sub": "7", "exp": 4_000_000_000}
    return jwt.encode({**said, "roles": ["admin"]}, issuer["secret"], "HS256")


@pytest.mark.parametrize("kind", ["guest", "person of an issuer"])
@pytest.mark.parametrize("feature", FEATURES)
def test_a_person_of_one_site_is_a_reader_there_and_nobody_elsewhere(
    feature: str, kind: str, world: World, client: Client
) -> None:
    bearer = {"Authorization": f"Bearer {token_of(kind, world, client)}"}
    guest = Client(client.app, client.token, bearer)
    wrong = {}
    for row in FEATURES[feature]:
        wanted = expected_of(row)[alike(row)]
        answered = call(world, row, guest, target_of(world, row)).status
        if answered != wanted:
            wrong[str(row)] = f"{answered} instead of {wanted}"

    assert wrong == {}

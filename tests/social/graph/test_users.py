"""Users: made by their first write, named by themselves."""

from typing import Any

import pytest

from tests.support.http_client import Client


def test_a_user_is_made_by_the_first_write_and_named_by_the_token(client: Client) -> None:
    ann = client.as_("ann", name="Ann of the token")
    assert ann.get("/users/me").code == "unknown_user"

    ann.put("/users/me/circles/club", name="Club")

    assert ann.get("/users/me").json["name"] == "Ann of the token"


def test_a_user_has_a_name_and_a_profile_and_what_is_left_out_stays(client: Client) -> None:
    ann = client.as_("ann")
    profile = {"location": "Aarhus", "interests": ["tea"], "age": 40}

    assert ann.put("/users/me", name="Ann", profile=profile).json == {
        "id": "ann",
        "name": "Ann",
        "profile": profile,
        "profile_circles": {},
        "counts": {"followers": 0, "following": 0},
    }
    assert ann.put("/users/me", name="Anna").json["profile"] == profile
    assert client.get("/users/ann").json["name"] == "Anna"
    assert client.get("/users/nobody").code == "unknown_user"


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "Ann", "roles": ["admin"]},
        {"profile": {"$set": 1}},
        {"profile": {"age": "40"}},
        {"profile": {"age": 151}},
        {"profile": {"location": "a\x00b"}},
        {"profile": {"interests": ["tea"] * 21}},
        {"counts": {"followers": 1}},
    ],
)
def test_a_hostile_profile_is_refused(client: Client, body: dict[str, Any]) -> None:
    assert client.as_("ann").put("/users/me", **body).code == "invalid_request"


@pytest.mark.parametrize("name", ["Admin", "\u0410dmin", "Plaza Support", "A\u200bdmin"])
def test_nobody_takes_a_name_of_staff(client: Client, name: str) -> None:
    refused = client.as_("eve").put("/users/me", name=name)

    assert refused.status == 422
    assert client.get("/users/eve").code == "unknown_user"


def test_staff_is_called_what_it_is(client: Client) -> None:
    named = client.as_("mo", roles=["moderator"]).put("/users/me", name="Moderator Mo")

    assert (named.status, named.json["name"]) == (200, "Moderator Mo")

"""What a caller is told of themselves."""

from tests.support.http_client import Client


def test_a_token_is_told_as_it_is_taken(client: Client) -> None:
    claims = {"roles": ["moderator", "baker", "advertiser"], "sites": ["shop", "blog"]}

    reply = client.as_("mo", **claims, advertiser="north").get("/me")

    assert reply.json == {
        "id": "mo",
        "name": "Mo",
        "roles": ["moderator", "advertiser"],
        "sites": ["blog", "shop"],
        "advertiser": "north",
    }
    assert reply.headers["Cache-Control"] == "private, no-store"


def test_a_reader_has_no_roles_and_names_no_sites(client: Client) -> None:
    reply = client.as_("ann").get("/me")

    assert reply.json == {
        "id": "ann",
        "name": "Ann",
        "roles": [],
        "sites": None,
        "advertiser": None,
    }


def test_no_sites_and_sites_unnamed_are_two_things(client: Client) -> None:
    assert client.as_("mo", roles=["moderator"], sites=[]).get("/me").json["sites"] == []


def test_nobody_is_not_told(client: Client) -> None:
    assert (client.get("/me").status, client.get("/me").code) == (401, "unauthenticated")

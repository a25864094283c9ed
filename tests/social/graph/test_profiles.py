"""Profiles: fields of registered kinds, each for everybody or for circles of its user."""

from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from chalicelib.social.graph import profiles
from chalicelib.social.graph.audience import Reader, is_in_circles
from chalicelib.social.graph.profiles import PROFILE_FIELDS, SentProfile, ShownProfile, register
from chalicelib.social.personal_data import traces
from chalicelib.texts import Line
from tests.social.support.drivers import Town, circle, follow
from tests.support.http_client import Client

PROFILE = {"location": "Aarhus", "age": 40, "interests": ["tea"], "about": "I row."}


def seen(client: Client, reader: str | None, user: str = "ann") -> Any:
    caller = client.as_(reader) if reader else client
    return caller.get(f"/users/{user}").json["profile"]


@pytest.fixture(
    params=[
        pytest.param(most, marks=pytest.mark.bounds(social={"embedded_max": most}))
        for most in (1_000, 0)
    ]
)
def store() -> None:
    """Each store of the graph in turn, by the bound that chooses it."""


@pytest.mark.usefixtures("store")
def test_a_field_is_read_by_those_it_is_for(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    circle(client, "ann", "work", "cy")
    follow(client, "dan", "ann")
    circles = {"age": ["club"], "about": ["*circles*"], "location": ["*public*"]}

    own = client.as_("ann").put("/users/me", profile=PROFILE, profile_circles=circles).json

    assert own["profile"] == PROFILE
    assert own["profile_circles"] == {"age": ["club"], "about": ["*circles*"]}
    assert client.as_("ann").get("/users/me").json == own
    public = {"location": "Aarhus", "interests": ["tea"]}
    assert seen(client, None) == seen(client, "dan") == public
    assert seen(client, "bob") == PROFILE
    assert seen(client, "cy") == {**public, "about": "I row."}
    assert seen(client, "ann") == PROFILE
    for reader in (client, client.as_("bob")):
        assert "profile_circles" not in reader.get("/users/ann").json


def test_who_leaves_the_circle_or_is_blocked_reads_no_more(client: Client) -> None:
    circle(client, "ann", "club", "bob", "cy")
    client.as_("ann").put("/users/me", profile=PROFILE, profile_circles={"age": ["club"]})
    client.as_("ann").delete("/users/me/circles/club/members/bob")
    client.as_("cy").put("/users/me/blocked/ann")

    for reader in ("bob", "cy"):
        assert "age" not in seen(client, reader)


def test_what_is_left_out_stays_and_what_is_given_replaces_the_whole(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    ann = client.as_("ann")
    ann.put("/users/me", profile=PROFILE, profile_circles={"age": ["club"]})

    assert ann.put("/users/me", profile={"age": 41}).json["profile_circles"] == {"age": ["club"]}
    assert seen(client, None) == {}
    assert ann.put("/users/me", profile_circles={}).json["profile"] == {"age": 41}
    assert seen(client, None) == {"age": 41}


@pytest.mark.parametrize(
    ("circles", "code"),
    [
        ({"age": ["nowhere"]}, "unknown_circle"),
        ({"shoe_size": ["club"]}, "invalid_request"),
        ({"age": []}, "invalid_request"),
        ({"age": ["*public*", "club"]}, "invalid_request"),
        ({"age": ["club", "club"]}, "invalid_request"),
        ({"$set": ["club"]}, "invalid_request"),
        ({"age": "club"}, "invalid_request"),
    ],
)
def test_circles_that_nobody_can_be_in_are_refused(client: Client, circles: Any, code: str) -> None:
    circle(client, "ann", "club")
    refused = client.as_("ann").put("/users/me", name="Eve", profile_circles=circles)
    assert refused.code == code
    assert client.as_("ann").get("/users/me").json["name"] == "Ann"


def test_a_new_user_has_no_circle_to_show_a_field_to(client: Client) -> None:
    assert client.as_("new").put("/users/me", profile_circles={"age": ["club"]}).code == (
        "unknown_circle"
    )


def test_circles_of_a_profile_are_exported(town: Town) -> None:
    circle(town.client, "ann", "club", "bob")
    town.client.as_("ann").put("/users/me", profile=PROFILE, profile_circles={"age": ["club"]})

    (user,) = (each for each in traces(town.runtime.database, "ann") if each.name == "user")
    (document,) = user.rows.find(user.where)
    entry = next(iter(user.show(document)))["data"]
    assert (entry["profile"], entry["profile_circles"]) == (PROFILE, {"age": ["club"]})


@pytest.fixture
def employer(monkeypatch: pytest.MonkeyPatch) -> None:
    """An application with a field of its own."""
    monkeypatch.setattr(profiles, "PROFILE_FIELDS", dict(PROFILE_FIELDS))
    register("employer", Annotated[Line, Field(description="Where they work.")])


@pytest.mark.usefixtures("employer")
def test_an_application_registers_fields_of_its_own() -> None:
    sent: TypeAdapter[Any] = TypeAdapter(SentProfile)

    assert sent.validate_python({"employer": " Mill "}).model_dump(exclude_none=True) == {
        "employer": "Mill"
    }
    for wrong in ({"employer": 1}, {"employer": ""}, {"employed": "Mill"}):
        with pytest.raises(ValidationError):
            sent.validate_python(wrong, strict=True)
    shown = TypeAdapter(ShownProfile).json_schema(mode="serialization")
    assert shown["properties"].keys() == {*PROFILE_FIELDS, "employer"}
    assert shown["properties"]["employer"]["description"] == "Where they work."


@pytest.mark.parametrize("name", ["", "Employer", "a.b", "$set", "age", "a" * 65])
@pytest.mark.usefixtures("employer")
def test_a_field_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValueError, match=r"has to be|already"):
        register(name, Line)


@pytest.mark.usefixtures("employer")
def test_a_profile_has_a_bound_of_fields_and_of_bytes() -> None:
    for number in range(profiles.MAX_FIELDS - len(profiles.PROFILE_FIELDS)):
        register(f"field_{number}", Line)
    with pytest.raises(ValueError, match="at most"):
        register("one_more", Line)
    sent: TypeAdapter[Any] = TypeAdapter(SentProfile)
    large = {f"field_{number}": "ø" * 200 for number in range(30)}
    with pytest.raises(ValidationError, match="10,000 bytes"):
        sent.validate_python(large)


def test_a_field_that_is_registered_no_more_is_not_shown() -> None:
    profile = {"age": 40, "shoe_size": 43}
    assert profiles.readable(profile, {}, "ann", Reader("ann")) == {"age": 40}


def test_nobody_is_in_circles_of_who_blocks_them() -> None:
    circled = {"ann": frozenset({"club"})}
    assert is_in_circles(Reader("bob", circled), "ann", ["club"])
    blocked = Reader("bob", circled, blocked=frozenset({"ann"}))
    assert not is_in_circles(blocked, "ann", ["club"])
    assert not is_in_circles(blocked, "ann", ["*circles*"])

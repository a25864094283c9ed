"""Descriptors in the API's document: one of the registered types, sent and answered."""

from typing import Any, Literal

import jsonschema_rs
import pytest
from pydantic import TypeAdapter, create_model

from chalicelib.people.ids import UserId
from chalicelib.social.activity.actions import types
from chalicelib.social.activity.actions.answers import ActionAnswer
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.types import Descriptor
from chalicelib.social.activity.refs import Name, RefId
from tests.social.activity.support.types import Register

Json = dict[str, Any]

FIELDS: dict[str, Any] = {
    "type": (Literal["party_held"], ...),
    "host_id": (UserId, ...),
    "host_name": (Name | None, None),
    "guest_id": (UserId | None, None),
    "guest_name": (Name | None, None),
    "room_id": (RefId | None, ...),
    "room_name": (Name | None, None),
    "cakes": (int, 1),
}


@pytest.fixture(autouse=True)
def parties(registered: Register) -> None:
    """An application with a type of its own."""
    registered(create_model("PartyHeld", __base__=Descriptor, **FIELDS))


def schema(kind: Any, mode: Literal["validation", "serialization"]) -> Json:
    return TypeAdapter(kind).json_schema(mode=mode, ref_template="#/{model}")


def test_a_sent_descriptor_is_of_a_type_that_the_application_has_registered() -> None:
    descriptor = schema(NewAction, "validation")["properties"]["descriptor"]

    assert descriptor["discriminator"]["propertyName"] == "type"
    mapping = descriptor["discriminator"]["mapping"]
    assert mapping["party_held"] == "#/PartyHeld"
    assert {"$ref": "#/PartyHeld"} in descriptor["oneOf"]
    assert len(descriptor["oneOf"]) == len(mapping)
    # Plaza alone reports the others.
    assert mapping.keys() == types.sendable_types().keys()


def test_an_answered_descriptor_is_of_a_registered_type_or_of_one_that_has_gone() -> None:
    *registered, other = schema(ActionAnswer, "serialization")["properties"]["descriptor"]["anyOf"]

    assert {"$ref": "#/PartyHeldAnswer"} in registered
    assert len(registered) == len(types.all_types())
    gone = jsonschema_rs.Draft202012Validator(other)
    assert gone.is_valid({"type": "rating_withdrawn", "tags": [], "applicant_id": "nils"})
    assert not gone.is_valid({"type": "party_held", "tags": []})
    assert not gone.is_valid({"tags": []})


def test_an_answered_descriptor_has_no_nulls_and_lacks_what_was_left_out() -> None:
    shape = schema(ActionAnswer, "serialization")["$defs"]["PartyHeldAnswer"]

    assert set(shape["required"]) == {"type", "tags", "host_id", "host_name", "cakes"}
    assert shape["properties"].keys() == {*FIELDS, "tags"}
    assert "null" not in str(shape["properties"])


def test_an_answered_user_may_have_been_erased() -> None:
    shape = schema(ActionAnswer, "serialization")["$defs"]["PartyHeldAnswer"]

    assert ":erased" in shape["properties"]["guest_id"]["description"]
    assert TypeAdapter(RefId).validate_python(":erased")

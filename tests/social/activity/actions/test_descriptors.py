"""Descriptors in the API's document: one of the registered types, sent and answered."""

from typing import Any, Literal

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


@pytest.mark.parametrize(
    ("kind", "mode", "shape"),
    [(NewAction, "validation", "PartyHeld"), (ActionAnswer, "serialization", "PartyHeldAnswer")],
)
def test_a_descriptor_is_one_of_the_registered_types(kind: Any, mode: Any, shape: str) -> None:
    plazas = {name for name, model in types.DESCRIPTORS.items() if model.is_plazas}
    descriptor = schema(kind, mode)["properties"]["descriptor"]

    assert descriptor["discriminator"]["propertyName"] == "type"
    assert descriptor["discriminator"]["mapping"]["party_held"] == f"#/{shape}"
    assert {"$ref": f"#/{shape}"} in descriptor["oneOf"]
    mapping = descriptor["discriminator"]["mapping"]
    assert len(descriptor["oneOf"]) == len(mapping)
    # What Plaza tells of is answered, and not taken.
    told = plazas if mode == "serialization" else set()
    assert mapping.keys() == types.sendable_types().keys() | told


def test_an_answered_descriptor_has_no_nulls_and_lacks_what_was_left_out() -> None:
    shape = schema(ActionAnswer, "serialization")["$defs"]["PartyHeldAnswer"]

    assert set(shape["required"]) == {"type", "tags", "host_id", "host_name", "cakes"}
    assert shape["properties"].keys() == {*FIELDS, "tags"}
    assert "null" not in str(shape["properties"])


def test_an_answered_user_may_have_been_erased() -> None:
    shape = schema(ActionAnswer, "serialization")["$defs"]["PartyHeldAnswer"]

    assert ":erased" in shape["properties"]["guest_id"]["description"]
    assert TypeAdapter(RefId).validate_python(":erased")

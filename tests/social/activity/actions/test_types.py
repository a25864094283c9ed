"""Descriptors of any type that an application registers, and what an action says besides."""

from typing import Any, Literal

import orjson
import pytest
from pydantic import ValidationError, create_model

from chalicelib.people.ids import UserId
from chalicelib.social.activity.actions import types
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.types import Descriptor, mentions, register
from chalicelib.social.activity.refs import Name, RefId
from tests.social.activity.support.types import Register

JOB = {"position_id": "p-1", "position_name": "Engineer"}
MARY = {"applicant_id": "a-1", "applicant_name": "Mary Fanning"}
APPLICATION = {**JOB, **MARY}
RATING = {"rater_id": "ann", "rater_name": "Ann", "rating_score": 4.5}


def parsed(descriptor: Any, **given: Any) -> NewAction:
    body = orjson.dumps({"scope": "team", "descriptor": descriptor, **given})
    return NewAction.model_validate_json(body, strict=True)


def fault(descriptor: Any, **given: Any) -> tuple[str, str]:
    """Return where the first fault lies, and its code."""
    with pytest.raises(ValidationError) as failure:
        parsed(descriptor, **given)
    first = failure.value.errors()[0]
    return ".".join(map(str, first["loc"])), first["type"]


@pytest.fixture
def interviews(registered: Register) -> None:
    """An application with a type of its own."""

    class InterviewHeld(Descriptor):
        type: Literal["interview_held"]
        applicant_id: RefId
        applicant_name: Name
        guest_id: RefId
        guest_name: Name
        room_name: Name

    registered(InterviewHeld)


@pytest.mark.parametrize(
    "descriptor",
    [
        {"type": "application_rating", **APPLICATION, **RATING, "rating_text": "Great"},
        {"type": "new_applicant", **APPLICATION, "tags": ["skilled", "no-cookie"]},
        {"type": "applicant_hired", **APPLICATION, "hired_by_id": "b", "hired_by_name": "Bob"},
        {"type": "rating_requested", **APPLICATION, "requester_id": "b", "requester_name": "Bob"},
    ],
    ids=lambda descriptor: descriptor["type"],
)
def test_the_recruiting_application_has_four_types(descriptor: dict[str, Any]) -> None:
    stored = parsed(descriptor).descriptor.model_dump(exclude_none=True)
    assert stored == {"tags": [], **descriptor}


@pytest.mark.parametrize(
    "descriptor",
    [
        {"type": "nothing"},
        {},
        7,
        None,
        [],
        {"type": None},
        {"type": {"$ne": ""}},
        {"type": "x" * 99},
    ],
)
def test_an_unknown_type_is_refused_with_the_known_ones(descriptor: Any) -> None:
    assert fault(descriptor) == ("descriptor", "unknown_type")
    with pytest.raises(ValidationError) as failure:
        parsed(descriptor)
    known = "applicant_hired, application_rating, new_applicant, rating_requested"
    assert failure.value.errors()[0]["msg"] == f"the types are {known}"


def test_a_type_takes_its_own_fields_alone() -> None:
    assert fault({"type": "new_applicant", **APPLICATION, **RATING}) == (
        "descriptor.new_applicant.rater_id",
        "extra_forbidden",
    )
    assert fault({"type": "new_applicant", **JOB}) == (
        "descriptor.new_applicant.applicant_id",
        "missing",
    )


@pytest.mark.parametrize("score", [-0.1, 5.1, "4", None, True])
def test_a_rating_is_a_number_up_to_five(score: Any) -> None:
    descriptor = {"type": "application_rating", **APPLICATION, **RATING, "rating_score": score}
    assert fault(descriptor)[0] == "descriptor.application_rating.rating_score"


@pytest.mark.parametrize("id_", ["", "$where", "a b", "a/b", "x" * 65, {"$gt": ""}, 7])
def test_hostile_ids_are_refused(id_: Any) -> None:
    descriptor = {"type": "new_applicant", **APPLICATION, "applicant_id": id_}
    assert fault(descriptor)[0] == "descriptor.new_applicant.applicant_id"


@pytest.mark.parametrize(
    "tags",
    [["x", "x"], [f"x{n}" for n in range(21)], [""], ["x" * 65], ["a\0b"], "skilled", [{"$ne": 1}]],
)
def test_tags_are_few_and_short(tags: Any) -> None:
    where, _ = fault({"type": "new_applicant", **APPLICATION, "tags": tags})
    assert where.startswith("descriptor.new_applicant.tags")


@pytest.mark.usefixtures("interviews")
def test_an_application_registers_types_of_its_own() -> None:
    held = {"applicant_id": "a", "applicant_name": "A", "guest_id": "g", "guest_name": "G"}
    action = parsed({"type": "interview_held", **held, "room_name": "Blue"})
    assert action.descriptor.model_dump()["guest_id"] == "g"
    with pytest.raises(ValidationError, match="interview_held, new_applicant"):
        parsed({"type": "nothing"})


@pytest.mark.usefixtures("interviews")
def test_a_type_is_registered_once() -> None:
    class Again(Descriptor):
        type: Literal["interview_held"]

    with pytest.raises(ValueError, match="registered already"):
        register(Again)


def test_a_type_states_one_name() -> None:
    class Nameless(Descriptor):
        type: str

    with pytest.raises(TypeError, match="Literal"):
        register(Nameless)


@pytest.mark.usefixtures("interviews")
@pytest.mark.parametrize(
    "fields",
    [
        {"guest_id": (list[RefId], ...), "guest_name": (Name, ...)},
        {"guest_id": (int, ...), "guest_name": (Name, ...)},
        {"guest_id": (str, ...), "guest_name": (Name, ...)},
        {"host_id": (UserId, ...)},
        {"host": (UserId | None, None)},
        {"guest_id": (UserId, ...), "guest_name": (Name, ...)},
        {"rater_id": (RefId, ...), "rater_name": (Name, ...)},
        dict(
            pair
            for n in range(40)
            for pair in [(f"x{n}_id", (RefId, ...)), (f"x{n}_name", (Name, ...))]
        ),
    ],
    ids=["list", "int", "str", "unnamed", "no id", "a user here", "a user there", "too many"],
)
def test_a_type_whose_ids_could_not_be_found_again_is_refused(fields: dict[str, Any]) -> None:
    of_type: dict[str, Any] = {"type": (Literal["wrong"], ...), **fields}
    with pytest.raises(TypeError, match=r"Wrong\.|at most 40"):
        register(create_model("Wrong", __base__=Descriptor, **of_type))
    assert "wrong" not in types.DESCRIPTORS


@pytest.mark.usefixtures("interviews")
def test_an_id_may_be_left_out_where_its_type_allows() -> None:
    fields: dict[str, Any] = {
        "type": (Literal["held"], ...),
        "host_id": (UserId | None, None),
        "host_name": (Name | None, None),
        "room_id": (RefId | None, None),
        "room_name": (Name | None, None),
    }
    register(create_model("Held", __base__=Descriptor, **fields))
    assert types.named_users()["host_id"] == "host_name"
    assert types.named_things()["room_id"] == "room_name"
    assert mentions("ann", [], {"type": "held", "host_id": "bob"}) == ["ann", "bob"]


def test_a_descriptor_is_bounded_as_a_whole(registered: Register) -> None:
    class Told(Descriptor):
        type: Literal["told"]
        text: str

    registered(Told)
    room = types.MAX_DESCRIPTOR_BYTES - len('{"tags":[],"type":"told","text":""}')
    assert parsed({"type": "told", "text": "x" * room})
    assert fault({"type": "told", "text": "x" * (room + 1)})[0] == "descriptor.told"
    assert fault({"type": "told", "text": "ß" * (room // 2 + 1)})[0] == "descriptor.told"


def test_users_are_told_from_what_the_application_keeps() -> None:
    assert types.named_users().keys() == {"hired_by_id", "rater_id", "requester_id"}
    assert types.named_things().keys() == {"applicant_id", "page_id", "position_id"}


@pytest.mark.usefixtures("interviews")
def test_a_name_belongs_to_the_id_beside_it() -> None:
    assert types.named_fields() == {
        "applicant_id": "applicant_name",
        "guest_id": "guest_name",
        "hired_by_id": "hired_by_name",
        "page_id": "page_name",
        "position_id": "position_name",
        "rater_id": "rater_name",
        "requester_id": "requester_name",
    }


def test_an_action_mentions_each_id_once() -> None:
    descriptor = {"type": "application_rating", **APPLICATION, **RATING}
    assert mentions("ann", ["a-1", "x"], descriptor) == ["a-1", "ann", "p-1", "x"]


NEW = {"type": "new_applicant", **APPLICATION}
REF = {"id": "a-1", "type": "applicant", "name": "Mary"}


@pytest.mark.parametrize(
    "given",
    [
        {"scope": "everyone"},
        {"scope": "team", "audience": ["ann"]},
        {"scope": "restricted"},
        {"scope": "restricted", "audience": []},
        {"scope": "restricted", "audience": ["ann", "ann"]},
        {"scope": "restricted", "audience": ["$ann"]},
        {"scope": "restricted", "audience": [f"u{number}" for number in range(1_001)]},
        {"refs": [REF, REF]},
        {"refs": [{**REF, "id": f"a-{number}"} for number in range(21)]},
        {"refs": [{**REF, "type": "$where"}]},
        {"refs": [{**REF, "name": ""}]},
        {"hidden": True},
    ],
)
def test_what_does_not_make_an_action(given: dict[str, Any]) -> None:
    assert fault(NEW, **given)


def test_an_action_may_be_restricted_to_an_audience_and_be_about_many_things() -> None:
    refs = [{**REF, "id": f"a-{number}"} for number in range(20)]
    action = parsed(NEW, scope="restricted", audience=["ann", "auth0|7"], refs=refs)
    assert action.audience == ["ann", "auth0|7"]
    assert len(action.refs) == 20

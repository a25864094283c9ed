"""Posts in the API's document: one of the registered types, sent and answered."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter

from chalicelib.http import Input
from chalicelib.social.posts.answers import PostAnswer
from chalicelib.social.posts.forms import NewPost, PostEdit
from chalicelib.social.posts.types import POST_TYPES

Json = dict[str, Any]


class SightingDetail(Input):
    """A bird that was seen."""

    bird: str
    count: int = 1
    ring: Annotated[str | None, Field(max_length=8)] = None


@pytest.fixture(autouse=True)
def sightings(monkeypatch: pytest.MonkeyPatch) -> None:
    """An application with a type of its own."""
    monkeypatch.setitem(POST_TYPES, "sighting", SightingDetail)


def schema(kind: Any, mode: Literal["validation", "serialization"] = "validation") -> Json:
    return TypeAdapter(kind).json_schema(mode=mode, ref_template="#/{model}")


@pytest.mark.parametrize(
    ("kind", "mode", "shape"),
    [(NewPost, "validation", "NewSightingPost"), (PostAnswer, "serialization", "SightingPost")],
)
def test_a_post_is_one_of_the_registered_types(kind: Any, mode: Any, shape: str) -> None:
    post = schema(kind, mode)
    post = post["$defs"]["PostAnswer"] if "$ref" in post else post

    assert post["discriminator"]["propertyName"] == "type"
    assert post["discriminator"]["mapping"].keys() == POST_TYPES.keys()
    assert post["discriminator"]["mapping"]["sighting"] == f"#/{shape}"
    assert {"$ref": f"#/{shape}"} in post["oneOf"]


def test_an_edit_takes_the_detail_of_any_type() -> None:
    assert {"$ref": "#/SightingDetail"} in schema(PostEdit)["properties"]["detail"]["anyOf"]


def test_an_answered_detail_has_no_nulls_and_lacks_what_was_left_out() -> None:
    shape = schema(PostAnswer, "serialization")["$defs"]["SightingDetailAnswer"]

    assert set(shape["required"]) == {"bird", "count"}
    assert shape["properties"]["ring"]["maxLength"] == 8
    assert "null" not in str(shape["properties"])


def test_a_post_of_an_application_s_own_type_is_published() -> None:
    given = b'{"type": "sighting", "detail": {"bird": "eider"}, "circles": ["*public*"]}'

    post = NewPost.model_validate_json(given, strict=True)

    assert post.detail == SightingDetail(bird="eider")

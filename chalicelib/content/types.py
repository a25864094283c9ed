"""Types of content, each with a model of its detail; an application registers its own."""

from abc import abstractmethod
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

import orjson
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
)
from pydantic_core import PydanticKnownError

from chalicelib.assets.pictures import PICTURE, fields_of
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Input, parse_part
from chalicelib.ids import ID_PATTERN
from chalicelib.registered import name_in
from chalicelib.texts import Line, Paragraphs, at_most

MAX_TEXT_CHARACTERS = 200_000
MAX_CAPTION_CHARACTERS = 2_000


def _check_utf16_length(text: str) -> str:
    """Refuse a text that is too long in UTF-16, where an emoji has the length 2.

    The bound limits answers: a UTF-16 unit takes at most six bytes, and an answer has a page's text
    up to three times.
    """
    if not text.isascii() and len(text.encode("utf-16-le")) > 2 * MAX_TEXT_CHARACTERS:
        raise PydanticKnownError("string_too_long", {"max_length": MAX_TEXT_CHARACTERS})
    return text


MAX_TEXT_SENT_BYTES = 6 * MAX_TEXT_CHARACTERS + len('\\"\\"')
Text = Annotated[
    Paragraphs,
    at_most(MAX_TEXT_CHARACTERS),
    AfterValidator(_check_utf16_length),
    Field(
        description='Markdown, with tables; `![alt](asset:<id> "caption")` is a figure. Characters '
        "beyond U+FFFF, such as emoji, count twice.",
        json_schema_extra={"x-plaza-max-bytes": MAX_TEXT_SENT_BYTES},
    ),
]
AssetId = Annotated[
    str,
    StringConstraints(pattern=ID_PATTERN),
    PICTURE,
    Field(
        description="The id of an asset that is a picture, of a site that you write for.",
        examples=["aaneGAECAwQFBgcI"],
    ),
]


def _example(**detail: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [detail]})


class Detail(Input):
    """The fields of a type of content beside title, summary and tags."""

    @abstractmethod
    def markdown(self) -> str:
        """Return the Markdown to render at publication."""


class PageContent(Detail):
    """A page that stays: a guide, an imprint."""

    model_config = _example(text="# The moon\n\nIt is full on Friday.", section="guides")

    text: Text
    section: Line | None = None

    def markdown(self) -> str:
        """Return the text."""
        return self.text


class BlogContent(Detail):
    """A post or an article, of its day."""

    model_config = _example(text="The ferry sails at *nine* now.", cover="aaneGAECAwQFBgcI")

    text: Text
    cover: AssetId | None = None

    def markdown(self) -> str:
        """Return the text."""
        return self.text


class PhotoContent(Detail):
    """A photo with its caption."""

    model_config = _example(asset="aaneGAECAwQFBgcI", caption="The harbour at dawn.")

    asset: AssetId
    caption: Annotated[Paragraphs, at_most(MAX_CAPTION_CHARACTERS)]
    taken: date | None = Field(None, description="The day it was taken.")
    place: Line | None = None

    def markdown(self) -> str:
        """Return the picture, and below it the caption."""
        return f"![](asset:{self.asset})\n\n{self.caption}"


# The types by name. An application adds its types before the first request, and before
# `script/openapi`.
CONTENT_TYPES: dict[str, type[Detail]] = {
    "page": PageContent,
    "blog": BlogContent,
    "photo": PhotoContent,
}


TypeName = Annotated[
    str,
    AfterValidator(name_in(CONTENT_TYPES)),
    Field(description="A registered type.", examples=["blog"], max_length=64),
]


def check_detail(name: str, detail: Any) -> dict[str, Any]:
    """Return a detail as stored, by the model of its type; raises InvalidRequest."""
    read = parse_part(detail, _model_of(name), "detail")
    # BSON has no type for a day.
    return read.model_dump(mode="json", exclude_none=True)


def markdown_of(name: str, detail: Mapping[str, Any]) -> str:
    """Return the Markdown of a stored detail; raises InvalidRequest for an unknown type."""
    return _model_of(name).model_validate_json(orjson.dumps(detail)).markdown()


def pictures_of(name: str, detail: Mapping[str, Any]) -> set[str]:
    """Return the assets in a detail's picture fields; raises InvalidRequest for an unknown type."""
    return {detail[field] for field in fields_of(_model_of(name)) & detail.keys()}


def _model_of(name: str) -> type[Detail]:
    """Return the model of a type; raises InvalidRequest if no type of the name is registered.

    Stored pages may have a type that the application no longer registers.
    """
    if name not in CONTENT_TYPES:
        raise InvalidRequest(errors=[FieldError("type", "unknown_type", f"no type is {name!r}")])
    return CONTENT_TYPES[name]

"""Texts that people write: trimmed, bounded, and faults named in characters."""

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from chalicelib.texts import Line, Paragraphs, PersonName, at_most

TEXT: TypeAdapter[str] = TypeAdapter(Annotated[Paragraphs, at_most(10)])


@pytest.mark.parametrize(
    ("given", "kept"),
    [("  a  ", "a"), ("a\r\nb\rc", "a\nb\nc"), ("a\tb", "a\tb"), (" " + "é" * 10, "é" * 10)],
)
def test_a_text_is_trimmed_and_has_one_kind_of_line_break(given: str, kept: str) -> None:
    assert TEXT.validate_python(given) == kept


@pytest.mark.parametrize(
    ("given", "code", "detail"),
    [
        ("", "string_too_short", "String should have at least 1 character"),
        (" \n ", "string_too_short", "String should have at least 1 character"),
        ("a" * 11, "string_too_long", "String should have at most 10 characters"),
        ("a\x00b", "value_error", "Value error, control characters are not allowed"),
    ],
)
def test_a_text_out_of_its_bounds_is_refused_in_words_about_texts(
    given: str, code: str, detail: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        TEXT.validate_python(given)

    (fault,) = refused.value.errors()
    assert (fault["type"], fault["msg"]) == (code, detail)


@pytest.mark.parametrize("kind", [Line, PersonName])
@pytest.mark.parametrize("given", ["", "   ", "a\nb", "a\x07", "x" * 201])
def test_a_line_is_one_line(kind: Any, given: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(given)

"""Texts that people write, as pydantic types: trimmed, bounded, without control characters."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, StringConstraints
from pydantic_core import PydanticKnownError

_LINE_BREAKS = "\n\t"


def _without_controls(text: str) -> str:
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise ValueError("control characters are not allowed")
    return text


def drop_controls(text: object) -> object:
    """Return a text without its control characters, for what others wrote and we only show."""
    if not isinstance(text, str):
        return text
    return "".join(each for each in text if unicodedata.category(each) != "Cc")


def _printable(text: str) -> str:
    _without_controls(text.translate(dict.fromkeys(map(ord, _LINE_BREAKS))))
    return text


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


PersonName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    AfterValidator(_without_controls),
]
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(_without_controls),
]
Url = Annotated[
    str,
    StringConstraints(pattern=r"^https?://[^\s<>\"]+$", max_length=2_000),
    AfterValidator(_without_controls),
]
# Several lines; whoever uses it adds the bound, with `at_most`.
Paragraphs = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1),
    AfterValidator(_newlines),
    AfterValidator(_printable),
]


def at_most(characters: int) -> AfterValidator:
    """Return the bound of a text that has been trimmed already.

    Pydantic's own `max_length` takes such a text for a list, and speaks of items.
    """

    def check(text: str) -> str:
        if len(text) > characters:
            raise PydanticKnownError("string_too_long", {"max_length": characters})
        return text

    return AfterValidator(check)

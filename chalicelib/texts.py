"""Pydantic types of texts that people write: trimmed, bounded and readable.

The types refuse control characters, texts without a visible character, piles of combining marks,
and unclosed directional controls, which would reverse the page after the text.
"""

import re
import unicodedata
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, StringConstraints
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError

INVISIBLE = "The text has nothing that can be seen"
UNBALANCED = "A directional control (U+202A to U+202E, U+2066 to U+2069) is not closed"
# The Stream-Safe Text Format: no language needs more (Unicode Standard Annex #15, section 13).
MAX_MARKS = 30
# Tibetan syllables have up to eight marks; higher piles cover the lines above and below a name.
MAX_MARKS_IN_NAME = 8

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROLS_BUT_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_SEPARATORS = re.compile(r"[\u2028\u2029]")
_BLANK_LINES_BEFORE = re.compile(r"(?:[^\S\n]*\n)+")
# The property Default_Ignorable_Code_Point, within a class of a regular expression.
IGNORABLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# `IGNORABLE`, and characters with a blank glyph: annotation marks, the Braille pattern without
# dots, the musical null notehead.
_BLANK = IGNORABLE + r"\ufff9-\ufffb\u2800\U0001d159"
_BLANKS = re.compile(f"[{_BLANK}]")
_SHOWN = re.compile(rf"[^\s{_BLANK}]")
_DIRECTIONS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_CLOSED_BY = {
    **dict.fromkeys("\u202a\u202b\u202d\u202e", "\u202c"),
    **dict.fromkeys("\u2066\u2067\u2068", "\u2069"),
}
# Blank characters that a name needs at their position: joiners between letters of joining scripts,
# in emoji and after a virama; variation selectors of ideographs and emoji; tags in a flag.
_JOINING = r"\u0590-\u1dff\u2190-\uffff\U00010000-\U0010ffff"
_VIRAMAS = (
    r"\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0f84"
    r"\u1039\u103a\u1714\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua8c4\ua953"
)
_MEANT = (
    rf"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    rf"|(?<=[{_VIRAMAS}])[\u200c\u200d]"
    rf"|(?<=[0-9#*\u00a9\u00ae{_JOINING}])[\ufe0e\ufe0f]"
    rf"|(?<=[{_JOINING}])[\ufe00-\ufe0d\u180b-\u180d\u180f\U000e0100-\U000e01ef]"
    r"|(?<=\U0001f3f4)[\U000e0020-\U000e007e]+\U000e007f"
)
# NFC would replace these ideographs by others that look different, and names need their own.
_COMPATIBLE_IDEOGRAPHS = re.compile(r"([\uf900-\ufaff\U0002f800-\U0002fa1f]+)")


def without_all_blanks(text: str) -> str:
    """Return a text without its invisible characters, spaces excepted."""
    return _BLANKS.sub("", text)


def look_of(text: str) -> str:
    """Return a text's form for comparison: texts with the same form look the same to readers.

    The form has no invisible characters, and single plain spaces.
    """
    return " ".join(normalise(without_all_blanks(text)).split())


def is_visible(text: str) -> bool:
    """Return whether a text has a visible character other than a combining mark."""
    return any(unicodedata.category(shown[0])[0] != "M" for shown in _SHOWN.finditer(text))


def has_balanced_directions(text: str) -> bool:
    """Return whether each embedding, override and isolate of a text is closed, innermost first."""
    is_open: list[str] = []
    for control in _DIRECTIONS.findall(text):
        if control in _CLOSED_BY:
            is_open.append(_CLOSED_BY[control])
        elif not is_open or is_open.pop() != control:
            return False
    return not is_open


def balance_directions(text: str) -> str:
    """Return a foreign text without the direction controls that are not closed, or close nothing.

    Windows copies U+202A in front of paths, and a cut leaves controls open.
    """
    is_open: list[tuple[int, str]] = []
    kept: set[int] = set()
    for control in _DIRECTIONS.finditer(text):
        if control[0] in _CLOSED_BY:
            is_open.append((control.start(), _CLOSED_BY[control[0]]))
        elif is_open and is_open[-1][1] == control[0]:
            kept |= {is_open.pop()[0], control.start()}
    return _DIRECTIONS.sub(lambda found: found[0] if found.start() in kept else "", text)


def normalise(text: str) -> str:
    """Return a text in Normalization Form C; compatibility ideographs stay unchanged."""
    if text.isascii():
        return text
    parts = _COMPATIBLE_IDEOGRAPHS.split(text)
    parts[::2] = [unicodedata.normalize("NFC", part) for part in parts[::2]]
    return "".join(parts)


def drop_controls(text: object) -> object:
    """Return a text without control characters, for foreign texts that Plaza only shows."""
    return _CONTROLS.sub("", text) if isinstance(text, str) else text


def without_blanks(name: str) -> str:
    """Return a name without invisible characters, except where a script or an emoji needs them."""
    if not _BLANKS.search(name):
        return name
    # The first such name compiles the pattern: at import, it would slow every cold start.
    found = re.finditer(_MEANT, name)
    meant = {each.start() + at for each in found for at in range(len(each[0]))}
    return "".join(each for at, each in enumerate(name) if at in meant or not _BLANKS.match(each))


def _check_printable(text: str) -> str:
    if _CONTROLS_BUT_LINES.search(text):
        raise ValueError("control characters are not allowed")
    return text


def is_one_line(text: str) -> bool:
    """Return whether a text has neither control characters nor separators of lines."""
    return not (_CONTROLS.search(text) or _LINE_SEPARATORS.search(text))


def _check_one_line(text: str) -> str:
    if not is_one_line(text):
        raise ValueError("control characters are not allowed")
    return text


def _unify_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unify_separators(text: str) -> str:
    """Replace separators of lines and paragraphs by newlines: browsers show them as blanks."""
    return _unify_newlines(text).replace("\u2028", "\n").replace("\u2029", "\n\n")


def _without_blank_ends(text: str) -> str:
    """Return a text without blank lines at its ends; raises PydanticKnownError if nothing is left.

    The first of several lines stays indented; a single line does not.
    """
    blank = _BLANK_LINES_BEFORE.match(text)
    text = text[blank.end() if blank else 0 :].rstrip()
    # In a single line, an indentation does not mean code or a list.
    text = text if "\n" in text else text.lstrip(" \t")
    if not text:
        raise PydanticKnownError("string_too_short", {"min_length": 1})
    return text


def _check_readable(text: str) -> str:
    """Refuse a text that is invisible, reverses the text after it, or piles up marks."""
    if not is_visible(text):
        raise PydanticCustomError("invisible_text", INVISIBLE)
    if not text.isascii():
        _check_marks(text, MAX_MARKS)
        if not has_balanced_directions(text):
            raise PydanticCustomError("unbalanced_text", UNBALANCED)
    return text


def _check_marks(text: str, most: int) -> None:
    marks = groupby(text, key=lambda each: unicodedata.category(each) in ("Mn", "Me"))
    if any(is_mark and sum(1 for _ in run) > most for is_mark, run in marks):
        raise PydanticCustomError(
            "too_many_marks", "More than {most} combining marks on one letter", {"most": most}
        )


def _check_plain(name: str) -> str:
    """Refuse a name with invisible characters, except where a script needs them."""
    if name.isascii():
        return name
    _check_marks(name, MAX_MARKS_IN_NAME)
    if without_blanks(name) != name:
        raise PydanticCustomError(
            "invisible_characters", "The name has characters that cannot be seen"
        )
    return name


@dataclass(frozen=True)
class MostCharacters(AfterValidator):
    """The bound of a text after its validators, also in its JSON Schema.

    Pydantic's own `max_length` after a validator treats the text as a list, and reports items.
    """

    characters: int

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of the text with the lower of its bound and this bound."""
        known = handler(schema)
        return {**known, "maxLength": min(self.characters, known.get("maxLength", self.characters))}


def at_most(characters: int) -> MostCharacters:
    """Return a validator that refuses texts of more characters."""

    def check(text: str) -> str:
        if len(text) > characters:
            raise PydanticKnownError("string_too_long", {"max_length": characters})
        return text

    return MostCharacters(check, characters)


_Trimmed = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Line = Annotated[
    _Trimmed,
    AfterValidator(normalise),
    at_most(200),
    AfterValidator(_check_one_line),
    AfterValidator(_check_readable),
]
# The name of a person or a circle; `chalicelib.people.names` has the reserved names.
PersonName = Annotated[Line, at_most(100), AfterValidator(_check_plain)]
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+")


def check_address(url: str) -> str:
    """Return an address; raise ValueError if it is none, or readers could mistake its host.

    For a browser, the host of `https://bank.example@evil.example` is `evil.example`.
    """
    if "\\" in url or without_all_blanks(url) != url:
        raise ValueError("an address has no backslash and no invisible character")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("this is no address") from None
    if "@" in parts.netloc:
        raise ValueError("an address names no user and no password")
    if not host or port == 0 or not _HOST.fullmatch(host):
        raise ValueError("this is no address")
    return url


Url = Annotated[
    str,
    # The pattern names control characters: dialects of regular expressions differ in `\s`.
    StringConstraints(pattern=r'^https?://[^\s\x00-\x1f\x7f-\x9f<>"]+$', max_length=2_000),
    AfterValidator(check_address),
]
# Fields of answers: the JSON Schema has the bounds of requests, and no validator runs.
ShownLine = Annotated[str, Field(max_length=200)]
ShownName = Annotated[str, Field(max_length=100)]
ShownUrl = Annotated[str, Field(max_length=2_000)]
# An address of this API, or a signed address of a store: ASCII without `"` and backslash.
OwnUrl = Annotated[str, Field(max_length=4_000, pattern=r"^[!#-\[\]-~]*$")]


def html_of(most_bytes: int) -> Any:
    """Return the field of an answer's HTML of at most `most_bytes` in UTF-8.

    Its schema states the bound in bytes as Lambda sends them: up to four for each byte, as for a
    quotation mark.
    """
    return Field(json_schema_extra={"x-plaza-max-bytes": 4 * most_bytes + len('\\"\\"')})


# Several lines, trimmed, with unified line breaks; a field adds its bound with `at_most`.
Paragraphs = Annotated[
    _Trimmed,
    AfterValidator(_unify_newlines),
    AfterValidator(_check_printable),
    AfterValidator(_check_readable),
]
# A text as its author typed it, whose indentation has a meaning; a field adds its bound.
TypedText = Annotated[
    str,
    StringConstraints(min_length=1),
    AfterValidator(_unify_separators),
    AfterValidator(_without_blank_ends),
    AfterValidator(_check_printable),
    AfterValidator(_check_readable),
]

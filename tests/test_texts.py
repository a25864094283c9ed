# ruff: noqa: RUF001 - letters that look like others are what this is about
"""Texts that people write: trimmed, bounded, and faults named in characters."""

import unicodedata
from typing import Annotated, Any

import jsonschema_rs
import pytest
from pydantic import TypeAdapter, ValidationError

from chalicelib.assets.pictures import PictureUrl
from chalicelib.texts import Line, Paragraphs, PersonName, Url, at_most

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


def test_the_schema_of_a_text_names_its_lowest_bound() -> None:
    assert TEXT.json_schema() == {"type": "string", "minLength": 1, "maxLength": 10}
    assert TypeAdapter(PersonName).json_schema()["maxLength"] == 100


@pytest.mark.parametrize("control", ["\n", "\x00", "\x7f", "\x85", "\u2028", "\xa0", "\u3000"])
def test_what_an_address_may_not_hold_is_in_its_schema(control: str) -> None:
    """JSON Schema has the regular expressions of ECMA-262, where `\\s` lacks U+0085."""
    address, kind = f"https://harbour.example/{control}", TypeAdapter(Url)

    assert not jsonschema_rs.is_valid(kind.json_schema(), address)
    with pytest.raises(ValidationError):
        kind.validate_python(address)


@pytest.mark.parametrize("kind", [Line, PersonName])
@pytest.mark.parametrize("given", ["", "   ", "a\nb", "a\x07", "x" * 201])
def test_a_line_is_one_line(kind: Any, given: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(given)


WORDS = [
    "می‌خواهم کتاب‌ها",
    "اَلْعَرَبِيَّةُ",
    "שָׁלוֹם וְעֶרֶב",
    "\u200fשלום!\u200e",
    "\u2067שלום\u2069 said \u202bx\u202c",
    "ภาษาไทย น้ำใจ กี่",
    "हिन्दी क्‍ष श्रीमान्",
    "ক্‌ষ বাংলা",
    "မြန်မာဘာသာ",
    "བོད་སྐད་ ཧྐྵྨླྺྼྻྂ",
    "Tiếng Việt ệ",
    "👩‍👩‍👧‍👦 👍🏽 ❤️‍🔥 🇨🇭 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f 1️⃣",
    "soft\u00adhyphen and a\u200bbreak",
    "Z̷a̷l̷g̷o̷",
]
KINDS = [Line, Annotated[Paragraphs, at_most(100)]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", WORDS)
def test_real_words_of_any_script_pass(kind: Any, text: str) -> None:
    taken = TypeAdapter(kind).validate_python(text)
    assert unicodedata.normalize("NFC", taken) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\u200b", "invisible_text"),
        ("\u3164", "invisible_text"),
        ("\u2800 \u2800", "invisible_text"),
        ("\ufeff\u2060\u00ad", "invisible_text"),
        ("\u0301", "invisible_text"),
        ("\U000e0061", "invisible_text"),
        ("a\u202eb", "unbalanced_text"),
        ("a\u2066b", "unbalanced_text"),
        ("a\u202cb", "unbalanced_text"),
        ("\u202ea\u2069", "unbalanced_text"),
        ("\u2066\u202ea\u2069\u202c", "unbalanced_text"),
        ("a" + "\u0335" * 31, "too_many_marks"),
    ],
)
def test_unreadable_texts_are_refused(kind: Any, text: str, code: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(text)

    assert [fault["type"] for fault in refused.value.errors()] == [code]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Ann\u200b", "invisible_characters"),
        ("A\u200dnn", "invisible_characters"),
        ("\u202eAnn\u202c", "invisible_characters"),
        ("\u200fAnn", "invisible_characters"),
        ("Ann\u3164", "invisible_characters"),
        ("A\ufe0fnn", "invisible_characters"),
        ("An\u00adn", "invisible_characters"),
        ("A" + "\u0335" * 9 + "nn", "too_many_marks"),
        ("A" + "\u0335" * 100, "too_many_marks"),
        ("\u2028Ann\u2028B", "value_error"),
    ],
)
def test_names_with_what_cannot_be_seen_are_refused(name: str, code: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(PersonName).validate_python(name)

    assert [fault["type"] for fault in refused.value.errors()] == [code]


def test_a_line_is_composed_and_a_text_stays_as_it_was_written() -> None:
    assert TypeAdapter(Line).validate_python("e\u0301") == "\u00e9"
    assert TEXT.validate_python("e\u0301") == "e\u0301"


def test_an_ideograph_of_a_name_does_not_become_another() -> None:
    assert TypeAdapter(PersonName).validate_python("\ufa19e\u0301") == "\ufa19\u00e9"


def test_a_line_that_grows_when_it_is_composed_keeps_to_its_bound() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Line).validate_python("\ufb2c" * 100)


@pytest.mark.parametrize("kind", [Url, PictureUrl], ids=["link", "picture"])
@pytest.mark.parametrize(
    "url",
    [
        "https://user:pw@blog.example/moon",
        "https://user@blog.example",
        "https://blog.example:pw@evil.example/",
        "https://@blog.example/",
        "https://evil.example\\@blog.example/",
        "https://blog.example\\moon",
        "https://blog.example/moon\\sun",
        "https://blog.example:99999/",
        "https://blog.example:0/",
        "https://blog.example:port/",
        "https://:8000/",
        "https:///moon",
        "https://?moon",
        "https://#moon",
        "https://blog%2eexample/",
        "https://blog.example%40evil.example/",
        "https://[::1/",
        "https://blog\u2100example/",
        "https://blog.example/\u202emoon",
        "https://blog.example/a\u200bb",
        "https://blog.example/a b",
        "https://blog.example/\n",
        "https://blog.example/\0",
        "https://blog.example/\x85",
        "javascript:alert(1)//https://blog.example",
        "JAVASCRIPT:alert(1)",
        "data:text/html,x",
        "ftp://blog.example/",
        "//blog.example/",
    ],
)
def test_an_address_that_misleads_is_refused(kind: Any, url: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://blog.example",
        "http://localhost:8000/moon",
        "https://blog.example:65535/",
        "https://[2001:db8::1]:8000/moon",
        "https://192.0.2.1/?a=b@c#d@e",
        "https://b\u00fccher.example/\u00fc",
        "https://xn--bcher-kva.example/@ann",
        "https://a_b.example/x%20y",
    ],
)
def test_an_address_of_a_page_is_taken_as_it_is(url: str) -> None:
    assert TypeAdapter(Url).validate_python(url) == url

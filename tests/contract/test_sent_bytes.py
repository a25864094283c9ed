"""The sizes that schemas declare for texts: no text that is accepted is larger in an answer."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from chalicelib.ads.bounds import CAMPAIGN_BYTES, MAX_AD_UNITS, MAX_ROWS, MAX_TARGETS
from chalicelib.ads.campaigns.answers import CampaignAnswer, UnplacedAnswer
from chalicelib.ads.inventory.creatives import Html
from chalicelib.comments.rendering import render
from chalicelib.content.editing import differences
from chalicelib.content.editing.differences import MAX_SENT_BYTES
from chalicelib.content.types import MAX_TEXT_CHARACTERS, MAX_TEXT_SENT_BYTES, Text
from chalicelib.markdown import TooLarge
from chalicelib.texts import html_of
from contract.sizes import sent_in_json

DUCK = "\N{DUCK}"
TEXT: TypeAdapter[str] = TypeAdapter(Text)
# As long as an unrealistic text may be and still be tried often.
SHORT = 40
KEYWORD = "x-plaza-max-bytes"


def accepted(text: str) -> str | None:
    """Return a page's text as it is stored, or None if it is refused."""
    try:
        return TEXT.validate_python(text)
    except ValidationError:
        return None


@given(st.text(max_size=SHORT))
@example("\N{DUCK}" * SHORT)
@example('"' * SHORT)
@example("\\" * SHORT)
@example("a\n\t" * 10)
@example("\x7f")
def test_a_unit_of_a_text_takes_at_most_six_bytes(text: str) -> None:
    stored = accepted(text)
    if stored is not None:
        units = len(stored.encode("utf-16-le")) // 2
        assert sent_in_json(stored) - sent_in_json("") <= 6 * units


@pytest.mark.parametrize(
    "text", ["é" * MAX_TEXT_CHARACTERS, DUCK * (MAX_TEXT_CHARACTERS // 2), '"\\' * 100_000]
)
def test_the_longest_text_is_as_large_as_its_schema_says_at_most(text: str) -> None:
    assert accepted(text) == text
    assert accepted(text + "a") is None
    assert sent_in_json(text) <= MAX_TEXT_SENT_BYTES


@given(st.text(max_size=SHORT))
@example("\\" * SHORT)
@example("".join(f"&#{n};" for n in (1, 7, 8, 27, 31)))
@example('[a]: /x "\\\\\\&#1;"\n\n[a] [a]')
@example("[a](https://a.example/\\ '\"')")
def test_a_byte_of_html_takes_at_most_four(text: str) -> None:
    try:
        html = render(text, is_new=False)
    except (TooLarge, ValueError):
        return
    # What no request may send is no part of a stored text.
    if accepted(text) is None:
        return
    bound: Any = html_of(len(html.encode())).json_schema_extra
    assert sent_in_json(html) <= bound[KEYWORD]


def lines(count: int, line: str, other: str) -> Any:
    """Return a page's words whose text has lines of which every second one is another."""
    text = "\n".join(other if number % 2 else line for number in range(count))
    return {"slug": "a", "title": "a", "summary": None, "tags": [], "detail": {"text": text}}


@pytest.mark.parametrize(
    ("count", "line", "other"),
    [
        (1_999, "a", "b"),
        (2_001, "é" * 90, "b"),
        (100_000, "a", "b"),
        (MAX_TEXT_CHARACTERS // 2, "é", "é"),
        (1, DUCK * (MAX_TEXT_CHARACTERS // 2), DUCK),
    ],
)
def test_the_largest_differences_are_as_large_as_their_schema_says_at_most(
    count: int, line: str, other: str
) -> None:
    before, after = lines(count, line, other), lines(count, "c" + line[1:], other)

    fields = differences.compare(before, after)

    assert sent_in_json(fields) <= MAX_SENT_BYTES


# DEL alone takes more, which no text of a campaign may have.
NO_DEL = st.characters(exclude_categories=["Cs"], exclude_characters="\x7f")


@given(st.text(alphabet=NO_DEL, max_size=SHORT))
@example("\x00\x1f\x80\u2028")
@example('"\\/')
@example(DUCK)
def test_a_byte_of_a_body_takes_at_most_three_in_an_answer(text: str) -> None:
    for body in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        assert orjson.loads(body) == text
        assert sent_in_json(text) - sent_in_json("") <= 3 * (len(body.encode()) - len('""'))


@pytest.mark.parametrize("text", ["a\x7fb", "a\0b"])
def test_an_advertisers_html_has_no_character_that_takes_six_bytes(text: str) -> None:
    html: TypeAdapter[str] = TypeAdapter(Html)

    assert html.validate_python("a\x01\nb") == "a\x01\nb"
    with pytest.raises(ValidationError, match="must not contain"):
        html.validate_python(text)


def test_the_largest_campaign_is_as_large_as_its_schema_says_at_most() -> None:
    schema = TypeAdapter(CampaignAnswer).json_schema()
    bounds = {name: schema["properties"][name].get(KEYWORD) for name in ("ad_units", "unplaced")}
    longest: UnplacedAnswer = {
        "site_id": "s" * 64,
        "zone_id": "z" * 64,
        "reason": "advertiser_not_allowed",
        "ad_unit_ids": ["u" * 64],
    }

    assert MAX_ROWS <= MAX_TARGETS * MAX_AD_UNITS
    assert MAX_ROWS * sent_in_json([longest]) <= bounds["unplaced"]
    assert 3 * CAMPAIGN_BYTES < bounds["ad_units"] < 4 * CAMPAIGN_BYTES

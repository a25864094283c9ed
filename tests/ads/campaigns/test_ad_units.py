"""What an ad unit may be: its creative, its landing page, its keywords."""

import unicodedata
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chalicelib.ads.campaigns.forms import Campaign
from chalicelib.keywords import normalise_keyword
from tests.ads.campaigns.support.faults import unit_faults
from tests.ads.support.factories import (
    ad_unit,
    campaign,
    campaign_body,
    creative,
    html,
)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "javascript:alert(1)",
        "//example.com/",
        "https://",
        "https://user:secret@example.com/",
        "https://example.com/" + "a" * 2_048,
        "",
        7,
    ],
)
def test_a_landing_url_is_https_and_plain(url: Any) -> None:
    assert unit_faults(creative=creative(landing_url=url)) == [
        "ad_units.0.creative.text.landing_url"
    ]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("HTTPS://EXAMPLE.com", "https://example.com/"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://example.com/a\0b", "https://example.com/a%00b"),
    ],
)
def test_a_landing_url_is_kept_in_its_canonical_form(sent: str, kept: str) -> None:
    unit = campaign(ad_units=[ad_unit(creative=creative(landing_url=sent))]).ad_units[0]

    assert unit.creative.landing_url == kept


def test_every_kind_of_creative_is_accepted() -> None:
    image = {
        "type": "image",
        "landing_url": "https://example.com/",
        "url": "https://cdn.example.com/a.png",
        "width": 728,
        "height": 90,
        "alt": "",
    }
    native = {
        "type": "native",
        "landing_url": "https://example.com/",
        "fields": {"title": "Spring", "call_to_action": "Try it"},
    }
    for sent in (image, creative(), html("<b>Spring</b>\n"), native):
        assert campaign(ad_units=[ad_unit(creative=sent)]).ad_units[0].creative.model_dump() == sent


@pytest.mark.parametrize("name", ["$where", "a.b", "", "A", "a" * 33, "a\0"])
def test_a_native_field_s_name_is_safe_to_store(name: str) -> None:
    native = {"type": "native", "landing_url": "https://example.com/", "fields": {name: "x"}}

    assert len(unit_faults(creative=native)) == 1


def test_a_creative_of_an_unknown_kind_is_refused() -> None:
    assert unit_faults(creative={"type": "video"}) == ["ad_units.0.creative"]
    assert unit_faults(creative="text") == ["ad_units.0.creative"]


def test_html_takes_up_to_16_kib_of_utf_8() -> None:
    assert unit_faults(creative=html("é" * 8_192)) == []
    assert unit_faults(creative=html("é" * 8_193)) == ["ad_units.0.creative.html.html"]
    assert unit_faults(creative=html("<b>\0</b>")) == ["ad_units.0.creative.html.html"]


def test_a_lone_surrogate_is_not_json() -> None:
    body = orjson.dumps(campaign_body()).replace(b"New for", b"\\ud800").replace(b"one", b"\\ud800")

    with pytest.raises(ValidationError):
        Campaign.model_validate_json(body, strict=True)


def keywords(*given: str) -> list[str]:
    return campaign(ad_units=[ad_unit(keywords=list(given))]).ad_units[0].keywords


def test_keywords_are_folded_and_kept_once() -> None:
    assert keywords("Straße", "STRASSE", "ﬁn", " Fin ", "new  CAR") == ["strasse", "fin", "new car"]


@pytest.mark.parametrize("keyword", ["", "   ", "a,b", "a\0b", "\u200b", "a" * 65, "\ufdfa" * 4])
def test_a_keyword_that_no_query_could_ask_for_is_refused(keyword: str) -> None:
    assert unit_faults(keywords=[keyword]) == ["ad_units.0.keywords.0"]


def test_keywords_are_at_most_32_and_1024_bytes() -> None:
    assert unit_faults(keywords=[f"k{number}" for number in range(32)]) == []
    assert unit_faults(keywords=[f"k{number}" for number in range(33)]) == ["ad_units.0.keywords"]
    assert unit_faults(keywords=["語" * 60 + f"{n:02}" for n in range(6)]) == [
        "ad_units.0.keywords"
    ]


def test_invisible_characters_make_no_other_keyword() -> None:
    assert keywords("क\u200dष", "कष", "ze\u00adbra", "zebra") == ["कष", "zebra"]


@given(st.text(max_size=64))
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    keyword = normalise_keyword(text)

    assert normalise_keyword(keyword) == keyword
    assert unicodedata.is_normalized("NFKC", keyword)

"""Phrases: what they match, and that no text makes them slow."""

import time

import pytest

from chalicelib.comments import judgement


def is_in(phrase: str, text: str) -> bool:
    return judgement.is_in(phrase, judgement.searchable((text,)))


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("casino", "A casino."),
        ("casino", "CASINO"),
        ("CaSiNo", "casino"),
        ("casino", "_casino_"),
        ("casino", "\uff43asino"),
        ("casino", "ca\u200bsi\u00adno"),
        ("buy now", "Buy,\n\n now!"),
        ("casino.example", "see https://casino.example/win"),
        ("casino*", "casinos"),
        ("*casino", "megacasino"),
        ("*casino*", "megacasinos"),
        ("stra\u00dfe", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("*\u8d4c\u573a*", "\u6fb3\u95e8\u8d4c\u573a\u7f51"),
        ("\u0915\u092e", "\u0915\u092e \u0939\u0948"),
        ("bedava bahis", "BEDAVA BAH\u0130S sitesi"),
        ("k\u0131rm\u0131z\u0131", "KIRMIZI"),
        # No expression, but a literal.
        ("a.b", "a b"),
        ("(a+)+", "a"),
    ],
)
def test_a_phrase_is_found(phrase: str, text: str) -> None:
    assert is_in(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("casino", "casinos"),
        ("casino", "megacasino"),
        ("casino*", "megacasino"),
        ("*casino", "casinos"),
        ("buy now", "now buy"),
        ("buy now", "buy it now"),
        ("buy now", "buynow"),
        ("\u0915\u092e", "\u0915\u092e\u0940"),
    ],
)
def test_other_words_are_not(phrase: str, text: str) -> None:
    assert not is_in(phrase, text)


def test_a_phrase_does_not_reach_from_one_text_into_the_next() -> None:
    assert not judgement.is_in("buy now", judgement.searchable(("buy", "now")))


@pytest.mark.parametrize(
    "text",
    ["a" * 10_000, "ab" * 5_000, "a " * 5_000, "\ufdfa" * 10_000, "a" + "\u0301" * 9_999],
    ids=["one letter", "two letters", "words", "ligatures", "marks"],
)
def test_the_longest_text_and_the_most_phrases_take_milliseconds(text: str) -> None:
    """The worst takes a tenth of a second; a search in quadratic time would take minutes."""
    watched = [f"*{'a' * 90}{number}*" for number in range(500)]
    began = time.process_time()

    searched = judgement.searchable((text, text))
    found = [each for each in watched if judgement.is_in(each, searched)]

    assert found == []
    assert time.process_time() - began < 2

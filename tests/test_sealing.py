"""What is sealed opens for its purpose, by a key that Plaza still has, and unaltered."""

import random

import pytest
from pydantic import SecretStr

from chalicelib import sealing
from chalicelib.errors import Misconfigured

OLD, NEW = SecretStr("an old key, as long as it has to be"), SecretStr("a new key of that length")
RANDOM = random.Random(1)


def test_a_text_comes_back() -> None:
    text = "a secret \N{SNOWMAN}" * 100

    assert sealing.unseal(sealing.seal(text, "a", [OLD], RANDOM), "a", [OLD]) == text


def test_a_text_of_a_former_key_opens_until_the_key_is_retired() -> None:
    sealed = sealing.seal("text", "a", [OLD], RANDOM)

    assert sealing.unseal(sealed, "a", [NEW, OLD]) == "text"
    assert sealing.unseal(sealed, "a", [NEW]) is None
    assert sealing.unseal(sealed, "a", []) is None


def test_a_text_opens_for_its_purpose_alone() -> None:
    assert sealing.unseal(sealing.seal("text", "a", [OLD], RANDOM), "b", [OLD]) is None


def test_an_altered_text_does_not_open() -> None:
    sealed = sealing.seal("text", "a", [OLD], RANDOM)

    for place in range(len(sealed)):
        other = "A" if sealed[place] != "A" else "B"
        assert sealing.unseal(sealed[:place] + other + sealed[place + 1 :], "a", [OLD]) is None


@pytest.mark.parametrize("given", ["", "A", "AAAA", "A" * 16, "\N{SNOWMAN}", "=" * 40])
def test_what_was_never_sealed_does_not_open(given: str) -> None:
    assert sealing.unseal(given, "a", [OLD]) is None


def test_two_seals_of_a_text_differ() -> None:
    assert sealing.seal("text", "a", [OLD], RANDOM) != sealing.seal("text", "a", [OLD], RANDOM)


def test_nothing_is_sealed_without_a_key() -> None:
    with pytest.raises(Misconfigured):
        sealing.seal("text", "a", [], RANDOM)

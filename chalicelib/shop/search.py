"""Search tokens of products and queries: pure functions.

Texts compare in NFKC and case folded; Latin, Greek and Cyrillic also without accents: `cafe` finds
`café`. A word is a token. Han, Kana and Hangul have no spaces between words: each pair of
neighbours in a run is a token.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

# Of one product; searches find a longer text by its beginning.
MAX_STORED_TOKENS = 1_500
MAX_TOKEN_CHARACTERS = 64
# The weights of tokens in the title, in tags and details, and in the text.
_WEIGHTS = (3, 2, 1)

# Readers omit accents in these scripts; in other scripts a mark is a vowel, or another letter.
_ACCENTED = ("LATIN", "GREEK", "CYRILLIC")
_UNSPACED = ("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC")


def fold(text: str) -> str:
    """Return the comparable form of a text (The Unicode Standard, section 3.13)."""
    if text.isascii():
        return text.lower()
    compared = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", "".join(_without_accents(compared)))


def _without_accents(text: str) -> Iterator[str]:
    """Yield the characters of a text, decomposed, without the accents of some scripts."""
    is_accented = False
    for character in unicodedata.normalize("NFKD", text):
        if not unicodedata.combining(character):
            is_accented = unicodedata.name(character, "").startswith(_ACCENTED)
        elif is_accented:
            continue
        yield character


def tokens(text: str) -> list[str]:
    """Return the tokens of a query, each once, in their order."""
    return list(dict.fromkeys(_tokens(text, single=False)))


def stored_tokens(title: str, words: Sequence[str], text: str) -> list[str]:
    """Return the tokens of a product, each repeated by its weight; title tokens weigh most.

    Each single character of a run without spaces is a token, too.
    """
    found: dict[str, int] = {}
    for weight, part in zip(_WEIGHTS, (title, "\n".join(words), text), strict=True):
        for token in _tokens(part, single=True):
            found.setdefault(token, weight)
    repeated = [token for token, weight in found.items() for _ in range(weight)]
    return repeated[:MAX_STORED_TOKENS]


def _tokens(text: str, *, single: bool) -> Iterator[str]:
    for kind, run in groupby(fold(text), _kind):
        if kind == "word":
            yield "".join(run)[:MAX_TOKEN_CHARACTERS]
        elif kind == "unspaced":
            yield from _bigrams("".join(run), single=single)


def _bigrams(run: str, *, single: bool) -> Iterator[str]:
    if single or len(run) == 1:
        yield from run
    for first, second in pairwise(run):
        yield first + second


def _kind(character: str) -> str:
    if character.isascii():
        return "word" if character.isalnum() else ""
    if unicodedata.category(character)[0] not in "LNM":
        return ""
    return "unspaced" if unicodedata.name(character, "").startswith(_UNSPACED) else "word"

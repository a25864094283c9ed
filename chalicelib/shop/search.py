"""Tokens of a text, by which products are found: pure.

A text is compared in NFKC and case folded, and Latin, Greek and Cyrillic without accents: `cafe`
finds `café`. A word is a token; a run of Han, Kana or Hangul, which is written without spaces,
gives each two neighbours as one.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

# Of one product; a longer text is found by its beginning.
MAX_STORED_TOKENS = 1_500
MAX_TOKEN_CHARACTERS = 64
# How often a token counts, by where it is: in the title, among tags and details, in the text.
_WEIGHTS = (3, 2, 1)

# In which a reader leaves accents out; in other scripts a mark is a vowel, or another letter.
_ACCENTED = ("LATIN", "GREEK", "CYRILLIC")
_UNSPACED = ("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC")


def folded(text: str) -> str:
    """Return the form in which texts are compared (The Unicode Standard, section 3.13)."""
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
    """Return the tokens that a text is searched for by, each once, in their order."""
    return list(dict.fromkeys(_tokens(text, single=False)))


def stored_tokens(title: str, words: Sequence[str], text: str) -> list[str]:
    """Return the tokens that a product is found by; those of its title count most.

    A token is repeated as often as it counts. A single character of a run is a token, too.
    """
    found: dict[str, int] = {}
    for weight, part in zip(_WEIGHTS, (title, "\n".join(words), text), strict=True):
        for token in _tokens(part, single=True):
            found.setdefault(token, weight)
    repeated = [token for token, weight in found.items() for _ in range(weight)]
    return repeated[:MAX_STORED_TOKENS]


def _tokens(text: str, *, single: bool) -> Iterator[str]:
    for kind, run in groupby(folded(text), _kind):
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

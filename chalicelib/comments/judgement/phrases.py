"""Phrases that a publisher watches for: literals, matched as whole words in linear time.

A text and a phrase are compared as words: compatibility forms, case, characters that show nothing
and whatever stands between words make no difference. No phrase is a regular expression, so that
none can be slow, or mean something else than it says.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from chalicelib.texts import without_all_blanks

ANY = "*"
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+")
# Between two texts that are searched as one; no phrase has it.
_APART = " \n "


def words(text: str) -> str:
    """Return the words of a text, one space before, between and after them."""
    if text.isascii():
        found = _BETWEEN_WORDS.sub(" ", text.lower())
    else:
        folded = unicodedata.normalize("NFKC", without_all_blanks(text)).casefold()
        # Folding can undo the composition of what it folds.
        folded = unicodedata.normalize("NFKC", folded)
        found = "".join(each if _is_of_word(each) else " " for each in folded)
    return f" {' '.join(found.split())} "


def _is_of_word(character: str) -> bool:
    """Return whether a character is part of a word: vowels of many scripts are marks."""
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def searched(texts: Iterable[str]) -> str:
    """Return texts in the form in which phrases are searched for."""
    return _APART.join(words(text) for text in texts)


@lru_cache(maxsize=4_096)
def needle(phrase: str) -> str:
    """Return what a phrase looks for in `searched` texts; blank if it has no word.

    A `*` at an end of the phrase stands for the rest of the word there.
    """
    found = words(phrase.strip(ANY))
    if not found.strip():
        return ""
    start = 1 if phrase.startswith(ANY) else 0
    return found[start:-1] if phrase.endswith(ANY) else found[start:]


def is_in(phrase: str, text: str) -> bool:
    """Return whether a phrase is in `searched` texts, in a time linear in their length."""
    return needle(phrase) in text

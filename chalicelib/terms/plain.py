"""Texts without markup, and excerpts of them."""

import html
from collections.abc import Sequence

EXCERPT_CHARACTERS = 280
# The most characters of an excerpt before the first searched word, unless the text ends soon after.
_BEFORE = 60
_CUT = "…"


def plain_text(marked_up: str) -> str:
    """Return the text of HTML in one line, without tags."""
    # A late import: the sanitiser is a part of a cold start, and most calls need none.
    import nh3

    return " ".join(html.unescape(nh3.clean(marked_up, tags=set())).split())


def excerpt(text: str, words: Sequence[str]) -> str:
    """Return the part of a text around the first occurrence of a word; `words` are folded.

    It has at most `EXCERPT_CHARACTERS` characters, ellipses at cut ends included. If no word
    occurs, the part is the beginning.
    """
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    compared = text.casefold()
    # `casefold` leaves accents and may change lengths: a place may be off, or not found.
    places = [place for word in words if (place := compared.find(word)) >= 0]
    first = _begin(text, min(places, default=0))
    end = first + EXCERPT_CHARACTERS - 2 * len(_CUT)
    shown = text[first:end]
    if end < len(text):
        shown = _whole_words(shown)
    before, after = (_CUT if first else ""), (_CUT if end < len(text) else "")
    return f"{before}{shown}{after}"


def _begin(text: str, place: int) -> int:
    """Return the first index of the excerpt around a place, after the next space if one is near."""
    last = max(0, len(text) - EXCERPT_CHARACTERS + 2 * len(_CUT))
    first = min(max(0, place - _BEFORE), last)
    if first == 0:
        return 0
    space = text.find(" ", first, first + _BEFORE // 2)
    return first if space < 0 else space + 1


def _whole_words(text: str) -> str:
    """Return a cut text without its last, cut word; with it, if that word is very long."""
    space = text.rfind(" ", len(text) - _BEFORE // 2)
    return text if space < 0 else text[:space]

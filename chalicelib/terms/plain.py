"""Texts without markup, and excerpts of them."""

import html
from collections.abc import Sequence

EXCERPT_CHARACTERS = 280
# The part of an excerpt before the first word that was searched for.
_BEFORE = 60
_CUT = "…"


def plain_text(marked_up: str) -> str:
    """Return the text of sanitised HTML in one line."""
    # A late import: the sanitiser is a part of a cold start, and most calls need none.
    import nh3

    return " ".join(html.unescape(nh3.clean(marked_up, tags=set())).split())


def excerpt(text: str, words: Sequence[str]) -> str:
    """Return the part of a text around the first of some folded words.

    At most `EXCERPT_CHARACTERS` characters, and an ellipsis where the text goes on.
    """
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    compared = text.casefold()
    # A word with accents may be elsewhere in the folded text, or absent: then it is the beginning.
    places = [place for word in words if (place := compared.find(word)) >= 0]
    first = _begin(text, min(places, default=0))
    end = first + EXCERPT_CHARACTERS - 2 * len(_CUT)
    shown = text[first:end]
    if end < len(text):
        shown = _whole_words(shown)
    before, after = (_CUT if first else ""), (_CUT if end < len(text) else "")
    return f"{before}{shown}{after}"


def _begin(text: str, place: int) -> int:
    """Return where the excerpt around a place of a text begins: after a space, if near."""
    last = max(0, len(text) - EXCERPT_CHARACTERS + 2 * len(_CUT))
    first = min(max(0, place - _BEFORE), last)
    if first == 0:
        return 0
    space = text.find(" ", first, first + _BEFORE // 2)
    return first if space < 0 else space + 1


def _whole_words(text: str) -> str:
    """Return a text that is cut at its end without the cut word, unless a word is very long."""
    space = text.rfind(" ", len(text) - _BEFORE // 2)
    return text if space < 0 else text[:space]

# ruff: noqa: RUF001 - letters that look like others are what this is about
"""Words of texts in any script, for storage and search: pure functions.

Texts compare in NFKC_Casefold. Beyond it, Latin, Greek and Cyrillic lose accents and strokes
(`lodz` finds `Łódź`), Arabic, Hebrew and Syriac lose points and tatweel, and all digits are 0 to 9.
A word is a token. In scripts without spaces between words, such as Han and Thai, each pair of
neighbouring characters is a token.
Sources: The Unicode Standard, section 3.13 and Default_Ignorable_Code_Point; UAX #14 for scripts of
the class SA.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby, pairwise

from chalicelib.texts import IGNORABLE

# The version of these rules. After a change, a schedule replaces the stored tokens of pages and
# products, and the command `compare_terms` replaces the tokens of comments.
RULES = 3
MAX_TOKEN_CHARACTERS = 64

# Only in these scripts, a search ignores all marks. In other scripts, a mark outside `_POINTS` may
# be a vowel, or make another letter.
_ACCENTED = ("LATIN", "GREEK", "CYRILLIC")
# Scripts of the classes ID and SA of UAX #14, by the names of their characters.
_UNSPACED = (
    *("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC"),
    *("YI SYLLABLE", "TANGUT", "NUSHU"),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR ", "AHOM "),
    *("TAI LE ", "NEW TAI LUE ", "TAI THAM ", "TAI VIET "),
)
# Letters without a Unicode decomposition, with the letters that people without such keys type.
_PLAIN = str.maketrans(
    {
        "ł": "l",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ŧ": "t",
        "ı": "i",
        "ĸ": "k",
        "ŋ": "n",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ƒ": "f",
        "ȷ": "j",
        "ə": "e",
        "ɛ": "e",
        "ɔ": "o",
        "ɵ": "o",
        "ɨ": "i",
        "ʉ": "u",
        "ƀ": "b",
        "ɓ": "b",
        "ɖ": "d",
        "ɗ": "d",
        "ɠ": "g",
        "ǥ": "g",
        "ƙ": "k",
        "ƴ": "y",
        "ƶ": "z",
        "ⱥ": "a",
        "ȼ": "c",
        "ɇ": "e",
        "ɉ": "j",
        "ɍ": "r",
        "ɏ": "y",
        "ⱦ": "t",
        "ⱡ": "l",
        "ɂ": "",
        "ґ": "г",
        "ғ": "г",
        "қ": "к",
        "ұ": "у",
        "ү": "у",
        "ң": "н",
        "ө": "о",
        "һ": "х",
    }
)
# Default_Ignorable_Code_Point, and tatweel: they change no word.
_IGNORED = re.compile(rf"[{IGNORABLE}\u0640]")
# Vowel points and signs of cantillation, which most texts leave out.
_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u0652\u0656-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u08d3-\u08ff]"
)


def fold(text: str) -> str:
    """Return the comparable form of a text; folding it again changes nothing."""
    if text.isascii():
        return text.lower()
    compared = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = _POINTS.sub("", _IGNORED.sub("", compared)).translate(_PLAIN)
    # Again, because a letter such as `ǿ` is in the table only without its accent.
    plain = "".join(_without_accents(kept)).translate(_PLAIN)
    return unicodedata.normalize("NFC", plain)


def tokens(text: str) -> list[str]:
    """Return the distinct tokens of a query, in the order of the text."""
    return list(dict.fromkeys(_tokens(text, single=False)))


def index_tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a text to store, with repeats.

    In scripts without spaces, each single character is a token, too.
    """
    return _tokens(text, single=True)


def _without_accents(text: str) -> Iterator[str]:
    """Yield the decomposed characters of a text, without accents and with ASCII digits."""
    is_accented = False
    for character in unicodedata.normalize("NFKD", text):
        if not unicodedata.combining(character):
            is_accented = unicodedata.name(character, "").startswith(_ACCENTED)
        elif is_accented:
            continue
        digit = unicodedata.decimal(character, None)
        yield character if digit is None else str(digit)


def _tokens(text: str, *, single: bool) -> Iterator[str]:
    for kind, run in groupby(fold(text), _kind):
        if kind == "word":
            yield "".join(run)[:MAX_TOKEN_CHARACTERS]
        elif kind == "unspaced":
            yield from _pairs("".join(run), single=single)


def _pairs(run: str, *, single: bool) -> Iterator[str]:
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

"""Letters of scripts that write words without spaces between them.

In other scripts, no mention or emphasis begins inside a word: "me@ann" has no mention, and
"f*ck this sh*t" has no emphasis. Korean has spaces, but its particles follow a word without one.
"""

import re
from functools import lru_cache

# Ranges for a character class of a regular expression: Thai, Lao, Tibetan, Burmese, Khmer, New Tai
# Lue and its neighbours, Hangul, ideographs, kana, bopomofo, Yi, and half-width forms.
UNSPACED = (
    r"\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u0f00\u0f40-\u0fbc\u1000-\u103f\u1050-\u108f"
    r"\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc\u1950-\u19cf\u1a20-\u1a7c\ua9e0-\ua9fe\uaa60-\uaadf"
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u30fa\u30fc-\u31bf"
    r"\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff"
    r"\uff66-\uffdc\U00016fe0-\U00016ff6\U00017000-\U00018cff\U0001aff0-\U0001b2ff"
    r"\U00020000-\U0003fffd"
)
# A letter, digit or underscore of a script with spaces.
SPACED = rf"[^\W{UNSPACED}]"


@lru_cache(maxsize=4_096)
def is_unspaced(character: str) -> bool:
    """Return whether a character is a letter of a script without spaces."""
    # Compiled at the first call: it takes longer than the import of many modules.
    return re.match(rf"[{UNSPACED}]", character) is not None


def is_spaced(character: str) -> bool:
    """Return whether a character is a letter, digit or underscore of a script with spaces."""
    return (character.isalnum() or character == "_") and not is_unspaced(character)

"""Names of people: reserved names in any spelling, and keys to find and compare names."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby

from pydantic import ConfigDict, TypeAdapter, ValidationError

from chalicelib.texts import PersonName, drop_controls, without_blanks

# Letters of other scripts, by the ASCII letter that they resemble. Source: Unicode's
# confusables.txt (Unicode Technical Standard #39), version 15: single characters after
# compatibility decomposition and case folding, without characters that these steps turn into ASCII
# letters. `i` and `l` count as the same letter.

LOOKALIKES = {
    "a": "\u0251\u03b1\u0430\u13aa\u15c5\u2376\u237a\ua4ee\U000102a0\U00016f40",
    "b": (
        "\u0180\u0183\u0185\u0253\u03b2\u0431\u0432\u044c\u0463\u048d\u13cf\u13f4\u1472\u1473"
        "\u15af\u15f7\ua4d0\ua7b5\U00010282\U000102a1\U00010301"
    ),
    "c": (
        "\u00a2\u00a9\u023c\u03c3\u0441\u04ab\u13df\u1d04\u20a1\u2ca5\ua4da\U000102a2"
        "\U00010302\U0001043d\U0001051c\U000118e9\U000118f2\U0001f16e\U0001f74c"
    ),
    "d": "\u00f0\u0111\u018c\u0256\u0257\u0501\u13a0\u13e7\u146f\u15de\u15ea\u20ab\ua4d2\ua4d3",
    "e": (
        "\u0247\u03b5\u0435\u04bd\u04bf\u13ac\u212e\u22ff\u2d39\ua4f0\uab32\U00010286"
        "\U000118c6\U000118ce"
    ),
    "f": (
        "\u0192\u03dd\u0584\u15b4\u1d6e\u1e9d\ua4dd\ua799\uab35\U00010287\U000102a5\U00010525"
        "\U000118c2\U0001d213"
    ),
    "g": "\u018d\u01e5\u0260\u0261\u050d\u0581\u13c0\u13f3\u1d83\ua4d6",
    "h": (
        "\u0127\u0266\u03b7\u043d\u045b\u04a3\u04bb\u04c8\u04ca\u0570\u13bb\u13c2\u13f2\u157c"
        "\u2c68\u2c8f\ua4e7\ua695\U000102cf"
    ),
    "j": "\u0249\u029d\u03f3\u0458\u13ab\u148d\ua4d9",
    "k": "\u0199\u03ba\u043a\u049b\u049f\u13e6\u16d5\u20ad\u2c6a\u2c95\ua4d7\ua741\U00010518",
    "l": (
        "\u0131\u0142\u019a\u01c0\u0268\u0269\u026a\u026b\u026d\u03b9\u0456\u04cf\u06f1\u13a5"
        "\u13de\u14aa\u16c1\u18f3\u1d7b\u1d7c\u2223\u2373\u2378\u23fd\u2502\u2c93\u2cd1\u2d4f"
        "\ua4e1\ua4f2\ua647\U0001028a\U00010309\U00010320\U00010443\U00010526\U000118c3"
        "\U000118d2\U00016f16\U00016f28\U0001d22a"
    ),
    "m": "\u03bc\u03fb\u043c\u04ce\u13b7\u15f0\u16d6\u2c99\ua4df\uab51\U000102b0\U00010311",
    "n": "\u019e\u0272\u0273\u03bd\u0578\u057c\u1d70\u2c9b\ua4e0\U0001018e\U00010513",
    "o": (
        "\u00f8\u0275\u03b8\u03bf\u043e\u0473\u04e9\u0585\u06f5\u0966\u09e6\u0a66\u0ae6\u0b20"
        "\u0b66\u0be6\u0c02\u0c66\u0c82\u0ce6\u0d02\u0d20\u0d66\u0d82\u0e50\u0ed0\u101d\u1040"
        "\u10ff\u12d0\u13a4\u13be\u13eb\u1d0f\u1d11\u2296\u229d\u236c\u2c9f\u2d31\u2d41\u2d54"
        "\u3007\ua4f3\ua74b\uab3d\uab3e\U00010292\U000102ab\U0001042c\U000104ea\U00010516"
        "\U000114d0\U000118c8\U000118d5\U000118d7\U000118e0\U0001d21a\U0001f714"
    ),
    "p": "\u01a5\u03c1\u0440\u13e2\u146d\u18d6\u1d7d\u2117\u2374\u2ca3\ua4d1\U00010295",
    "q": "\u02a0\u051b\u0563\u0566\u2d55",
    "r": (
        "\u00ae\u024d\u027c\u027d\u0280\u0433\u0493\u13a1\u13b1\u13d2\u1587\u18f4\u1d26\u1d72"
        "\u2c85\ua4e3\uab47\uab48\U000104dc\U00016f35\U0001d216"
    ),
    "s": (
        "\u01bd\u0282\u0455\u057f\u13d5\u13da\u18f5\u1d74\ua4e2\ua731\U00010296\U00010448"
        "\U000118c1\U00016f3a"
    ),
    "t": (
        "\u0167\u01ab\u01ad\u0288\u03c4\u0442\u04ad\u13a2\u1d75\u20ae\u22a4\u2361\u27d9\u2c66"
        "\u2ca7\ua4d4\U00010297\U000102b1\U00010315\U000118dc\U00016f0a\U0001f768"
    ),
    "u": (
        "\u0289\u028b\u03c5\u057d\u1200\u13cc\u144c\u1d1c\u1d7e\u222a\u22c3\ua4f4\ua79f\uab4e"
        "\uab52\U000104f6\U000118d8\U00016f42"
    ),
    "v": (
        "\u0475\u06f7\u13d9\u142f\u1d20\u2228\u22c1\u2d38\ua4e6\ua6df\U00010197\U0001051d"
        "\U00011706\U000118c0\U00016f08\U0001d20d\U0001f708"
    ),
    "w": (
        "\u026f\u0461\u047d\u051d\u0561\u13b3\u13d4\u1d21\u20a9\ua4ea\ua761\U000114c5"
        "\U0001170a\U0001170e\U0001170f\U000118e6\U000118ef"
    ),
    "x": (
        "\u00d7\u03c7\u0445\u04b3\u1541\u157d\u166d\u166e\u16b7\u2573\u292b\u292c\u2a2f\u2a30"
        "\u2cad\u2d5d\ua4eb\uab53\U00010196\U00010290\U000102b4\U00010317\U00010322\U00010527"
        "\U000118ec"
    ),
    "y": (
        "\u00a5\u01b4\u024f\u0263\u028f\u03b3\u0443\u04af\u04b1\u10e7\u13a9\u13bd\u1d8c\u1eff"
        "\u2ca9\ua4ec\uab5a\U000102b2\U000118c4\U00016f43"
    ),
    "z": "\u01b6\u0225\u0290\u03b6\u13c3\u1646\u1d22\u1d76\ua4dc\U000102f5\U000118c9\U000118e5",
}

# Refused as any word of a name: no person's real name has them.
_TITLES = (
    "admin admins administrator administrators moderator moderators sysadmin webmaster",
    "administrador moderador administrateur moderateur amministratore moderatore moderatorin",
    "администратор модератор админ 管理员 管理者 管理人 モデレーター 모더레이터 관리자",
)
# A name is refused if it has nothing but these words, titles, the deployment's own names and words
# of `_BESIDE`; a name of words of `_BESIDE` alone is not.
_OFFICES = ("plaza staff support system root official security helpdesk postmaster",)
_BESIDE = ("the of and real your our my site team mod mods account user",)

_SIGNS = {
    "0": "o",
    "1": "l",
    "3": "e",
    "4": "a",
    "5": "s",
    "7": "t",
    "8": "b",
    "@": "a",
    "$": "s",
    "!": "l",
    "|": "l",
    "i": "l",
}
_FOLDED = str.maketrans(
    _SIGNS | {each: letter for letter, alike in LOOKALIKES.items() for each in alike}
)
# Scripts with accents as marks. A copy of the list in `words`: workers of ads need not load it.
_ACCENTED = ("LATIN", "GREEK", "CYRILLIC")
# The names of marks that are accents in any script.
_ACCENTS = ("HEBREW", "ARABIC", "SYRIAC", "VARIATION", "COMBINING")
# Marks that make another letter of kana: `ハ` becomes `パ`.
_VOICED = "\u3099\u309a"
_WORD = re.compile(r"(?:[^\W_]|[@$!|])+")
_ENDS = "0123456789@$!|"
# A key's bound: compatibility forms of a few characters have many letters.
MAX_KEY_CHARACTERS = 100
_NAME: TypeAdapter[str] = TypeAdapter(PersonName, config=ConfigDict(defer_build=True))


def is_reserved(name: str, reserved: tuple[str, ...] = ()) -> bool:
    """Return whether a name looks like a staff name or a name that the deployment reserves.

    It folds spellings: case, marks, digits for letters, spaces, and similar letters of other
    scripts (Unicode Technical Standard #39).
    """
    titles, whole = _reserved_words(reserved)
    words = _WORD.findall(_plain_letters(name))
    bare = [word.strip(_ENDS) for word in words]
    if not titles.isdisjoint(_alike(word) for word in (*words, *bare)):
        return True
    return any(_is_made_of(_alike("".join(spelled)), whole) for spelled in (words, bare))


def name_key(name: str) -> str:
    """Return a name's key for searches: without case, marks and compatibility forms."""
    letters = " ".join(_plain_letters(name).split())
    return letters[:MAX_KEY_CHARACTERS]


def lookalike_key(name: str) -> str:
    """Return a key that two names share if a reader may confuse them.

    It folds case, accents, signs for letters, and similar letters of other scripts (Unicode
    Technical Standard #39); "" for a name without letters.
    """
    if name.isascii():
        words = _WORD.findall(_plain_letters(name))
    else:
        runs = groupby(_letters(name), _is_of_name)
        words = ["".join(run) for is_word, run in runs if is_word]
    return "".join(map(_alike, words))[:MAX_KEY_CHARACTERS]


def acceptable(claim: object, reserved: tuple[str, ...], *, is_staff: bool) -> str | None:
    """Return a token's name without invisible characters; None: Plaza may not show it.

    Staff may have staff names.
    """
    return _acceptable(claim, reserved, is_staff) if isinstance(claim, str) else None


# Cached: every request with a token needs it, and a container mostly serves few people.
@lru_cache(maxsize=4_096)
def _acceptable(claim: str, reserved: tuple[str, ...], is_staff: bool) -> str | None:  # noqa: FBT001
    try:
        name = _NAME.validate_python(without_blanks(str(drop_controls(claim))))
    except ValidationError:
        return None
    return name if is_staff or not is_reserved(name, reserved) else None


@lru_cache(maxsize=4)
def _reserved_words(own: tuple[str, ...]) -> tuple[frozenset[str], dict[str, bool]]:
    """Return the titles, and the words of reserved names: True, or False for words of `_BESIDE`."""
    titles = frozenset(_fold(_TITLES))
    kept = titles.union(_fold(_OFFICES), ("".join(_fold([name])) for name in own)) - {""}
    return titles, dict.fromkeys(_fold(_BESIDE), False) | dict.fromkeys(kept, True)


def _fold(texts: Iterable[str]) -> list[str]:
    return [_alike(word) for text in texts for word in _WORD.findall(_plain_letters(text))]


def _plain_letters(name: str) -> str:
    """Return a name in lower case, without marks and compatibility forms."""
    letters = unicodedata.normalize("NFKD", without_blanks(name)).casefold()
    return "".join(each for each in letters if unicodedata.category(each)[0] != "M")


def _letters(name: str) -> Iterator[str]:
    """Yield the letters of a name in lower case, without accents.

    In a script outside `_ACCENTED`, drop a mark only if `_ACCENTS` names it and `_VOICED` does not:
    any other mark is a vowel, or makes another letter.
    """
    is_accented = True
    for each in unicodedata.normalize("NFKD", without_blanks(name)).casefold():
        called = unicodedata.name(each, "")
        if unicodedata.category(each)[0] != "M":
            is_accented = not each.isalpha() or called.startswith(_ACCENTED)
        elif is_accented or (called.startswith(_ACCENTS) and each not in _VOICED):
            continue
        yield each


def _is_of_name(character: str) -> bool:
    is_mark = unicodedata.category(character)[0] == "M"
    return is_mark or character.isalnum() or character in _SIGNS


def _alike(word: str) -> str:
    """Return a word with ASCII letters in place of letters that resemble them."""
    return word.translate(_FOLDED).replace("rn", "m").replace("vv", "w")


def _is_made_of(joined: str, words: dict[str, bool]) -> bool:
    """Return whether a text is a sequence of the words, including a reserved word."""
    # For each position that whole words can reach: True, if some such words include a reserved
    # word; False, if some include none.
    found: list[set[bool]] = [{False}, *(set() for _ in joined)]
    for start, before in enumerate(found):
        for word, counts in words.items() if before else ():
            if joined.startswith(word, start):
                found[start + len(word)] |= {each or counts for each in before}
    return True in found[-1]

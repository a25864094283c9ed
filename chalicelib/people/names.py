"""Reserved names: those of staff and of the deployment, in any spelling."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from pydantic import ConfigDict, TypeAdapter, ValidationError

from chalicelib.lookalikes import LOOKALIKES
from chalicelib.texts import PersonName, drop_controls, without_blanks

# Refused as any word of a name, since they are nobody's real name.
_TITLES = (
    "admin admins administrator administrators moderator moderators sysadmin webmaster",
    "administrador moderador administrateur moderateur amministratore moderatore moderatorin",
    "администратор модератор админ 管理员 管理者 管理人 モデレーター 모더레이터 관리자",
)
# Refused only as a whole name, alone or with words that say nothing of a person; so are the words
# above and the deployment's own.
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
_WORD = re.compile(r"(?:[^\W_]|[@$!|])+")
_ENDS = "0123456789@$!|"
# The bound of a key: compatibility forms of a few characters have many letters.
MAX_KEY_CHARACTERS = 100
_NAME: TypeAdapter[str] = TypeAdapter(PersonName, config=ConfigDict(defer_build=True))


def is_reserved(name: str, reserved: tuple[str, ...] = ()) -> bool:
    """Return whether a name could be taken for a staff name or one the deployment reserves.

    Spelling does not matter: case, marks, digits for letters, spaces, and letters of other
    scripts that look the same (Unicode Technical Standard #39) are folded.
    """
    titles, whole = _reserved(reserved)
    words = _WORD.findall(_plain_letters(name))
    bare = [word.strip(_ENDS) for word in words]
    if not titles.isdisjoint(_alike(word) for word in (*words, *bare)):
        return True
    return any(_is_made_of(_alike("".join(spelled)), whole) for spelled in (words, bare))


def name_key(name: str) -> str:
    """Return what names are found by: a name without case, marks and compatibility forms."""
    letters = " ".join(_plain_letters(name).split())
    return letters[:MAX_KEY_CHARACTERS]


def acceptable(claim: object, reserved: tuple[str, ...], *, is_staff: bool) -> str | None:
    """Return the name of a token's claim as Plaza shows it; None if it may not be shown.

    Invisible characters are dropped. Staff may use staff names.
    """
    return _acceptable(claim, reserved, is_staff) if isinstance(claim, str) else None


# Cached: every request with a token asks, mostly about the few people a container serves.
@lru_cache(maxsize=4_096)
def _acceptable(claim: str, reserved: tuple[str, ...], is_staff: bool) -> str | None:  # noqa: FBT001
    try:
        name = _NAME.validate_python(without_blanks(str(drop_controls(claim))))
    except ValidationError:
        return None
    return name if is_staff or not is_reserved(name, reserved) else None


@lru_cache(maxsize=4)
def _reserved(own: tuple[str, ...]) -> tuple[frozenset[str], dict[str, bool]]:
    """Return the titles; and words that reserve a name (True) or may accompany one (False)."""
    titles = frozenset(_folded(_TITLES))
    kept = titles.union(_folded(_OFFICES), ("".join(_folded([name])) for name in own)) - {""}
    return titles, dict.fromkeys(_folded(_BESIDE), False) | dict.fromkeys(kept, True)


def _folded(texts: Iterable[str]) -> list[str]:
    return [_alike(word) for text in texts for word in _WORD.findall(_plain_letters(text))]


def _plain_letters(name: str) -> str:
    """Return a name in lower case, without marks and compatibility forms."""
    letters = unicodedata.normalize("NFKD", without_blanks(name)).casefold()
    return "".join(each for each in letters if unicodedata.category(each)[0] != "M")


def _alike(word: str) -> str:
    """Return a word with each letter replaced by the ASCII letter it resembles, if any."""
    return word.translate(_FOLDED).replace("rn", "m").replace("vv", "w")


def _is_made_of(joined: str, words: dict[str, bool]) -> bool:
    """Return whether a text is a sequence of the words, at least one of them reserved."""
    # For each position, whether the words up to it can include no reserved one (False) or one
    # (True).
    found: list[set[bool]] = [{False}, *(set() for _ in joined)]
    for start, before in enumerate(found):
        for word, counts in words.items() if before else ():
            if joined.startswith(word, start):
                found[start + len(word)] |= {each or counts for each in before}
    return True in found[-1]

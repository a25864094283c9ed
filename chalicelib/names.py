"""Names that nobody may take: those of staff and of the deployment, however they are spelled."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from pydantic import TypeAdapter, ValidationError

from chalicelib.lookalikes import LOOKALIKES
from chalicelib.texts import PersonName, drop_controls, without_blanks

# Refused as any word of a name: nobody is called so.
_TITLES = (
    "admin admins administrator administrators moderator moderators sysadmin webmaster",
    "administrador moderador administrateur moderateur amministratore moderatore moderatorin",
    "администратор модератор админ 管理员 管理者 管理人 モデレーター 모더레이터 관리자",
)
# Refused as a whole name, as those above and the deployment's own are, alone or with words that
# say nothing of a person.
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
_NAME: TypeAdapter[str] = TypeAdapter(PersonName)


def is_reserved(name: str, reserved: tuple[str, ...] = ()) -> bool:
    """Return whether a name would pass for that of staff, or one that the deployment keeps.

    Spelling does not matter: case, marks, digits for letters, spaces, and letters of other
    scripts that look the same (Unicode Technical Standard #39) are folded.
    """
    titles, whole = _reserved(reserved)
    words = _WORD.findall(_plain_letters(name))
    bare = [word.strip(_ENDS) for word in words]
    if not titles.isdisjoint(_alike(word) for word in (*words, *bare)):
        return True
    return any(_is_made_of(_alike("".join(spelled)), whole) for spelled in (words, bare))


def acceptable(claim: object, reserved: tuple[str, ...], *, is_staff: bool) -> str | None:
    """Return the name in a token's claim as Plaza shows it, or None for one that it does not.

    Characters that cannot be seen are dropped. Staff may be called what they are.
    """
    return _acceptable(claim, reserved, is_staff) if isinstance(claim, str) else None


# Every request with a token asks, mostly for the few people that a container serves just now.
@lru_cache(maxsize=4_096)
def _acceptable(claim: str, reserved: tuple[str, ...], is_staff: bool) -> str | None:  # noqa: FBT001
    try:
        name = _NAME.validate_python(without_blanks(str(drop_controls(claim))))
    except ValidationError:
        return None
    return name if is_staff or not is_reserved(name, reserved) else None


@lru_cache(maxsize=4)
def _reserved(own: tuple[str, ...]) -> tuple[frozenset[str], dict[str, bool]]:
    """Return the titles, and the words that make a name reserved (True) or go beside (False)."""
    titles = frozenset(_folded(_TITLES))
    kept = titles.union(_folded(_OFFICES), ("".join(_folded([name])) for name in own)) - {""}
    return titles, dict.fromkeys(_folded(_BESIDE), False) | dict.fromkeys(kept, True)


def _folded(texts: Iterable[str]) -> list[str]:
    return [_alike(word) for text in texts for word in _WORD.findall(_plain_letters(text))]


def _plain_letters(name: str) -> str:
    """Return a name in small letters without marks and compatibility forms."""
    letters = unicodedata.normalize("NFKD", without_blanks(name)).casefold()
    return "".join(each for each in letters if unicodedata.category(each)[0] != "M")


def _alike(word: str) -> str:
    """Return a word in letters of ASCII that look like its own, as far as there are any."""
    return word.translate(_FOLDED).replace("rn", "m").replace("vv", "w")


def _is_made_of(joined: str, words: dict[str, bool]) -> bool:
    """Return whether a text is words one after the other, at least one that is reserved."""
    # What the words up to each place can be: none reserved (False), or some (True).
    found: list[set[bool]] = [{False}, *(set() for _ in joined)]
    for start, before in enumerate(found):
        for word, counts in words.items() if before else ():
            if joined.startswith(word, start):
                found[start + len(word)] |= {each or counts for each in before}
    return True in found[-1]

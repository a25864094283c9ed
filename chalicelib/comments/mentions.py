"""People whom a text mentions: `@` and their name, as it stands in the text.

Names are not unique, so the client lists the people whom a text may mention. An `@` and any other
name is plain text, and so is a mention in code or in a link.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from chalicelib.comments.scripts import SPACED, UNSPACED

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline

# The stand-in for the name of an erased person: no word of any language.
NOBODY = "…"
MAX_MENTIONS = 10
_ENV = "mentions"
_UNSPACED = re.compile(rf"[{UNSPACED}]")


class Mention(TypedDict):
    """A person whom a comment mentions, by the name that stands in its text."""

    id: str
    name: str


class Mentions:
    """The people whom a text may mention, and after rendering the people whom it mentions.

    Of two people with one name the first counts. `shown` maps ids to names that replace the names
    in the text; an empty name ends the mention, and `NOBODY` stands in its place.
    """

    def __init__(self, people: Iterable[Mention], shown: Mapping[str, str] | None = None) -> None:
        self._ids: dict[str, str] = {}
        for each in people:
            self._ids.setdefault(each["name"], each["id"])
        self._name_at = _any_of(self._ids) if self._ids else None
        self._shown = shown or {}
        self._found: dict[str, str] = {}

    @property
    def people(self) -> list[Mention]:
        """The people whom the text mentions, in the order of the text."""
        return [Mention(id=user_id, name=name) for name, user_id in self._found.items()]

    @property
    def env(self) -> dict[str, Any]:
        """The environment of markdown-it that `rule` reads."""
        return {_ENV: self}

    def at(self, text: str, position: int) -> str | None:
        """Return the name after the `@` at a position of a text; None for no mention."""
        found = self._name_at.match(text, position) if self._name_at else None
        return found[1] if found else None

    def mention(self, name: str) -> tuple[str, str]:
        """Note the mention of a name; return the person's id, and the name to show."""
        user_id = self._found.setdefault(name, self._ids[name])
        return user_id, self._shown.get(user_id, name)


def rule(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    """Parse a mention, as a rule of markdown-it within a line."""
    mentions: Mentions | None = state.env.get(_ENV)
    # A link within a link would lead to two places.
    if mentions is None or state.linkLevel > 0 or state.src[state.pos] != "@":
        return False
    name = mentions.at(state.src, state.pos)
    if name is None:
        return False
    if not silent:
        user_id, shown = mentions.mention(name)
        if shown:
            opening = state.push("mention_open", "span", 1)
            opening.attrs = {"class": "mention", "data-person": user_id}
            opening.meta = {"at": state.pos, "name": name}
            state.push("text", "", 0).content = f"@{shown}"
            state.push("mention_close", "span", -1)
        else:
            state.push("text", "", 0).content = f"@{NOBODY}"
    state.pos += 1 + len(name)
    return True


def rename_in(text: str, places: Iterable[int], name: str, to: str) -> str:
    """Replace a person's name by another at these positions of a text."""
    parts, after = [], 0
    for place in places:
        parts += [text[after:place], f"@{to}"]
        after = place + 1 + len(name)
    return "".join([*parts, text[after:]])


def _any_of(names: Mapping[str, str]) -> re.Pattern[str]:
    """Return a pattern of `@` and a name; it prefers the longer of "Ann" and "Ann Lee"."""
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"@({'|'.join(_with_borders(name) for name in longest_first)})")


def _with_borders(name: str) -> str:
    """Return the pattern of a name that needs a border beside a letter of a script with spaces.

    Neither "me@ann.example" nor "@Annabel" mentions Ann, but "谢谢@小明你好" mentions 小明.
    """
    before = "" if _UNSPACED.match(name) else rf"(?<!{SPACED}@)"
    is_word = name[-1:].isalnum() and not _UNSPACED.match(name[-1:])
    return before + re.escape(name) + (rf"(?!{SPACED})" if is_word else "")

"""People whom a text mentions: `@` and their name, as it stands in the text.

The client says whom a text may mention, since names are not unique. What stands for nobody, or in
code or in a link, is text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline

# What stands in a text for the name of somebody who was erased: no word of any language.
NOBODY = "…"
MAX_MENTIONS = 10
_ENV = "mentions"


class Mention(TypedDict):
    """Somebody whom a comment mentions, by the name that stands in its text."""

    id: str
    name: str


class Mentions:
    """The people whom a text may mention, and once it is rendered those whom it does.

    Of two with one name the first is meant.
    """

    def __init__(self, people: Iterable[Mention]) -> None:
        self._ids: dict[str, str] = {}
        for each in people:
            self._ids.setdefault(each["name"], each["id"])
        self._name_at = _any_of(self._ids) if self._ids else None
        self._found: dict[str, str] = {}

    @property
    def found(self) -> list[Mention]:
        """The people whom the text mentions, in the order of the text."""
        return [Mention(id=user_id, name=name) for name, user_id in self._found.items()]

    @property
    def env(self) -> dict[str, Any]:
        """What `rule` reads."""
        return {_ENV: self}

    def at(self, text: str, position: int) -> str | None:
        """Return the name that a text mentions at a position, where an `@` stands."""
        found = self._name_at.match(text, position) if self._name_at else None
        return found[1] if found else None

    def mention(self, name: str) -> str:
        """Note that somebody is mentioned; return their id."""
        return self._found.setdefault(name, self._ids[name])


def rule(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001
    """Take a mention, as a rule of markdown-it within a line."""
    mentions: Mentions | None = state.env.get(_ENV)
    # A link within a link would lead to two places.
    if mentions is None or state.linkLevel > 0 or state.src[state.pos] != "@":
        return False
    name = mentions.at(state.src, state.pos)
    if name is None:
        return False
    if not silent:
        opening = state.push("mention_open", "span", 1)
        opening.attrs = {"class": "mention", "data-person": mentions.mention(name)}
        state.push("text", "", 0).content = f"@{name}"
        state.push("mention_close", "span", -1)
    state.pos += 1 + len(name)
    return True


def renamed(text: str, name: str, to: str) -> str:
    """Return a text in which somebody is mentioned by another name."""
    return _any_of({name: ""}).sub(lambda _found: f"@{to}", text)


def _any_of(names: Mapping[str, str]) -> re.Pattern[str]:
    """Return what finds `@` and one of the names: of "Ann" and "Ann Lee" the longer."""
    longest_first = sorted(names, key=len, reverse=True)
    # In "me@ann.example" and "@Annabel", Ann is not mentioned.
    ends = (re.escape(name) + (r"(?!\w)" if name[-1:].isalnum() else "") for name in longest_first)
    return re.compile(rf"(?<!\w)@({'|'.join(ends)})")

"""People whom a text mentions: `@` and their name, as it stands in the text.

Names are not unique, so the client lists the people whom a text may mention. An `@` and any other
name is plain text, and so is a mention in code or in a link.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from chalicelib.scripts import is_spaced, is_unspaced

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline

# The stand-in for the name of an erased person: no word of any language.
NOBODY = "…"
MAX_MENTIONS = 10
_ENV = "mentions"


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
        # `at` prefers "Ann Lee" to "Ann".
        self._longest_first = sorted(self._ids, key=len, reverse=True)
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
        begin = position + 1
        names = (name for name in self._longest_first if text.startswith(name, begin))
        return next((name for name in names if _has_borders(text, begin, name)), None)

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
    """Return a text with `@name` replaced by `@to` at these positions, in their order."""
    parts, after = [], 0
    for place in places:
        parts += [text[after:place], f"@{to}"]
        after = place + 1 + len(name)
    return "".join([*parts, text[after:]])


def _has_borders(text: str, begin: int, name: str) -> bool:
    """Return whether a name in a text stands apart from adjacent letters of spaced scripts.

    Neither "me@ann.example" nor "@Annabel" mentions Ann, but "谢谢@小明你好" mentions 小明.
    """
    end = begin + len(name)
    before, after = text[max(begin - 2, 0) : begin - 1], text[end : end + 1]
    return not (
        (is_spaced(before) and not is_unspaced(name[:1]))
        or (is_spaced(after) and name[-1:].isalnum() and not is_unspaced(name[-1:]))
    )

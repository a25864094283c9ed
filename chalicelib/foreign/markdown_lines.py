"""A paragraph of Markdown from words and marks; escapes make Plaza show the words unchanged.

The paragraph omits marks that Plaza's dialect (`chalicelib.comments.dialect`) would show as text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chalicelib.scripts import is_spaced, is_unspaced

Mark = Literal["*", "**", "~~"]

_URL = re.compile(
    r"(?<![^\W_])(?:https?://|www\.(?=[\w-]+\.\w))[^\W_][\w.-]*(?::\d{1,5})?"
    r"(?:[/?#][^\s<>\"`\[\]{}|\\^*()]*)?",
    re.IGNORECASE,
)
# As in Plaza's own rule, these characters after an address belong to the sentence.
_AFTER_URL = ".,:;!?'_~\u00bb\u2019"
# A backslash makes these characters text, except `_` before `(`: "\_(" is an arm of a shrug.
_SPECIAL = re.compile(r"[*`\[\]~<]|_(?!\()|&(?=#?\w{1,31};)")
_ARM = re.compile(r"_\(")
_PLAIN_ARM = r"\\_&#40;"
_BACKSLASH = re.compile(r"\\(?=[!#&)*+\-.<>@\[\\\]_`|~\x01])")
# The last character of a text, if the character after it decides on its escape.
_LAST = re.compile(r"[\\_]$")
_UNDECIDED = {"\\": "\1", "_": "\2"}
_DECIDED = re.compile(r"\x02(\(?)|\x01(?=(.?))", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x08]")
_ANY_SPECIAL = re.compile(r"[\\*`\[\]_~<&]")
_WITHIN_WORD = re.compile(r"(?<=[^\W_])\\_(?=[^\W_])")
# Marks at the beginning of a line.
_LINE_MARK = re.compile(r">|[-+](?=\s|$)|-(?=[-\s]*$)|#(?=#{0,5}(?:\s|$))")
_LINE_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_TICKS = re.compile("`+")
_ENTITY = re.compile(r"&(?=#?\w{1,31};)")
# Between two stars, these characters are the mouth of a face: "*_*".
_MOUTHS = frozenset("._")
# In an alternative text, Plaza's parser knows no backslashes.
_OF_PICTURES = re.compile(r"[\\*`\[\]_~<>&!]")


@dataclass(slots=True, eq=False)
class _Span:
    """An emphasis; `is_dropped`: the dialect would show its marks as text."""

    mark: Mark
    is_dropped: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Edge:
    """The opening or the closing mark of a span."""

    span: _Span
    is_opening: bool


@dataclass(slots=True, eq=False)
class _Link:
    """An open link."""

    url: str


class _Code(str):
    """A part of a line: code with its backticks."""

    __slots__ = ()


class MarkdownLine:
    """The words and marks of a paragraph, in order; blanks between them are one space."""

    def __init__(self) -> None:
        self._parts: list[str | _Edge] = []
        self._waiting: list[_Edge | _Link] = []
        self._open: list[_Span | _Link] = []
        self._space = False

    @property
    def ends_with_break(self) -> bool:
        """Whether the paragraph ends with a line break, or is empty."""
        return not self._parts or self._parts[-1] == "\n"

    @property
    def is_empty(self) -> bool:
        """Whether nothing is visible."""
        return not self._parts

    def write(self, text: str) -> None:
        """Escape and append a plain text; blanks in a row become one space."""
        words = " ".join(_CONTROLS.sub("", text).split())
        if not words:
            self._space = self._space or bool(text)
            return
        self._space = self._space or text[0].isspace()
        self._begin()
        self._parts.append(escape(words, begins_line=self._begins_line()))
        self._space = text[-1].isspace()

    def break_line(self) -> None:
        """Append a line break."""
        self._space = False
        if self._parts:
            self._parts.append("\n")

    def write_code(self, code: str) -> None:
        """Append code."""
        code = " ".join(code.split())
        if not code:
            return
        self._begin()
        ticks = max(map(len, _TICKS.findall(code)), default=0) + 1
        before = self._visible(len(self._parts), -1)
        if ticks == 1 and is_spaced(before[-1:]):
            # One backtick within a word is an apostrophe.
            ticks = 2
        if isinstance(before, _Code):
            # Without a space, the backticks of both codes would be one mark.
            self._parts.append(" ")
        pad = " " if code.startswith("`") or code.endswith("`") else ""
        self._parts.append(_Code(f"{'`' * ticks}{pad}{code}{pad}{'`' * ticks}"))

    def write_picture(self, url: str, words: str) -> None:
        """Append a picture."""
        self._begin()
        self._escape_exclamation()
        named = _OF_PICTURES.sub(_entity, " ".join(words.split()))
        self._parts.append(f"![{named}]({_destination(url)})")

    def open(self, mark: Mark) -> None:
        """Begin an emphasis; the caller ensures that none with the same mark is open."""
        span = _Span(mark)
        self._open.append(span)
        self._waiting.append(_Edge(span, is_opening=True))

    def open_link(self, url: str) -> None:
        """Begin a link."""
        link = _Link(url)
        self._open.append(link)
        self._waiting.append(link)

    def close(self) -> None:
        """End the innermost open emphasis or link, and drop it if it has no words."""
        opened = self._open.pop()
        last = self._waiting[-1] if self._waiting else None
        if last is opened or (isinstance(last, _Edge) and last.span is opened):
            self._waiting.pop()
        else:
            self._parts.insert(self._end(), _closing(opened))

    def markdown(self, line_end: str = "\n") -> str:
        """Return the paragraph; `line_end` is the Markdown of a line break."""
        del self._parts[self._end() :]
        for at, part in enumerate(self._parts):
            if isinstance(part, _Edge) and not part.span.is_dropped and not self._works(at, part):
                part.span.is_dropped = True
        text = "".join(self._write_part(part, line_end) for part in self._parts)
        return _DECIDED.sub(_decide, text)

    @staticmethod
    def _write_part(part: str | _Edge, line_end: str) -> str:
        if isinstance(part, str):
            return line_end if part == "\n" else part
        return "" if part.span.is_dropped else part.span.mark

    def _begin(self) -> None:
        """Write the space and the opening marks before the next visible part."""
        if self._space and not self.ends_with_break:
            self._parts.append(" ")
        self._space = False
        for each in self._waiting:
            if isinstance(each, _Link):
                self._escape_exclamation()
                self._parts.append("[")
            else:
                self._parts.append(each)
        self._waiting.clear()

    def _end(self) -> int:
        """Return the place after the last visible part, before line breaks."""
        end = len(self._parts)
        while end and self._parts[end - 1] == "\n":
            end -= 1
        return end

    def _begins_line(self) -> bool:
        return self._visible(len(self._parts), -1) in {"", "\n"}

    def _escape_exclamation(self) -> None:
        """Escape an exclamation mark, which would make a picture of the link after it."""
        at = next(
            (at for at in reversed(range(len(self._parts))) if isinstance(self._parts[at], str)), 0
        )
        last = self._parts[at] if self._parts else None
        if isinstance(last, str) and last.endswith("!"):
            self._parts[at] = f"{last[:-1]}\\!"

    def _works(self, at: int, edge: _Edge) -> bool:
        """Return whether Plaza's dialect reads the mark at a place as emphasis."""
        before, after = self._visible(at, -1), self._visible(at, 1)
        if edge.is_opening:
            outer, inner = before[-1:].strip(), after[:1].strip()
            # Right after the closing mark of another emphasis, both marks would be one.
            is_alone = not any(not each.is_opening for each in self._edges(at, -1))
            is_face = inner in _MOUTHS or outer in _MOUTHS
        else:
            outer, inner = after[:1].strip(), before[-1:].strip()
            is_alone = True
            is_face = inner in _MOUTHS or (after in _MOUTHS and self._has_edge_after(at, after))
        if not is_alone or not inner:
            return False
        if edge.span.mark == "~~":
            # Between letters, and at the end of an address, it would be text.
            return not outer
        return not is_face and _is_border(outer)

    def _edges(self, at: int, step: int) -> Iterator[_Edge]:
        """Yield the marks between a place and the nearest part with words."""
        at += step
        while 0 <= at < len(self._parts):
            part = self._parts[at]
            if isinstance(part, str):
                return
            yield part
            at += step

    def _has_edge_after(self, at: int, text: str) -> bool:
        """Return whether a mark follows `text`, the next part with words after a place."""
        place = self._parts.index(text, at)
        return any(self._edges(place, 1))

    def _visible(self, at: int, step: int) -> str:
        """Return the nearest part with words or blanks on one side of a place; empty for none."""
        at += step
        while 0 <= at < len(self._parts):
            part = self._parts[at]
            if isinstance(part, str):
                return part
            at += step
        return ""


def _closing(opened: _Span | _Link) -> str | _Edge:
    if isinstance(opened, _Link):
        return f"]({_destination(opened.url)})"
    return _Edge(opened, is_opening=False)


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _is_border(character: str) -> bool:
    if not character or is_unspaced(character):
        return True
    return unicodedata.category(character)[0] == "P"


def escape(words: str, *, begins_line: bool = False) -> str:
    """Return one line of text as Markdown that shows the same characters."""
    escaped = _escape_around_urls(words) if _ANY_SPECIAL.search(words) else words
    if not begins_line:
        return escaped
    if _LINE_MARK.match(words):
        return f"\\{escaped}"
    return _LINE_NUMBER.sub(r"\1\\\2", escaped, count=1) if _LINE_NUMBER.match(words) else escaped


def _escape_around_urls(words: str) -> str:
    parts, after = [], 0
    for url in _URL.finditer(words):
        typed = url[0].rstrip(_AFTER_URL)
        parts += [_escape_text(words[after : url.start()]), typed]
        after = url.start() + len(typed)
    rest = _LAST.sub(lambda found: _UNDECIDED[found[0]], words[after:])
    return "".join([*parts, _escape_text(rest)])


def _escape_text(text: str) -> str:
    text = _BACKSLASH.sub("\0", text)
    text = _SPECIAL.sub(lambda found: f"\\{found[0]}", text)
    text = _WITHIN_WORD.sub("_", _ARM.sub(_PLAIN_ARM, text))
    return text.replace("\0", "\\\\")


def _decide(found: re.Match[str]) -> str:
    """Return the last character of a text, escaped as the character after it requires."""
    if found[0][0] == _UNDECIDED["_"]:
        return "\\_&#40;" if found[1] else "\\_"
    # Before a letter or digit, Plaza's Markdown shows one backslash as one, and two as two.
    return "\\" if found[2].isalnum() else "\\\\"


def _destination(url: str) -> str:
    """Return an address as the destination of a link."""
    encoded = re.sub(
        r"[\s<>\\\x00-\x1f\x7f]",
        lambda found: "".join(f"%{each:02X}" for each in found[0].encode()),
        url,
    )
    encoded = _ENTITY.sub("&amp;", encoded)
    return f"<{encoded}>" if "(" in encoded or ")" in encoded else encoded

"""HTML of other systems as Markdown of the same look in Plaza; the result has no HTML.

A sanitizer with a browser's parser first closes every tag.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import nh3

from chalicelib.foreign.entities import unescape
from chalicelib.foreign.markdown_lines import Mark, MarkdownLine
from chalicelib.markdown import MOST_NESTED, is_absolute

# The Markdown of a line break in a dialect that shows a newline as a space.
HARD_BREAK = "\\\n"
# Longer texts lose their tags: on some texts the parser's time grows faster than their length.
MAX_HTML_CHARACTERS = 200_000
_MARKS: dict[str, Mark] = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite"), "*"),
    **dict.fromkeys(("s", "strike", "del"), "~~"),
}
_HEADINGS = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
_CODES = frozenset({"code", "kbd", "samp", "tt"})
_BLOCKS = frozenset(
    "p div section article header footer figure figcaption details summary table tr dl dt dd "  # noqa: SIM905
    "address center fieldset main nav aside".split()
)
_CONTAINERS = frozenset({"blockquote", "ul", "ol", "li"})
_FRAMES = frozenset({"iframe", "embed", "video", "audio", "source"})
_REST_OF_LINE = re.compile(r"^[ \t]*\r?\n")
_TAGS = {"a", "br", "hr", "img", "pre", "td", "th"}
_TAGS |= {*_MARKS, *_HEADINGS, *_CODES, *_BLOCKS, *_CONTAINERS, *_FRAMES}
_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "ol": {"start"},
    **{each: {"src"} for each in _FRAMES},
}
_SCHEMES = {"http", "https", "mailto"}
_MOST_DIGITS = 9
_TAG = re.compile(r'<(/?)([a-z0-9]+)((?:\s+[a-z-]+="[^"]*")*)\s*/?>')
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')
_ANY_TAG = re.compile(r"<[^<>]*>")
_LAST_SIGNS = re.compile(r"(?<![\\#])#+$")
_TICKS = re.compile("`{3,}")
# The alternative text of a picture that stands for an emoji: the emoji itself.
_EMOJI = re.compile(r"[^\x00-\x7f]{1,10}")


def _same(url: str) -> str:
    return url


def markdown_of(
    html: str,
    *,
    breaks: bool = False,
    link: Callable[[str], str] = _same,
    picture: Callable[[str], str] = _same,
    line_end: str = "\n",
) -> str:
    """Return HTML as Markdown; HTML over `MAX_HTML_CHARACTERS` loses its tags.

    breaks: newlines are line breaks, and empty lines part paragraphs, as in WordPress.
    link: changes the address of a link. picture: changes the address of a picture or a frame.
    line_end: the Markdown of a line break; `HARD_BREAK` if the dialect shows a newline as a space.
    """
    if len(html) > MAX_HTML_CHARACTERS:
        html = _ANY_TAG.sub("", html)
    elif "<" in html:
        html = nh3.clean(
            html, tags=_TAGS, attributes=_ATTRIBUTES, link_rel=None, url_schemes=_SCHEMES
        )
    writer = _Writer(_Ways(breaks, link, picture, line_end))
    after = 0
    for tag in _TAG.finditer(html):
        writer.write(unescape(html[after : tag.start()]))
        after = tag.end()
        if tag[1]:
            writer.end(tag[2])
        else:
            writer.start(tag[2], _attributes(tag[3]))
    writer.write(unescape(html[after:]))
    return writer.markdown()


def _heading(text: str, line_end: str) -> str:
    """Return a heading on one line; escape number signs at its end: Markdown would drop them."""
    return _LAST_SIGNS.sub(r"\\\g<0>", text.replace(line_end, " "))


def _attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}


class _Ways(NamedTuple):
    """The options of `markdown_of`."""

    breaks: bool
    link: Callable[[str], str]
    picture: Callable[[str], str]
    line_end: str


@dataclass(slots=True)
class _Container:
    """A quote, a list or an item, with the blocks in it.

    start: the first number of a list. delimiter: `.` or `)` if the last block is a numbered list.
    """

    tag: str
    start: int = 1
    blocks: list[str] = field(default_factory=list)
    delimiter: str = ""


class _Writer:
    """A writer of Markdown that reads HTML piece by piece."""

    def __init__(self, ways: _Ways) -> None:
        self._ways = ways
        self._containers = [_Container("")]
        self._line = MarkdownLine()
        self._prefix = ""
        # The open tags of emphasis and links, and whether each has a mark of its own.
        self._inline: list[tuple[str, bool]] = []
        # The open marks, each with the function that opens it again in the next paragraph.
        self._marks: list[tuple[Mark | Literal["["], Callable[[MarkdownLine], None]]] = []
        # The code so far (None: outside code), its tag, and the depth of this tag within itself.
        self._raw: list[str] | None = None
        self._raw_tag, self._raw_depth = "", 0
        self._too_deep = 0
        self._is_after_break = False

    def write(self, text: str) -> None:
        """Append a text; with `breaks`, each newline outside code is a line break.

        A newline directly after `<br>` is none, as in WordPress.
        """
        if self._is_after_break:
            text, self._is_after_break = _REST_OF_LINE.sub("", text, 1), False
        if self._raw is not None:
            self._raw.append(text)
        elif not self._ways.breaks:
            self._line.write(text)
        else:
            first, *lines = text.split("\n")
            self._line.write(first)
            for each in lines:
                self._break()
                self._line.write(each)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Read the start of an element."""
        self._is_after_break = tag == "br" and self._raw is None
        if self._raw is not None:
            self._raw.append("\n" if tag == "br" else attributes.get("alt", ""))
            self._raw_depth += tag == self._raw_tag
        elif tag in _MARKS:
            self._open(tag, _MARKS[tag], partial(MarkdownLine.open, mark=_MARKS[tag]))
        elif tag == "a":
            self._start_link(attributes.get("href", ""))
        elif tag in _CODES or tag == "pre":
            self._start_code(tag)
        elif tag == "br":
            self._break()
        else:
            self._start_other(tag, attributes)

    def _start_other(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "img":
            self._write_picture(attributes.get("src", ""), attributes.get("alt", ""))
        elif tag in _FRAMES:
            self._write_frame(attributes.get("src", ""))
        elif tag in {"td", "th"}:
            self._line.write(" ")
        else:
            self._start_block(tag, attributes)

    def end(self, tag: str) -> None:
        """Read the end of an element."""
        self._is_after_break = False
        if self._raw is not None:
            self._raw_depth -= tag == self._raw_tag
            if not self._raw_depth:
                self._end_code("".join(self._raw))
        elif self._inline and self._inline[-1][0] == tag:
            if self._inline.pop()[1]:
                self._marks.pop()
                self._line.close()
        elif tag in _CONTAINERS:
            self._end_container()
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._flush()

    def markdown(self) -> str:
        """End all that is open, and return the Markdown of the whole HTML."""
        self._flush()
        while len(self._containers) > 1:
            self._end_container()
        return "\n\n".join(self._containers[0].blocks)

    def _start_block(self, tag: str, attributes: dict[str, str]) -> None:
        self._flush()
        self._prefix = _HEADINGS.get(tag, "")
        if tag == "hr":
            self._add("---")
        elif tag in _CONTAINERS:
            # A list and its item are one level of Markdown, and the root is none.
            levels = sum(each.tag != "li" for each in self._containers) - 1
            is_full = levels == MOST_NESTED and tag != "li"
            if self._too_deep or is_full or len(self._containers) > 2 * MOST_NESTED:
                self._too_deep += 1
                return
            start = attributes.get("start", "1")
            is_number = start.isascii() and start.isdigit() and len(start) < _MOST_DIGITS
            self._containers.append(_Container(tag, int(start) if is_number else 1))

    def _end_container(self) -> None:
        self._flush()
        if self._too_deep:
            self._too_deep -= 1
            return
        closed = self._containers.pop()
        if closed.tag == "li":
            self._containers[-1].blocks.append("\n\n".join(closed.blocks))
        elif closed.blocks:
            # Two lists in a row with the same delimiter would merge.
            other = ")" if self._containers[-1].delimiter == "." else "."
            delimiter = other if closed.tag == "ol" else ""
            self._add("\n".join(_lines_of(closed, delimiter)), delimiter)

    def _add(self, block: str, delimiter: str = "") -> None:
        self._containers[-1].blocks.append(block)
        self._containers[-1].delimiter = delimiter

    def _flush(self) -> None:
        """End the paragraph, and open its marks again in the next paragraph."""
        for _ in self._marks:
            self._line.close()
        if not self._line.is_empty:
            end = self._ways.line_end
            text = self._line.markdown(end)
            self._add(f"{self._prefix}{_heading(text, end)}" if self._prefix else text)
        self._prefix = ""
        self._line = MarkdownLine()
        for _mark, begin in self._marks:
            begin(self._line)

    def _break(self) -> None:
        if not self._line.is_empty and self._line.ends_with_break:
            self._flush()
        else:
            self._line.break_line()

    def _open(
        self, tag: str, mark: Mark | Literal["["], begin: Callable[[MarkdownLine], None]
    ) -> None:
        """Open emphasis or a link; inside the same mark, a tag writes no second mark.

        So a paragraph repeats at most four marks, however many tags are open.
        """
        has_mark = all(mark != other for other, _ in self._marks)
        self._inline.append((tag, has_mark))
        if has_mark:
            self._marks.append((mark, begin))
            begin(self._line)

    def _start_link(self, url: str) -> None:
        url = self._ways.link(url.strip())
        if is_absolute(url):
            self._open("a", "[", partial(MarkdownLine.open_link, url=url))

    def _start_code(self, tag: str) -> None:
        if tag == "pre":
            self._flush()
        self._raw = []
        self._raw_tag, self._raw_depth = tag, 1

    def _end_code(self, code: str) -> None:
        self._raw = None
        if self._raw_tag != "pre":
            self._line.write_code(code)
            return
        code = code.strip("\n")
        if code.strip():
            ticks = max([2, *map(len, _TICKS.findall(code))]) + 1
            self._add(f"{'`' * ticks}\n{code}\n{'`' * ticks}")

    def _write_picture(self, url: str, words: str) -> None:
        url = self._ways.picture(url.strip())
        if _EMOJI.fullmatch(words) or not is_absolute(url) or url.startswith("mailto:"):
            self._line.write(words)
        else:
            self._line.write_picture(url, words)

    def _write_frame(self, url: str) -> None:
        """Write a link in place of a frame, a film or a sound."""
        url = self._ways.picture(f"https:{url}" if url.startswith("//") else url)
        if is_absolute(url):
            self._line.open_link(url)
            self._line.write(url)
            self._line.close()


def _lines_of(container: _Container, delimiter: str) -> Iterator[str]:
    """Yield the lines of a quote or a list."""
    if container.tag == "blockquote":
        for line in "\n\n".join(container.blocks).split("\n"):
            yield f"> {line}".rstrip()
        return
    for number, item in enumerate(filter(None, container.blocks), container.start):
        # Not a minus: Plaza reads it as text if any line of the text begins with a plus.
        mark = "* " if container.tag == "ul" else f"{number}{delimiter} "
        first, *others = item.split("\n")
        yield mark + first
        for line in others:
            yield f"{' ' * len(mark)}{line}".rstrip()

"""Markdown to safe HTML, at a bounded cost, by the dialect of a kind of text."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import markdown_it
import nh3
from markdown_it import helpers
from markdown_it.rules_block import StateBlock, blockquote, list_block
from markdown_it.rules_inline import StateInline, image
from markdown_it.token import Token

from chalicelib.markdown_tokens import MOST_TOKENS, TOKENS_LEFT, Tokens, TooLarge, bound_blocks
from chalicelib.texts import INVISIBLE, UNBALANCED, has_balanced_directions, is_visible

__all__ = ["AT", "MOST_NESTED", "Dialect", "TooLarge", "Unreadable", "destinations"]
__all__ += ["is_absolute", "places", "render", "without_deep_marks"]

# Rules of markdown-it, of blocks and within a line: each returns whether it consumed the text at a
# place, and makes no tokens if silent.
BlockRule = Callable[[StateBlock, int, int, bool], bool]
InlineRule = Callable[[StateInline, bool], bool]

# A browser reads an http URL without two slashes and a host as a path on the page's own site.
_ABSOLUTE = re.compile(r"https?://[^/?#\\]|mailto:.", re.IGNORECASE)
# Tokens that are visible without any content: a bullet, a rule, a picture.
_VISIBLE_TOKENS = frozenset({"list_item_open", "hr", "image"})
# Without effect in this configuration, but tried at every line or character.
_UNUSED = ("html_block", "html_inline", "linkify", "replacements", "smartquotes")
_DEEP = re.compile(r"(?:[^()\s<>\\]*\(){4}")
_parse_destination = helpers.parseLinkDestination
_NO_LINK = _parse_destination("", 0, 0)
_STEPS_LEFT = "label_steps_left"
_ALTS = "alts"
_DEPTH = "depth"
# The depth of quotes and lists within each other, and of emphasis within emphasis. Deeper marks are
# plain text.
MOST_NESTED = 8
# The rules of quotes and lists in markdown-it, and the names of the rules that they end.
_CONTAINERS: Mapping[str, tuple[BlockRule, list[str]]] = {
    "blockquote": (blockquote, ["paragraph", "reference", "blockquote", "list"]),
    "list": (list_block, ["paragraph", "reference", "blockquote"]),
}
_MARKS = frozenset({"em", "strong", "s"})
_NEWLINE = re.compile(r"\r\n?|\n")
# The key of `meta` where the token of a dialect's rule notes its position in its block's text.
AT = "at"

# A change of a text's tokens before rendering.
Edit = Callable[[list[Token]], list[Token]]


def is_absolute(url: str) -> bool:
    """Return whether a URL is an absolute http, https or mailto URL."""
    return _ABSOLUTE.match(url) is not None


@dataclass(frozen=True, eq=False)
class Dialect:
    """The permitted content of a kind of text; make one object for each kind: it caches the parser.

    - `is_link`: whether a destination is a link.
    - `edit`: changes the tokens.
    - `relative_links`: `is_link` alone decides on relative destinations. Otherwise the sanitizer
      removes them.
    - `classes`: the classes that an element may have.
    - `rules`: further rules within a line, after the rules of CommonMark; they read `env` of
      `render`.
    - `blocks`: rules of blocks by name, each with the blocks that it ends; they replace the rules
      of CommonMark, or come after them.
    - `stop`: a pattern of the places, beside marks, where a rule may begin: the characters that
      can stand there, and the condition after one of them.
    - `line`: the parser's state within a block.
    - `breaks`: a newline breaks the line.
    - `label_steps`: the most tokens that the search for the ends of brackets passes in a text,
      nested searches included. The default is enough for 1,250 links, the most in 10,000
      characters.
    """

    tags: frozenset[str]
    attributes: Mapping[str, set[str]]
    link_rel: str
    without: tuple[str, ...] = ()
    is_link: Callable[[str], bool] = is_absolute
    edit: Edit | None = None
    relative_links: bool = False
    classes: Mapping[str, set[str]] = field(default_factory=dict)
    rules: Mapping[str, InlineRule] = field(default_factory=dict)
    blocks: Mapping[str, tuple[BlockRule, list[str]]] = field(default_factory=dict)
    stop: tuple[str, str] | None = None
    line: type[StateInline] = StateInline
    breaks: bool = False
    label_steps: int = 2_500


class Unreadable(Exception):
    """The text shows nothing, or reverses the text after it: a code and its detail."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def render(
    text: str,
    dialect: Dialect,
    *,
    max_bytes: int,
    is_new: bool = True,
    env: Mapping[str, Any] | None = None,
) -> str:
    """Return the HTML of a Markdown text, without raw HTML, scripts and styles.

    `env` is input of the dialect's own rules. Raises TooLarge above `max_bytes` of HTML, and above
    MOST_TOKENS as soon as the parser reaches them. Raises Unreadable for a new text that, with
    decoded entities, shows nothing or has unbalanced directional controls.
    """
    parser = _parser(dialect)
    known = _environment(dialect, env)
    tokens = parser.parse(text, known)
    for token in tokens:
        if token.children:
            token.children = list(without_deep_marks(token.children))
    if is_new:
        _check_readable(tokens)
    if dialect.edit is not None:
        tokens = dialect.edit(tokens)
    html = nh3.clean(
        parser.renderer.render(tokens, parser.options, known),
        tags=set(dialect.tags),
        attributes=dict(dialect.attributes),
        allowed_classes=dict(dialect.classes),
        url_schemes={"http", "https", "mailto"},
        url_relative="pass_through" if dialect.relative_links else "deny",
        link_rel=dialect.link_rel,
    )
    if len(html.encode()) > max_bytes:
        raise TooLarge
    return html


def destinations(text: str, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Yield the URLs of links and pictures in a Markdown text, each with `href` or `src`.

    Raises TooLarge.
    """
    for token in _parser(dialect).parse(text, _environment(dialect)):
        for leaf in token.children or ():
            for name in ("href", "src"):
                if name in leaf.attrs:
                    yield name, str(leaf.attrs[name])


def places(
    text: str, dialect: Dialect, env: Mapping[str, Any] | None = None
) -> Iterator[tuple[int, Token]]:
    """Yield the tokens of a dialect's rules that note `AT`, each with its position in the text."""
    # As the parser does.
    text = text.replace("\0", "\ufffd")
    lines = _lines(text)
    tokens = _parser(dialect).parse(text, _environment(dialect, env))
    for above, block in itertools.pairwise(tokens):
        found = [leaf for leaf in block.children or () if AT in leaf.meta]
        if not found or block.map is None:
            continue
        own = lines[slice(*block.map)]
        if above.markup.startswith("#"):
            own = [(begin, _end_of_heading(text, begin, end)) for begin, end in own]
        parts = block.content.split("\n")
        own = own[_first_line(text, own, parts) :]
        for leaf in found:
            before = block.content[: leaf.meta[AT]]
            part = before.count("\n")
            column = len(before) - (before.rfind("\n") + 1)
            yield own[part][1] - len(parts[part].rstrip()) + column, leaf


def _lines(text: str) -> list[tuple[int, int]]:
    """Return the begin and the end of each line of a text, without trailing blanks."""
    begins = [0, *(found.end() for found in _NEWLINE.finditer(text))]
    ends = [*(found.start() for found in _NEWLINE.finditer(text)), len(text)]
    return [
        (begin, begin + len(text[begin:end].rstrip()))
        for begin, end in zip(begins, ends, strict=True)
    ]


def _end_of_heading(text: str, begin: int, end: int) -> int:
    """Return the end of a heading's line, without closing hashes.

    Blanks of other kinds than the parser's two behind the hashes make them part of the heading.
    """
    rest = text[begin:end].rstrip("#")
    newline = _NEWLINE.search(text, end)
    behind = text[end : newline.start() if newline else len(text)].strip(" \t")
    is_closed = rest[-1:] in {" ", "\t"} and not behind
    return begin + len(rest.rstrip()) if is_closed else end


def _first_line(text: str, lines: Sequence[tuple[int, int]], parts: Sequence[str]) -> int:
    """Return the line of a block's first part, counted from the block's first line.

    The parser removes marks and indentation from the left of lines, and empty lines from both ends
    of a block. So each part ends its line, and the lines before the first part do not end with it.
    """
    bare = [part.strip() for part in parts]
    for first in range(len(lines) - len(parts) + 1):
        of_block = zip(lines[first:], bare, strict=False)
        if all(text.endswith(part, begin, end) for (begin, end), part in of_block):
            return first
    raise ValueError("a block's lines are not in its text")


@lru_cache(maxsize=8)
def _parser(dialect: Dialect) -> markdown_it.MarkdownIt:
    """Return the parser for all texts of a dialect."""
    parser = _plain_parser(dialect)
    _bound_nesting(parser, _plain_parser(dialect), {**_CONTAINERS, **dialect.blocks})
    bound_blocks(parser)
    _parse_lines(parser, dialect)
    # markdown-it-py's types require a module and a method; any object and function work.
    parser.helpers = SimpleNamespace(  # type: ignore[assignment]
        parseLinkDestination=_destination,
        parseLinkLabel=_label_end,
        parseLinkTitle=helpers.parseLinkTitle,
    )
    parser.inline.ruler.at("image", _image)
    for name, rule in dialect.rules.items():
        parser.inline.ruler.push(name, _outside_alts(rule))
    parser.validateLink = dialect.is_link  # type: ignore[assignment,method-assign]
    return parser


def _plain_parser(dialect: Dialect) -> markdown_it.MarkdownIt:
    parser = markdown_it.MarkdownIt("js-default", {"html": False, "breaks": dialect.breaks})
    known = parser.get_all_rules()["block"]
    for name, (rule, ends) in dialect.blocks.items():
        if name in known:
            parser.block.ruler.at(name, rule, {"alt": ends})
        else:
            parser.block.ruler.push(name, rule, {"alt": ends})
    return parser.disable([*_UNUSED, *dialect.without])


def _parse_lines(parser: markdown_it.MarkdownIt, dialect: Dialect) -> None:
    """Let a parser stop at the places of a dialect, and keep its state within a block."""
    inline = parser.inline
    if dialect.stop is not None:
        characters, condition = dialect.stop
        marks = inline.terminator_re.pattern[1:-1]
        # One set of characters first: the search for it is quick.
        inline.terminator_re = re.compile(rf"[{marks}{characters}](?:(?<=[{marks}])|{condition})")

    def parse(text: str, md: markdown_it.MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = dialect.line(text, md, env, Tokens(env))
        inline.tokenize(state)
        for rule in inline.ruler2.getRules(""):
            rule(state)
        tokens.extend(state.tokens)
        return tokens

    inline.parse = parse  # type: ignore[assignment,method-assign]


def _bound_nesting(
    parser: markdown_it.MarkdownIt,
    innermost: markdown_it.MarkdownIt,
    blocks: Mapping[str, tuple[BlockRule, list[str]]],
) -> None:
    """Let a parser without quotes and lists read the content of the innermost quote or list.

    Otherwise the time of a text grows with its depth, and words below a level are lost.
    """
    tokenize = parser.block.tokenize

    def tokenize_bounded(state: StateBlock, begin: int, end: int) -> None:
        if state.env[_DEPTH] == MOST_NESTED:
            state.md = innermost
            innermost.block.tokenize(state, begin, end)
            state.md = parser
            return
        state.env[_DEPTH] += 1
        tokenize(state, begin, end)
        state.env[_DEPTH] -= 1

    parser.block.tokenize = tokenize_bounded  # type: ignore[assignment,method-assign]
    for name in _CONTAINERS:
        rule, ends = blocks[name]
        innermost.block.ruler.at(name, _outside(rule), {"alt": ends})


def _outside(rule: BlockRule) -> BlockRule:
    """Return a rule that consumes nothing, and only ends the block before an outer container."""

    def ends(state: StateBlock, begin: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        return silent and state.sCount[begin] < state.blkIndent and rule(state, begin, end, silent)

    return ends


def without_deep_marks(leaves: Iterable[Token]) -> Iterator[Token]:
    """Yield the tokens of a block, without too deeply nested emphasis."""
    depth = 0
    for leaf in leaves:
        if leaf.tag not in _MARKS:
            yield leaf
            continue
        depth += leaf.nesting
        # A closing mark is as deep as its opening mark.
        if depth + (leaf.nesting < 0) <= MOST_NESTED:
            yield leaf


def _environment(dialect: Dialect, env: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the environment for parsing a text."""
    return {
        **(env or {}),
        _STEPS_LEFT: dialect.label_steps,
        TOKENS_LEFT: MOST_TOKENS,
        _ALTS: 0,
        _DEPTH: 0,
    }


def _image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a picture as markdown-it does, and note that its alternative text is under way."""
    state.env[_ALTS] += 1
    try:
        return image(state, silent)
    finally:
        state.env[_ALTS] -= 1


def _outside_alts(rule: InlineRule) -> InlineRule:
    """Return a rule that makes no tokens of an alternative text, which remains plain text."""
    return lambda state, silent: (silent or not state.env[_ALTS]) and rule(state, silent)


def _destination(text: str, start: int, end: int) -> Any:
    """Return the link destination at `start`, as markdown-it's `parseLinkDestination`.

    markdown-it searches 32 parentheses deep from each bracket; CommonMark requires three.
    """
    return _NO_LINK if _DEEP.match(text, start, end) else _parse_destination(text, start, end)


def _label_end(state: StateInline, start: int, disable_nested: bool = False) -> int:  # noqa: FBT001, FBT002
    """Return the end of the label of the bracket at `start`; -1: it has none.

    markdown-it's `parseLinkLabel` searches the text after every `[`, so that its time grows with
    the square of the brackets. Here all searches in a text share the steps of its dialect; further
    brackets are text.
    """
    before, end, level = state.pos, -1, 1
    state.pos = start + 1
    env = state.env
    while state.pos < state.posMax:
        marker, position = state.src[state.pos], state.pos
        if marker == "]":
            level -= 1
            if level == 0:
                end = position
                break
        if not env[_STEPS_LEFT]:
            break
        env[_STEPS_LEFT] -= 1
        state.md.inline.skipToken(state)
        if marker == "[":
            if position == state.pos - 1:
                # No token begins with this bracket: it needs a `]` of its own.
                level += 1
            elif disable_nested:
                break
    state.pos = before
    return end


def _check_readable(tokens: Sequence[Token]) -> None:
    """Check the visible text, with decoded entities; raises Unreadable."""
    leaves = [leaf for token in tokens for leaf in (token.children or (token,))]
    shown = "".join(leaf.content for leaf in leaves)
    if not has_balanced_directions(shown):
        raise Unreadable("unbalanced_text", UNBALANCED)
    if not is_visible(shown) and all(leaf.type not in _VISIBLE_TOKENS for leaf in leaves):
        raise Unreadable("invisible_text", INVISIBLE)

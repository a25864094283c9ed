"""Conversion of Markdown to safe HTML at a bounded cost; each kind of text has a dialect."""

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

# A rule of markdown-it for blocks, or for the text within a block. It returns whether it consumed
# the text at a place; a silent call makes no tokens.
BlockRule = Callable[[StateBlock, int, int, bool], bool]
InlineRule = Callable[[StateInline, bool], bool]

# A browser reads an http URL without two slashes and a host as a path on the page's own site.
_ABSOLUTE = re.compile(r"https?://[^/?#\\]|mailto:.", re.IGNORECASE)
# Tokens that are visible without any content: a bullet, a rule, a picture.
_VISIBLE_TOKENS = frozenset({"list_item_open", "hr", "image"})
# These rules have no effect in this configuration, but cost time at every line or character.
_UNUSED = ("html_block", "html_inline", "linkify", "replacements", "smartquotes")
_DEEP = re.compile(r"(?:[^()\s<>\\]*\(){4}")
_parse_destination = helpers.parseLinkDestination
_NO_LINK = _parse_destination("", 0, 0)
_STEPS_LEFT = "label_steps_left"
_ALTS = "alts"
_DEPTH = "depth"
# The most levels of quotes and lists in each other, and of emphasis in emphasis. Deeper quotes and
# lists are plain text; deeper emphasis loses its marks.
MOST_NESTED = 8
# The rules of quotes and lists in markdown-it, each with the names of the blocks that it ends.
_CONTAINERS: Mapping[str, tuple[BlockRule, list[str]]] = {
    "blockquote": (blockquote, ["paragraph", "reference", "blockquote", "list"]),
    "list": (list_block, ["paragraph", "reference", "blockquote"]),
}
_MARKS = frozenset({"em", "strong", "s"})
_NEWLINE = re.compile(r"\r\n?|\n")
# The key in a token's `meta` for its position in the text of its block; a dialect's rule sets it.
AT = "at"

# A change of a text's tokens before rendering.
Edit = Callable[[list[Token]], list[Token]]


def is_absolute(url: str) -> bool:
    """Return whether a URL is an absolute http, https or mailto URL."""
    return _ABSOLUTE.match(url) is not None


@dataclass(frozen=True, eq=False)
class Dialect:
    """The permitted content of a kind of text; make one object for each kind.

    The module caches the parsers of the eight objects used last.

    - `is_link`: whether a destination is a link.
    - `edit`: changes the tokens.
    - `relative_links`: True: `is_link` alone decides on relative destinations. False: the
      sanitizer removes all of them.
    - `classes`: the classes that an element may have.
    - `rules`: further rules for the text within a block, by name; they run after the rules of
      CommonMark, and read the `env` of `render`.
    - `blocks`: rules for blocks by name, each with the names of the blocks that it ends. A rule
      replaces the rule of CommonMark with its name, or else runs after all of them.
    - `stop`: (characters, condition): a rule may also begin at one of these characters if the
      pattern `condition` matches after the character.
    - `line`: the class of the parser's state within a block.
    - `breaks`: True: a newline in the text is a line break in the HTML.
    - `label_steps`: the most tokens that all searches for closing brackets in a text may pass,
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
    """The text shows nothing, or could reverse the text after it; `code` names the case."""

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

    `env` is the input of the dialect's own rules. Raises TooLarge above `max_bytes` of HTML, and
    above MOST_TOKENS before the parse ends. Raises Unreadable for a new text (`is_new`) that, with
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
    """Yield (`href` or `src`, URL) of each link and picture in a Markdown text.

    Raises TooLarge above MOST_TOKENS.
    """
    for token in _parser(dialect).parse(text, _environment(dialect)):
        for leaf in token.children or ():
            for name in ("href", "src"):
                if name in leaf.attrs:
                    yield name, str(leaf.attrs[name])


def places(
    text: str, dialect: Dialect, env: Mapping[str, Any] | None = None
) -> Iterator[tuple[int, Token]]:
    """Yield (position in the text, token) of tokens with `AT`; raise TooLarge above MOST_TOKENS."""
    # The parser replaces the character, too.
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
    """Return (begin, end) of each line of a text; the end leaves out trailing blanks."""
    begins = [0, *(found.end() for found in _NEWLINE.finditer(text))]
    ends = [*(found.start() for found in _NEWLINE.finditer(text)), len(text)]
    return [
        (begin, begin + len(text[begin:end].rstrip()))
        for begin, end in zip(begins, ends, strict=True)
    ]


def _end_of_heading(text: str, begin: int, end: int) -> int:
    """Return the end of a heading's text: before its closing hashes, if it has any.

    Hashes close a heading only with a space or tab before them, and only spaces and tabs after
    them. The parser takes no other blank there.
    """
    rest = text[begin:end].rstrip("#")
    newline = _NEWLINE.search(text, end)
    behind = text[end : newline.start() if newline else len(text)].strip(" \t")
    is_closed = rest[-1:] in {" ", "\t"} and not behind
    return begin + len(rest.rstrip()) if is_closed else end


def _first_line(text: str, lines: Sequence[tuple[int, int]], parts: Sequence[str]) -> int:
    """Return the index of the block's line that has the first part of the block's content.

    The parser strips marks and indentation from the left of each line, and empty lines from both
    ends of a block. So each line ends with its part. Raises ValueError if no line fits.
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
    """Make a parser stop at the dialect's `stop`, use its `line` state, and count its tokens."""
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
    """Have `innermost`, which begins no quotes and lists, parse the text below MOST_NESTED levels.

    Otherwise the time for a text grows with its depth, and markdown-it drops words below its own
    `maxNesting`.
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
    """Return a rule that begins no container; an outer container's marker still ends a block."""

    def ends(state: StateBlock, begin: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        return silent and state.sCount[begin] < state.blkIndent and rule(state, begin, end, silent)

    return ends


def without_deep_marks(leaves: Iterable[Token]) -> Iterator[Token]:
    """Yield the tokens of a block, without marks of emphasis deeper than MOST_NESTED."""
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
    """Return the `env` for one parse of a text: `env` with fresh counters of the bounds."""
    return {
        **(env or {}),
        _STEPS_LEFT: dialect.label_steps,
        TOKENS_LEFT: MOST_TOKENS,
        _ALTS: 0,
        _DEPTH: 0,
    }


def _image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a picture as markdown-it does, and count it in `_ALTS` meanwhile."""
    state.env[_ALTS] += 1
    try:
        return image(state, silent)
    finally:
        state.env[_ALTS] -= 1


def _outside_alts(rule: InlineRule) -> InlineRule:
    """Return `rule` without effect in the alternative text of a picture, which stays plain text."""
    return lambda state, silent: (silent or not state.env[_ALTS]) and rule(state, silent)


def _destination(text: str, start: int, end: int) -> Any:
    """Return the link destination at `start`; none if four parentheses open before any closes.

    markdown-it's `parseLinkDestination` searches 32 levels from each bracket; CommonMark requires
    three.
    """
    return _NO_LINK if _DEEP.match(text, start, end) else _parse_destination(text, start, end)


def _label_end(state: StateInline, start: int, disable_nested: bool = False) -> int:  # noqa: FBT001, FBT002
    """Return the position of the `]` that closes the `[` at `start`; -1: none.

    markdown-it's `parseLinkLabel` searches the text after every `[`: its time grows with the square
    of the number of brackets. Here all searches in a text share `label_steps` of the dialect. Once
    the steps run out, brackets are plain text.
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
    """Raise Unreadable for tokens without visible text, or with unbalanced directions."""
    leaves = [leaf for token in tokens for leaf in (token.children or (token,))]
    shown = "".join(leaf.content for leaf in leaves)
    if not has_balanced_directions(shown):
        raise Unreadable("unbalanced_text", UNBALANCED)
    if not is_visible(shown) and all(leaf.type not in _VISIBLE_TOKENS for leaf in leaves):
        raise Unreadable("invisible_text", INVISIBLE)

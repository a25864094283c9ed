"""Blocks of comments: lists, quotes, headings, horizontal rules, code, where a writer means them.

Each parser rule here decides whether a line begins a block, and leaves the block to markdown-it.
Any other line is text, as typed.
"""

import itertools
import re
from collections.abc import Mapping

from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    code,
    fence,
    heading,
    hr,
    list_block,
    paragraph,
)
from markdown_it.token import Token

from chalicelib.markdown import BlockRule, without_deep_marks

# List marks before text. `+` is a plus, not a mark: "+ cheap".
_BULLET = re.compile(r"([*-])[ \t]+(?=\S)")
_NUMBER = re.compile(r"([0-9]{1,9})([.)])[ \t]+(?=\S)")
_LIST_STARTS = frozenset("*-0123456789")
_NUMBER_MARK = re.compile(r"([0-9]{1,9})([.)])(?:[ \t]|$)")
# The deepest indentation of a list's next mark; a numbered item's text has at least three spaces.
_DEEPEST_SIBLING = 2
_PLUS_LINE = re.compile(r"^\+[ \t]", re.MULTILINE)
_HAS_PLUS_LINES = "has_plus_lines"
# A mark of a quote: neither a smiley (">:(", ">.<") nor "more than" (">50%").
_QUOTE = re.compile(r">(?!>*(?:[:;=.,_^<\d]|[-oOxX][<>()]))")
_LIST_MARK = re.compile(r"(?:[-+*\u2022>]|[0-9]{1,9}[.)])(?:[ \t]|$)")
# "# 1 fan" is number one.
_NUMBER_SIGN = re.compile(r"#[ \t]+\d")
_INDENTS = ("    ", "\t")
_LONGEST_LINE_OF_CODE = 80
_IDEOGRAPHIC_SPACE = "\u3000"
# Three stars part two scenes; more stars are a rating, or a word that the writer hides.
_RULE_STARTS = frozenset("*-_")
_STARS = re.compile(r"\*{4,}[ \t]*$")


def _at(state: StateBlock, line: int) -> int:
    """Return the position of a line's first character after its indentation."""
    return state.bMarks[line] + state.tShift[line]


def _list(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse a list; end it before a number out of order, as browsers would show another number."""
    position, most = _at(state, line), state.eMarks[line]
    if state.src[position : position + 1] not in _LIST_STARTS:
        return False
    if silent and _is_alone(state, line, end):
        return False
    if bullet := _BULLET.match(state.src, position, most):
        # "* laughs *" is an aside.
        is_aside = state.src[position:most].rstrip()[-2:] in {f" {bullet[1]}", f"\t{bullet[1]}"}
        is_minus = bullet[1] == "-" and _has_plus_lines(state)
        return not is_aside and not is_minus and list_block(state, line, end, silent)
    number = _NUMBER.match(state.src, position, most)
    if number is None or state.is_code_block(line):
        return False
    if silent:
        return list_block(state, line, end, silent)
    stop, items = _count_items(state, line, end)
    # "1986. A great year." is no list.
    return (items > 1 or int(number[1]) <= 1) and list_block(state, line, stop, silent)


def _is_alone(state: StateBlock, line: int, end: int) -> bool:
    """Return whether a mark below a paragraph's line is no list, for want of a second item.

    An example is "- Einstein" below a quotation.
    """
    if state.parentType != "paragraph" or state.blkIndent > 0:
        return False
    following = state.skipEmptyLines(line + 1)
    if following >= end:
        return True
    mark, other = (state.src[_at(state, each)] for each in (line, following))
    is_item = other.isdigit() if mark.isdigit() else other == mark
    return not is_item and state.sCount[following] - state.sCount[line] < _DEEPEST_SIBLING


def _has_plus_lines(state: StateBlock) -> bool:
    """Return whether a text has lines that begin with a plus: then a minus is no bullet."""
    if _HAS_PLUS_LINES not in state.env:
        state.env[_HAS_PLUS_LINES] = _PLUS_LINE.search(state.src) is not None
    return bool(state.env[_HAS_PLUS_LINES])


def _count_items(state: StateBlock, first: int, end: int) -> tuple[int, int]:
    """Return the line after a numbered list, and its number of items.

    The numbers of a list rise by one, or are all 1.
    """
    items, previous, delimiter, step = 0, 0, "", None
    for line in range(first, end):
        if state.isEmpty(line) or state.sCount[line] - state.sCount[first] > _DEEPEST_SIBLING:
            continue
        found = _NUMBER_MARK.match(state.src, _at(state, line), state.eMarks[line])
        if found is None or found[2] != (delimiter or found[2]):
            return line, items
        value, delimiter = int(found[1]), found[2]
        if items:
            if value - previous not in (
                {step} if step is not None else {1, 0} if value == 1 else {1}
            ):
                return line, items
            step = value - previous
        previous, items = value, items + 1
    return end, items


def _quote(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse a quote: successive lines with a mark. A line without a mark never continues it."""
    stop = line
    while stop < end and _is_quoted(state, stop):
        stop += 1
        if silent:
            break
    if silent or stop == line:
        return stop > line
    most, state.lineMax = state.lineMax, stop
    try:
        return blockquote(state, line, stop, silent)
    finally:
        state.lineMax = most


def _is_quoted(state: StateBlock, line: int) -> bool:
    position = _at(state, line)
    return (
        state.src.startswith(">", position)
        and 0 <= state.sCount[line] - state.blkIndent < 4  # noqa: PLR2004
        and _QUOTE.match(state.src, position, state.eMarks[line]) is not None
    )


def _heading(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    position = _at(state, line)
    if not state.src.startswith("#", position):
        return False
    is_number = _NUMBER_SIGN.match(state.src, position, state.eMarks[line])
    return not is_number and heading(state, line, end, silent)


def _rule(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    position = _at(state, line)
    if state.src[position : position + 1] not in _RULE_STARTS:
        return False
    is_stars = _STARS.match(state.src, position, state.eMarks[line])
    return not is_stars and hr(state, line, end, silent)


def _fence(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse code between backticks; tildes are an ornament."""
    is_backtick = state.src.startswith("`", _at(state, line))
    return is_backtick and fence(state, line, end, silent)


def _code(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse indented code; an indented line may also begin a paragraph."""
    return (
        state.is_code_block(line)
        and not _LIST_MARK.match(state.src, _at(state, line), state.eMarks[line])
        and _is_code(state, line, end)
        and code(state, line, end, silent)
    )


def _is_code(state: StateBlock, line: int, end: int) -> bool:
    """Return whether an indented line begins code.

    It does before another indented line. A short line alone does, too, unless the text
    begins with an indent: then its writer indents paragraphs.
    """
    following = line + 1
    if following < end and not state.isEmpty(following):
        return state.is_code_block(following)
    length = state.eMarks[line] - state.bMarks[line]
    return length <= _LONGEST_LINE_OF_CODE and not state.src.startswith(_INDENTS)


def _paragraph(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Parse a paragraph; an ideographic space before it is an indent."""
    paragraph(state, line, end, silent)
    position = _at(state, line)
    if state.src.startswith(_IDEOGRAPHIC_SPACE, position):
        inline = state.tokens[-2]
        inline.content = state.getLines(line, state.line, state.blkIndent, False).strip(" \t\n")  # noqa: FBT003
    return True


def _end_of_item(state: StateBlock, line: int, _end: int, silent: bool) -> bool:  # noqa: FBT001
    """End an item's paragraph before a line that is not indented: the line follows the list."""
    return silent and 0 <= state.sCount[line] < state.blkIndent


_ENDS_ALL = ["paragraph", "reference", "blockquote", "list"]
# The rules by their names in markdown-it, each with the blocks that it ends.
BLOCKS: Mapping[str, tuple[BlockRule, list[str]]] = {
    "code": (_code, []),
    "fence": (_fence, _ENDS_ALL),
    "blockquote": (_quote, _ENDS_ALL),
    "hr": (_rule, _ENDS_ALL),
    "list": (_list, ["paragraph", "reference", "blockquote"]),
    "heading": (_heading, ["paragraph", "reference", "blockquote"]),
    "paragraph": (_paragraph, []),
    "outside": (_end_of_item, ["paragraph"]),
}


def bold_headings(tokens: list[Token]) -> list[Token]:
    """Turn headings into bold paragraphs: the outline belongs to the page around a comment."""
    for token, content in itertools.pairwise(tokens):
        if token.type == "heading_open":
            bold = (Token("strong_open", "strong", 1), Token("strong_close", "strong", -1))
            content.children = list(
                without_deep_marks([bold[0], *(content.children or ()), bold[1]])
            )
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = "p"
    return tokens

"""Marks within a line of a comment: emphasis and backslashes.

Emphasis follows CommonMark with its CJK-friendly amendment
(github.com/tats-u/markdown-cjk-friendly, specification.md): `これは**「重要」**です` has bold text
without spaces around the marks. Marks that are no emphasis stay: "2*3*4", "f*ck", "^_^".
"""

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, east_asian_width

from markdown_it.common.utils import isMdAsciiPunct, isWhiteSpace
from markdown_it.rules_inline import StateInline, backtick
from markdown_it.rules_inline.state_inline import Scanned

from chalicelib.scripts import is_unspaced

_VARIANT = re.compile(r"[\ufe00-\ufe0e]")
_IDEOGRAPHIC_VARIANT = re.compile(r"[\U000e0100-\U000e01ef]")
# Both sides of a mouth: "^_^", "-_-", ">_<", "._.", "*_*".
_FACE = frozenset("^-.<>=;'\u00b0*")
_STAR_EYES = re.compile(r"\*[_.]\*")
# Longer runs within a word hide its letters: "b****es".
_LONGEST_IN_WORD = 2
# A backslash before other characters is text, as in "\o/", "C:\new" and "\(^o^)/".
_ESCAPED = frozenset("!#&)*+-.<>@[\\]_`|~")
_SHRUG = "\\_("


class Neighbour(NamedTuple):
    """A character beside a run of marks."""

    is_space: bool
    # Punctuation or a symbol in Unicode or in Markdown.
    is_punctuation: bool
    # A wide character of Chinese, Japanese or Korean, or a letter of a script without spaces.
    is_close: bool
    is_letter: bool
    # A letter of a script with spaces.
    is_spaced: bool


@lru_cache(maxsize=4_096)
def _neighbour(character: str) -> Neighbour:
    kind = category(character)
    is_emoji = kind in {"So", "Sk"} and not "\u2e80" <= character < "\U0001f000"
    is_wide = east_asian_width(character) in {"W", "F", "H"} and not is_emoji
    is_letter, is_close = kind[0] in "LNM", is_unspaced(character)
    return Neighbour(
        isWhiteSpace(ord(character)),
        isMdAsciiPunct(ord(character)) or kind[0] in "PS",
        is_wide or is_close,
        is_letter,
        is_letter and not is_close,
    )


_EDGE = _neighbour(" ")


class TypedLine(StateInline):
    """The parser's state within a block; it decides which marks are emphasis."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: FBT001, N802, N803
        """Return whether a run of marks can open and close emphasis, and its length."""
        text, marker, end = self.src, self.src[start], start
        while end < self.posMax and text[end] == marker:
            end += 1
        before, after = self._before(start), _neighbour(text[end]) if end < self.posMax else _EDGE
        odd_before = before.is_punctuation and not before.is_close
        odd_after = after.is_punctuation and not after.is_close
        is_left = not after.is_space and (
            not odd_after or before.is_space or odd_before or before.is_close
        )
        is_right = not before.is_space and (
            not odd_before or after.is_space or odd_after or after.is_close
        )
        may_open = is_left and (canSplitWord or not is_right or before.is_punctuation)
        may_close = is_right and (canSplitWord or not is_left or after.is_punctuation)
        if self._is_face(start, end):
            may_open = may_close = False
        elif before.is_spaced and after.is_spaced:
            may_open = False
            may_close = may_close and end - start <= _LONGEST_IN_WORD
        elif marker == "~" and before.is_letter and after.is_letter:
            # "好的~~我来了~~" has no deletion.
            may_open = False
        return Scanned(may_open, may_close, end - start)

    def _before(self, start: int) -> Neighbour:
        """Return the neighbour before a run of marks, beyond a variation selector."""
        if start == 0:
            return _EDGE
        character = self.src[start - 1]
        if start > 1 and (_VARIANT.match(character) or _IDEOGRAPHIC_VARIANT.match(character)):
            character = self.src[start - 2]
        return _neighbour(character)

    def _is_face(self, start: int, end: int) -> bool:
        """Return whether a run of marks is part of a face of characters."""
        text = self.src
        left, right = text[start - 1 : start], text[end : end + 1]
        if text[start] == "_":
            return (left in _FACE and right in _FACE) or (left == ")" and right == "/")
        return text[start] == "*" and (
            _STAR_EYES.match(text, start) is not None
            or (start > 1 and _STAR_EYES.match(text, start - 2) is not None)
        )


def quote_code(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse code between backticks; within a word, a backtick is an apostrophe: "don`t"."""
    text, position = state.src, state.pos
    if text[position] != "`":
        return False
    after = text[position + 1 : state.posMax][:1]
    is_apostrophe = after and position and _neighbour(after).is_spaced
    if not (is_apostrophe and _neighbour(text[position - 1]).is_spaced):
        return backtick(state, silent)
    if not silent:
        state.append_pending("`")
    state.pos += 1
    return True


def escape(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a backslash: it escapes a mark of Markdown after it; elsewhere it is text."""
    text, position = state.src, state.pos
    if text[position] != "\\":
        return False
    following = text[position + 1 : state.posMax][:1]
    is_path = following == "\\" and text[position + 2 : position + 3].isalnum()
    is_arm = text.startswith(_SHRUG, position) and text[position - 1 : position] != "\\"
    if following not in _ESCAPED or is_path or is_arm:
        shown = typed = f"\\{following}" if is_path or is_arm else "\\"
    else:
        shown, typed = following, f"\\{following}"
    if not silent:
        token = state.push("text_special", "", 0)
        token.content, token.markup, token.info = shown, typed, "escape"
    state.pos += len(typed)
    return True

"""The differences between two versions of a page, by field and by line of longer texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content.shapes import PageWords
from chalicelib.content.types import MAX_TEXT_SENT_BYTES

# Beyond this many pairs of lines, report all lines as replaced: the search for the longest common
# run compares each line with each line of the other text.
_MOST_PAIRS = 4_000_000
# The same beyond this many visits to pairs of equal lines: the search visits each pair once for
# each run that it finds, and finds at most one run for each line of the shorter text.
_MOST_VISITS = 20_000_000
# From so many lines on, `SequenceMatcher` ignores frequent lines.
_LONG = 200
# The bytes of all fields, as Lambda sends them: both texts in lines, and at most 2,001 hunks, by
# the bound `_MOST_PAIRS`.
MAX_SENT_BYTES = 2 * MAX_TEXT_SENT_BYTES + 500_000
_FIELDS = ("slug", "title", "summary", "tags")


class Hunk(TypedDict):
    """Replaced lines; `before` and `after` are their first line in each text, from 0."""

    before: int
    after: int
    removed: Annotated[list[str], Field(max_length=200_000)]
    added: Annotated[list[str], Field(max_length=200_000)]


class FieldDifference(TypedDict):
    """A field with a difference: `hunks` for a text of several lines, otherwise both values."""

    field: Annotated[str, Field(max_length=100, examples=["detail.text"])]
    before: Any
    after: Any
    hunks: Annotated[list[Hunk] | None, Field(max_length=200_000)]


class _Lines(NamedTuple):
    before: Sequence[str]
    after: Sequence[str]


def fields(words: PageWords) -> dict[str, Any]:
    """Return the words of a page by the paths of their fields."""
    detail = {f"detail.{name}": value for name, value in words["detail"].items()}
    return {name: words.get(name) for name in _FIELDS} | detail


def different(before: PageWords, after: PageWords) -> list[str]:
    """Return the paths of the fields that differ, in order."""
    one, other = fields(before), fields(after)
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def compare(before: PageWords, after: PageWords) -> list[FieldDifference]:
    """Return the differences between two versions, field by field."""
    one, other = fields(before), fields(after)
    return [_field(name, one.get(name), other.get(name)) for name in different(before, after)]


def _field(name: str, before: Any, after: Any) -> FieldDifference:
    texts = [each for each in (before, after) if isinstance(each, str)]
    if len(texts) < 2 or not any("\n" in each for each in texts):  # noqa: PLR2004 - both of them
        return {"field": name, "before": before, "after": after, "hunks": None}
    lines = _Lines(before.split("\n"), after.split("\n"))
    return {"field": name, "before": None, "after": None, "hunks": list(_hunks(lines))}


def _hunks(lines: _Lines) -> Iterator[Hunk]:
    begin, end = _ends(lines)
    before = lines.before[begin : len(lines.before) - end]
    after = lines.after[begin : len(lines.after) - end]
    if len(before) * len(after) > _MOST_PAIRS or _visits(before, after) > _MOST_VISITS:
        yield {"before": begin, "after": begin, "removed": list(before), "added": list(after)}
        return
    for tag, i, j, k, m in SequenceMatcher(None, before, after).get_opcodes():
        if tag != "equal":
            yield {
                "before": begin + i,
                "after": begin + k,
                "removed": list(before[i:j]),
                "added": list(after[k:m]),
            }


def _visits(before: Sequence[str], after: Sequence[str]) -> int:
    """Return an upper bound of the search's visits to pairs of equal lines."""
    # The search ignores lines that are frequent in a long text, such as empty lines.
    most = len(after) // 100 + 1 if len(after) >= _LONG else len(after)
    seen = {line: number for line, number in Counter(after).items() if number <= most}
    equal_pairs = sum(number * seen.get(line, 0) for line, number in Counter(before).items())
    return equal_pairs * min(len(before), len(after))


def _ends(lines: _Lines) -> tuple[int, int]:
    """Return the numbers of equal lines at the beginning and at the end of two texts."""
    shortest = min(len(lines.before), len(lines.after))
    begin = next((n for n in range(shortest) if lines.before[n] != lines.after[n]), shortest)
    left = shortest - begin
    end = next((n for n in range(left) if lines.before[~n] != lines.after[~n]), left)
    return begin, end

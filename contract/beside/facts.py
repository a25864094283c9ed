"""Facts of a comment, by another system's answers and by Plaza's lines, and a comparison."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

# What each comment has, beside its time.
NAMES = ("parent", "author", "text", "state", "up", "down", "edited")


class Fact(NamedTuple):
    """A comment, by the millisecond of its posting, which no other one has.

    parent: the millisecond of the comment above it. edited: None: the system does not keep it.
    author, text: None of a tombstone.
    """

    posted: int
    parent: int | None
    author: str | None
    text: str | None
    state: str
    up: int
    down: int
    edited: bool | None


class Row(NamedTuple):
    """What was compared, how many are the same, and the others by their times."""

    name: str
    same: int
    different: Sequence[str]


def milliseconds(time: str) -> int:
    """Return the milliseconds of a time as Plaza's lines write it."""
    return round(datetime.fromisoformat(time).timestamp() * 1_000)


def facts_of(lines: Iterable[Mapping[str, Any]]) -> Iterator[Fact]:
    """Yield the facts of Plaza's lines, in their order, without comments that nobody sees."""
    times: dict[str, int] = {}
    for line in lines:
        if line["kind"] != "comment" or line["state"] == "removed":
            continue
        posted = times[line["id"]] = milliseconds(line["posted"])
        above = line.get("reply_to") or line["parent"]
        author = line["author"]
        yield Fact(
            posted,
            times[above] if above else None,
            author and author["name"],
            line["text"] if author else None,
            line["state"],
            line["up"],
            line["down"],
            line["edited"] is not None,
        )


def compare(there: Sequence[Fact], here: Sequence[Fact]) -> Iterator[Row]:
    """Yield what a discussion has in common with what came over; `there` is in its order."""
    before = {each.posted: each for each in there}
    after = {each.posted: each for each in here}
    apart = sorted(before.keys() ^ after.keys())
    yield Row("comments", len(before.keys() & after.keys()), [str(each) for each in apart])
    kept = [each.posted for each in there if each.posted in after]
    order = [each.posted for each in here if each.posted in before]
    moved = [str(was) for was, now in zip(kept, order, strict=True) if was != now]
    yield Row("order", len(kept) - len(moved), moved)
    for name in NAMES:
        pairs = [(getattr(before[each], name), getattr(after[each], name)) for each in kept]
        told = [
            f"{posted}: {was!r}, here {now!r}"
            for posted, (was, now) in zip(kept, pairs, strict=True)
            if was != now and not (name == "edited" and was is None)
        ]
        yield Row(name, len(kept) - len(told), told)

"""JSON objects with comments inside: the comments may come before the object's other fields."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from chalicelib.comments.importing.formats.comments_json import Record, every_value, items_of
from chalicelib.comments.importing.formats.json_values import (
    END,
    TOO_LARGE,
    JsonFile,
    JsonPart,
    Path,
)
from chalicelib.comments.importing.shapes import Item
from chalicelib.foreign.spools import Spool


@dataclass(frozen=True, slots=True)
class JsonGroup:
    """An object: its own fields, the line of its end, and its comments.

    size: the number of comments, the unusable ones too. members: the comments; take them once.
    """

    head: dict[str, Any]
    line: int
    size: int
    members: Spool

    def items(self, make: Callable[[Record], Iterator[Item]]) -> Iterator[Item]:
        """Yield the items that `make` makes of each comment; a Skipped for an unusable comment."""
        for line, sample, is_too_large, value in self.members.take():
            found = JsonPart((), TOO_LARGE if is_too_large else value, line, sample)
            yield from items_of(found, make)


def groups(
    stream: BinaryIO, places: Collection[Path], fields: Collection[str], members: Path
) -> Iterator[JsonGroup]:
    """Yield the objects at `places`; read each before you ask for the next. Raises BrokenFile.

    fields: the names of an object's own fields; `a.b` for a field inside another. members: the path
    of the comments inside an object.
    """
    names = {tuple(name.split(".")): name for name in fields}
    paths = {(*place, *path) for place in places for path in (*names, members)}
    head: dict[str, Any] = {}
    size = 0
    with Spool() as spool:
        for found in every_value(JsonFile(stream), paths, places):
            if found.value is END:
                yield JsonGroup(head, found.line, size, spool)
                head, size = {}, 0
                # Drop the members that the caller did not read.
                for _ in spool.take():
                    pass
            elif found.path[-len(members) :] != members:
                path = next(each for each in names if found.path[-len(each) :] == each)
                head[names[path]] = None if found.value is TOO_LARGE else found.value
            else:
                size += 1
                is_too_large = found.value is TOO_LARGE
                value = None if is_too_large else found.value
                spool.add([found.line, found.sample, is_too_large, value])

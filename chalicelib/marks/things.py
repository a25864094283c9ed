"""What can be marked, described by data; and the ids of its marks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from chalicelib.database import Collection, Document
from chalicelib.errors import Problem


def _no_stages() -> list[Document]:
    return []


def _own_id(counter: Mapping[str, Any]) -> str:
    return str(counter["_id"])


@dataclass(frozen=True)
class Kind:
    """A kind of things: where their counters are, and when they take marks.

    `key` is the filter of a thing's counter, with its shard key. `takes` is the condition under
    which a thing takes a person's marks, and `keeps` that under which it has counts at all; one
    that has none is `missing`. `derived` are the stages that compute what follows from the counts,
    within the update that changes them, `reported` those that follow from another number of
    reports, and `id_of` is the id of a counter's thing, by the counter's shard key. A counter's
    `revision` changes with the text of its thing.
    """

    name: str
    counters: Collection[Any]
    key: Callable[[str], Document]
    takes: Callable[[str], Document]
    keeps: Mapping[str, Any]
    missing: type[Problem]
    derived: Callable[[], list[Document]] = _no_stages
    reported: Callable[[], list[Document]] = _no_stages
    id_of: Callable[[Mapping[str, Any]], str] = _own_id
    shown: tuple[str, ...] = ("up", "down", "reactions", "marking")


Kinds = Mapping[str, Kind]


class Thing(NamedTuple):
    """A thing that a person may mark, with its counter as the caller has read it."""

    kind: Kind
    id: str
    found: Mapping[str, Any]

    def mark_of(self, user_id: str) -> str:
        """Return the id of a person's mark."""
        return mark_id(self.kind, self.id, user_id)


def mark_id(kind: Kind, thing_id: str, user_id: str) -> str:
    """Return the id of a person's mark on a thing; neither of their ids has an `@`."""
    return f"{kind.name}:{thing_id}@{user_id}"


def thing_of(id_: str) -> tuple[str, str]:
    """Return the name of the kind and the id of the thing of a mark."""
    name, _, thing_id = id_.partition("@")[0].partition(":")
    return name, thing_id


def marks_on(kind: Kind, thing_id: str, after: str = "") -> Document:
    """Return the filter of a thing's marks, of people whose ids are after one."""
    # The successor of the @ ends the range.
    return {"_id": {"$gt": mark_id(kind, thing_id, after), "$lt": f"{kind.name}:{thing_id}A"}}

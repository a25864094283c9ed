"""Merge a node's living comments with staged ones: by time, and no reply before its parent.

Memory holds the ids of a whole thread, but the texts of a batch only.
"""

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.comments.importing.rows import (
    MAX_SAMPLES_OF_THREAD,
    STAGED,
    ImportSample,
    StagedComment,
    StagedThread,
)
from chalicelib.comments.shapes import Comment
from chalicelib.database import Document

BATCH = 500
# Returns the given ids that have a comment in the node.
Present = Callable[[Sequence[str]], set[str]]


class ThreadOutcome:
    """The numbers of a thread's comments by outcome, and samples of the changed comments."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.samples: list[ImportSample] = []

    def note(self, reason: str, where: str) -> None:
        """Count an outcome; store the places of the first MAX_SAMPLES_OF_THREAD as samples."""
        self.counts[reason] += 1
        if len(self.samples) < MAX_SAMPLES_OF_THREAD:
            self.samples.append({"reason": reason, "where": where})


class MergedComment(NamedTuple):
    """A living or a staged comment, and the id of its parent, which came before it."""

    living: Comment | None = None
    staged: StagedComment | None = None
    parent: str | None = None


class StagedRows(NamedTuple):
    """The staged comments of a thread."""

    database: Database[Document]
    thread: StagedThread

    def batches(self) -> Iterator[list[StagedComment]]:
        """Yield all rows in batches, sorted by time, then by `order`."""
        found = STAGED.of(self.database).find(self._all(), batch_size=BATCH)
        rows = found.sort([("posted", ASCENDING), ("order", ASCENDING), ("id", ASCENDING)])
        while batch := list(itertools.islice(rows, BATCH)):
            yield batch

    def some(self, ids: Sequence[str]) -> list[StagedComment]:
        """Return the rows of these ids, in the order of the ids."""
        found = {row["id"]: row for row in STAGED.of(self.database).find(self._filter_of(ids))}
        return [found[each] for each in ids if each in found]

    def stored_ids(self, ids: Sequence[str]) -> set[str]:
        """Return the ids, among the given ones, that have a staged comment."""
        found = STAGED.read_as(dict[str, Any], self.database).find(self._filter_of(ids), {"id": 1})
        return {row["id"] for row in found} if ids else set()

    def note_living(self, ids: Sequence[str]) -> None:
        """Note that the node has comments with these ids already."""
        if ids:
            lives = {"$set": {"lives": True}}
            STAGED.of(self.database).update_many(self._filter_of(ids), lives)

    def _all(self) -> Document:
        return {"run": self.thread["run"], "thread": self.thread["thread"]}

    def _filter_of(self, ids: Sequence[str]) -> Document:
        return {**self._all(), "_id": {"$in": [f"{self.thread['_id']}/{each}" for each in ids]}}


class Merge:
    """A node's living comments merged with a thread's staged comments; iterate it only once."""

    def __init__(
        self,
        living: Iterable[list[Comment]],
        staged: StagedRows,
        present: Present,
        outcome: ThreadOutcome,
        *,
        threaded: bool,
    ) -> None:
        self._living = living
        self._rows = staged
        self._present = present
        self._outcome = outcome
        self._threaded = threaded
        self._came: set[str] = set()
        # The ids of staged comments that wait for their parent, by the id of the parent.
        self._waiting: dict[str, list[str]] = {}

    def __iter__(self) -> Iterator[MergedComment]:
        """Yield the comments; a comment older than its parent follows the parent."""
        for placed in heapq.merge(self._alive(), self._new_rows(), key=_time_of):
            if placed.living is not None or self._has_turn(placed):
                yield from self._turn(placed)
            else:
                row = _row_of(placed)
                self._waiting.setdefault(placed.parent or "", []).append(row["id"])
        yield from self._circles()

    def _alive(self) -> Iterator[MergedComment]:
        for batch in self._living:
            for comment in batch:
                yield MergedComment(living=comment, parent=comment["parent_id"])

    def _new_rows(self) -> Iterator[MergedComment]:
        for batch in self._rows.batches():
            ids = [row["id"] for row in batch]
            present = self._present(ids)
            if present:
                self._outcome.counts["present"] += len(present)
            new = [row for row in batch if row["id"] not in present]
            known = self._known_parents(new)
            for row in new:
                yield MergedComment(staged=row, parent=self._parent(row, known))

    def _known_parents(self, rows: Sequence[StagedComment]) -> set[str]:
        """Return the ids of parents and roots that the file or node has, except ids in `_came`."""
        ids = sorted({each for row in rows for each in ids_above(row)} - self._came)
        known = self._rows.stored_ids(ids)
        return known | self._present([each for each in ids if each not in known])

    def _parent(self, row: StagedComment, known: set[str]) -> str | None:
        above = ids_above(row)
        if not above:
            return None
        parent = next((each for each in above if each in known or each in self._came), None)
        if parent is None:
            self._outcome.note("unknown_parent", row["id"])
            return None
        if not self._threaded:
            self._outcome.counts["flattened"] += 1
            return None
        return parent

    def _has_turn(self, placed: MergedComment) -> bool:
        return placed.parent is None or placed.parent in self._came

    def _turn(self, placed: MergedComment) -> Iterator[MergedComment]:
        """Yield a comment, then the comments that waited for it, and so on downwards."""
        yield placed
        ready = deque([self._come(placed)])
        while ready:
            parent = ready.popleft()
            waiting = self._waiting.pop(parent, [])
            for first in range(0, len(waiting), BATCH):
                for row in self._rows.some(waiting[first : first + BATCH]):
                    late = MergedComment(staged=row, parent=parent)
                    yield late
                    ready.append(self._come(late))

    def _come(self, placed: MergedComment) -> str:
        came = placed.living["id"] if placed.living else _row_of(placed)["id"]
        if placed.staged is not None:
            self._outcome.counts["imported"] += 1
        self._came.add(came)
        return came

    def _circles(self) -> Iterator[MergedComment]:
        """Yield the comments in or below circles of parents; one of each circle becomes a root."""
        parent_of = {each: parent for parent, ids in self._waiting.items() for each in ids}
        while self._waiting:
            waiting = next(iter(self._waiting.values()))[0]
            first, seen = waiting, set[str]()
            # Comments below a circle have their parents once the circle is broken.
            while (parent := parent_of[first]) in parent_of and first not in seen:
                seen.add(first)
                first = parent
            if first not in self._waiting.get(parent, []):
                # Its row is gone: the import was taken over.
                first, parent = waiting, parent_of[waiting]
            self._waiting[parent].remove(first)
            if not self._waiting[parent]:
                del self._waiting[parent]
            for row in self._rows.some([first]):
                self._outcome.note("circle", row["id"])
                yield from self._turn(MergedComment(staged=row))


def ids_above(row: StagedComment) -> list[str]:
    """Return the ids of a comment's parent and root, as far as it has them."""
    return [each for each in (row["parent"], row.get("root")) if each]


def _row_of(placed: MergedComment) -> StagedComment:
    assert placed.staged is not None  # noqa: S101 - else it is a living comment
    return placed.staged


def _time_of(placed: MergedComment) -> tuple[datetime, bool]:
    """Return the sort key: the time; at the same time, living comments first."""
    if placed.living is not None:
        return placed.living["posted"], False
    return _row_of(placed)["posted"], True

"""Stage a file of any size as rows, in batches: the first part of an import.

A second reading after a crash stages nothing twice: the ids of rows follow from the file, and one
write stores the position together with the counts up to it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from pymongo import UpdateOne

from chalicelib.comments.importing.conversion import FileConversion, UnusablePart
from chalicelib.comments.importing.lease import Lease
from chalicelib.comments.importing.rows import (
    MAX_SAMPLES,
    STAGED,
    THREADS,
    ImportSample,
    StagedComment,
    StagedThread,
)
from chalicelib.comments.importing.shapes import (
    ImportedComment,
    ImportedThread,
    Item,
    Skipped,
)
from chalicelib.database import Document
from chalicelib.runtime import Runtime

BATCH = 500
_BALLOTS_AT_ONCE = 20_000


class Staging:
    """Stages the parts of a file under the lease of its import."""

    def __init__(self, runtime: Runtime, lease: Lease, conversion: FileConversion) -> None:
        self._runtime = runtime
        self._lease = lease
        self._conversion = conversion
        # The keys of threads that the import leaves out.
        self._left: set[str] = set()

    def stage(self, items: Iterable[Item]) -> Iterator[int]:
        """Stage the parts after the stored position; yield the position after each batch.

        Also yields after batches that a former run staged. Raises ImportTakenOver, and the errors
        of the parser.
        """
        position, batch = 0, _Batch(self._conversion, self._left)
        # Convert part by part: rows have bounded texts, but a batch of parts may be huge.
        for position, item in enumerate(items, 1):
            batch.take(item, position - 1)
            if position % BATCH == 0 or batch.ballots >= _BALLOTS_AT_ONCE:
                yield self._end(batch, position)
                batch = _Batch(self._conversion, self._left)
        if not batch.is_empty:
            yield self._end(batch, position)

    def _end(self, batch: "_Batch", position: int) -> int:
        # A batch up to the stored position has its rows: its conversion only filled `_left`.
        if self._lease.read["position"] < position:
            self._write(batch)
            self._lease.advance(position, batch.counts, batch.samples)
        return position

    def _write(self, batch: "_Batch") -> None:
        database = self._runtime.database
        if batch.threads:
            THREADS.of(database).bulk_write([_insertion(row) for row in batch.threads])
        if batch.comments:
            done = STAGED.of(database).bulk_write([_insertion(row) for row in batch.comments])
            there = {*range(len(batch.comments))} - {*(done.upserted_ids or {})}
            repeats = self._repeats(batch, sorted(there))
            for place in range(len(batch.comments)):
                batch.end(place, is_repeat=place in repeats)

    def _repeats(self, batch: "_Batch", there: list[int]) -> set[int]:
        """Return the comments of a batch, by their places, whose id another part has.

        A former run that crashed may have staged the others; that of an earlier release did so
        without their parts.
        """
        if not there:
            return set()
        comments = {place: batch.comments[place] for place in there}
        ids = [comment["_id"] for comment in comments.values()]
        where = {"run": self._lease.read["run"], "_id": {"$in": ids}, "part": {"$exists": True}}
        rows = STAGED.of(self._runtime.database).find(where, {"part": 1})
        parts = {row["_id"]: row["part"] for row in rows}
        return {
            place
            for place, comment in comments.items()
            if comment["_id"] in parts and parts[comment["_id"]] != comment.get("part")
        }


class _Batch:
    """The rows of some parts of a file; `counts` are numbers of parts by outcome."""

    def __init__(self, conversion: FileConversion, left: set[str]) -> None:
        self._conversion = conversion
        self._left = left
        self.threads: list[StagedThread] = []
        self.comments: list[StagedComment] = []
        # The ids of the comments in the file, and the codes of their changes.
        self._notes: list[tuple[str, list[str]]] = []
        self.counts: Counter[str] = Counter()
        self.samples: list[ImportSample] = []
        self.ballots = 0

    @property
    def is_empty(self) -> bool:
        """Whether it has no part."""
        return not self.counts

    def take(self, item: Item, number: int) -> None:
        """Add the row of a part, or count the reason why it has none; `number`: its place."""
        match item:
            case ImportedThread():
                self._take_thread(item, number)
            case ImportedComment():
                self.counts["comments"] += 1
                self._take_comment(item, number)
            case Skipped():
                self.note(item.reason, item.where)

    def note(self, reason: str, where: str) -> None:
        """Count a part that stays out, with its reason and its place in the file."""
        self.counts["left"] += 1
        self._sample(reason, where)

    def _take_thread(self, thread: ImportedThread, number: int) -> None:
        self.counts["threads"] += 1
        try:
            self.threads.append(self._conversion.thread(thread, number))
        except UnusablePart as unusable:
            self._left.add(thread.key)
            self.note(unusable.reason, thread.key)

    def _take_comment(self, comment: ImportedComment, number: int) -> None:
        if comment.thread in self._left:
            self.note("thread_skipped", comment.key)
            return
        try:
            row, lost = self._conversion.comment(comment)
        except UnusablePart as unusable:
            self.note(unusable.reason, comment.key)
            return
        self.comments.append({**row, "part": number})
        self._notes.append((comment.key, lost))
        self.ballots += len(row["ballots"])

    def end(self, place: int, *, is_repeat: bool) -> None:
        """Count the changes of a comment by its place, or that it stays out as a repeat."""
        key, lost = self._notes[place]
        if is_repeat:
            self.note("id_again", key)
            return
        for reason in lost:
            self._sample(reason, key)

    def _sample(self, reason: str, where: str) -> None:
        self.counts[f"reason {reason}"] += 1
        if len(self.samples) < MAX_SAMPLES:
            self.samples.append({"reason": reason, "where": where[:200]})


def _insertion(row: StagedThread | StagedComment) -> UpdateOne:
    fields: Document = {**row}
    key = {"_id": fields.pop("_id"), "run": fields.pop("run")}
    return UpdateOne(key, {"$setOnInsert": fields}, upsert=True)

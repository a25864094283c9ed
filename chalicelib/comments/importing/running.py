"""Run an import: stage the file, apply each thread, report. A later run continues after a crash.

An import causes no notifications, spam checks or activity, and no limits apply to its posts.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from chalicelib.comments import nodes
from chalicelib.comments.importing import applying
from chalicelib.comments.importing.conversion import FileConversion
from chalicelib.comments.importing.identities import OWN_FORMAT, PageAddresses, Source
from chalicelib.comments.importing.lease import Lease
from chalicelib.comments.importing.ordering import ThreadOutcome
from chalicelib.comments.importing.rows import STAGED, THREADS, Import, StagedThread
from chalicelib.comments.importing.settling import settle
from chalicelib.comments.importing.shapes import Item
from chalicelib.comments.importing.staging import Staging
from chalicelib.comments.shapes import Node
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import promotion
from chalicelib.errors import Unavailable
from chalicelib.foreign import people
from chalicelib.runtime import Runtime

_ATTEMPTS = 3


class ImportOrder(NamedTuple):
    """An order for an import.

    digest: identifies the file, its format and the addresses; the same order continues an import.
    """

    site: str
    format: str
    digest: str
    addresses: PageAddresses = PageAddresses()
    is_dry_run: bool = False


class ImportProgress(NamedTuple):
    """The progress of a run.

    part: `reading` or `storing`. done: the number of parts of the file, or of comments.
    is_new: no former run came as far.
    """

    part: str
    done: int
    is_new: bool = True


Tell = Callable[[ImportProgress], None]
# The run calls it between two steps; False: the run ends there, and another continues.
GoesOn = Callable[[], bool]
# True: the run ends. The run calls it before it reads the file, and after each batch of parts.
Stops = Callable[[], bool]


def _tell_nobody(_progress: ImportProgress) -> None:
    pass


def _always() -> bool:
    return True


def _never() -> bool:
    return False


def run(  # noqa: PLR0913, PLR0917 - a run asks and tells between its steps
    runtime: Runtime,
    wanted: ImportOrder,
    read: Callable[[], Iterable[Item]],
    tell: Tell = _tell_nobody,
    goes_on: GoesOn = _always,
    stops: Stops = _never,
) -> Import:
    """Import a file into a site; return the import, with the report if its status is `done`.

    `read` begins to read the file. A run does at least one step, unless `stops` returns True.
    Raises ImportRunning, ImportTakenOver, Unavailable while another move holds a node, and the
    errors of reading. Another run with the same order then continues.
    """
    same = {"format": wanted.format, "digest": wanted.digest}
    dry, ends = wanted.is_dry_run, stops()
    lease = Lease.take(runtime, wanted.site, same, is_dry_run=dry, is_ending=ends)
    work = _Work(runtime, wanted, lease, tell, goes_on, stops)
    if lease.read["status"] == "staging" and (stops() or not work.stage(read())):
        return lease.give_up()
    if lease.read["status"] == "applying":
        if not work.apply():
            return lease.give_up()
        lease.report()
    return lease.end()


def stop(runtime: Runtime, wanted: ImportOrder) -> Import:
    """End an import early; return it with a report of the finished threads.

    Raises ImportRunning and ImportTakenOver.
    """
    same = {"format": wanted.format, "digest": wanted.digest}
    lease = Lease.take(runtime, wanted.site, same, is_dry_run=wanted.is_dry_run, is_ending=True)
    if lease.read["status"] == "applying":
        lease.report()
    return lease.end()


def conversion_of(runtime: Runtime, wanted: ImportOrder, run: str, at: datetime) -> FileConversion:
    """Return the conversion rules of an import; `at`: its beginning."""
    settings = runtime.settings
    source = Source(wanted.site, wanted.format, people.secret_of(settings))
    keys = tuple(settings.signing_keys)
    return FileConversion(source, run, wanted.addresses, settings.reserved_names, at, keys)


class _Work(NamedTuple):
    """The steps of a run, and their common arguments."""

    runtime: Runtime
    wanted: ImportOrder
    lease: Lease
    tell: Tell
    goes_on: GoesOn
    stops: Stops

    def stage(self, items: Iterable[Item]) -> bool:
        """Store rows of the parts of a file; return whether the whole file has its rows."""
        read = self.lease.read
        conversion = conversion_of(self.runtime, self.wanted, read["run"], read["at"])
        for position in Staging(self.runtime, self.lease, conversion).stage(items):
            # A batch that a former run has staged is no step.
            is_new = position > read["position"]
            self.tell(ImportProgress("reading", position, is_new))
            if self.stops() or (is_new and not self.goes_on()):
                return False
        self.lease.enter("applying")
        return True

    def apply(self) -> bool:
        """Apply and settle each thread; return False if `goes_on` ends the run."""
        done = 0
        for thread in self._threads():
            node = self._place(thread)
            for number, is_new in self._settle(node, thread) if node else ():
                done += number
                self.tell(ImportProgress("storing", done, is_new))
            self.lease.end_thread(thread)
            if node is not None:
                applying.end(self.runtime, node, thread)
                promotion.move_wanted(self.runtime, node["_id"])
            # Report progress for threads without comments to settle too, as in a dry run.
            self.tell(ImportProgress("storing", done))
            # A run ends only between threads: a thread's comments need their entries and marks.
            if not self.goes_on():
                return False
        return True

    def _threads(self) -> Iterator[StagedThread]:
        """Yield the threads that are not done, in the order of the file; the caller ends each."""
        rows = THREADS.of(self.runtime.database)
        waits = {"run": self.lease.read["run"], "is_done": False}
        while (thread := rows.find_one(waits, sort=[("number", 1)])) is not None:
            yield thread

    def _place(self, thread: StagedThread) -> Node | None:
        """Move a thread into its node; return the node to settle, or None if nothing is to settle.

        A dry run stores the outcome only.
        """
        node = applying.find_node(self.runtime, self.wanted.site, thread)
        if self.wanted.is_dry_run:
            self.lease.save(thread, applying.plan(self.runtime, node, thread))
            return None
        if node is None and self._makes_node(thread):
            node = applying.make_node(self.runtime, self.wanted.site, thread)
        if node is None:
            self.lease.save(thread, ThreadOutcome())
            return None
        if applying.has_thread(node, thread):
            return node
        if applying.has_new(self.runtime, node, thread):
            return applying.move(self.runtime, node["_id"], thread, self.lease)
        self.lease.save(thread, applying.plan(self.runtime, node, thread))
        return applying.take_over(self.runtime, node, thread)

    def _makes_node(self, thread: StagedThread) -> bool:
        """Return whether a thread has a comment, or comes from Plaza's own lines."""
        if self.wanted.format == OWN_FORMAT:
            return True
        of_thread = {"run": thread["run"], "thread": thread["thread"]}
        return STAGED.of(self.runtime.database).find_one(of_thread, {"_id": 1}) is not None

    def _settle(self, node: Node, thread: StagedThread) -> Iterator[tuple[int, bool]]:
        """Settle a node in batches; yield each batch's size, and whether no former run came as far.

        Raises Unavailable after three moves of the node.
        """
        for _ in range(_ATTEMPTS):
            settled = 0
            try:
                for number in settle(self.runtime, node, thread):
                    settled += number
                    is_new = settled > thread.get("settled", 0)
                    if is_new:
                        self.lease.note_progress(thread, settled)
                    self.lease.keep()
                    yield number, is_new
            except Moved:
                node = nodes.find_moved(self.runtime.database, node["_id"])
            else:
                return
        raise Unavailable("The discussion is being moved")

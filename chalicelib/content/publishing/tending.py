"""The schedule's upkeep of pages after an instant; readers see the effect from the instant on."""

from collections.abc import Callable
from datetime import datetime

from pymongo.client_session import ClientSession

from chalicelib.content.nodes import EVER, NODES
from chalicelib.content.publishing import publishing, states
from chalicelib.content.publishing.states import Publishing
from chalicelib.content.shapes import ContentNode
from chalicelib.database import in_transaction
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import Runtime

_Change = Callable[[ContentNode, datetime], Publishing]
_READ = {"site": 1, "edition": 1, "published": 1, "next.shown_from": 1, "until": 1}
# A query uses a partial index only with the index's condition.
_NEXT = Sweep(NODES, "next.shown_from", where={"next.shown_from": EVER}, fields=_READ)
_COMING = Sweep(NODES, "published", where={"dated": EVER, "published": EVER}, fields=_READ)
_ENDING = Sweep(NODES, "until", where={"published": EVER, "until": EVER}, fields=_READ)


def make_live(runtime: Runtime) -> int:
    """Make next editions live after their instant; return their number."""
    return _tidy(runtime, _NEXT, states.make_next_live)


def give_date(runtime: Runtime) -> int:
    """Move pages that have appeared to the place of their date in lists; return their number."""
    return _tidy(runtime, _COMING, states.give_date)


def end(runtime: Runtime) -> int:
    """Remove pages from the listings' indexes after their end; return their number."""
    return _tidy(runtime, _ENDING, states.hide)


def _tidy(runtime: Runtime, sweep: Sweep[ContentNode], change: _Change) -> int:
    found = sweep.find(runtime, runtime.bounds.content.tended_at_once)
    return sum(_tidy_one(runtime, row, change) for row in found)


def _tidy_one(runtime: Runtime, read: ContentNode, change: _Change) -> bool:
    """Change a due page; return False if another call has changed it since the read."""
    where = {"_id": read["_id"], "site": read["site"], "edition": read["edition"]}

    def work(session: ClientSession) -> bool:
        node = NODES.of(runtime.database).find_one(where, session=session)
        if node is None:
            return False
        now = runtime.now()
        changed = change(node, now)
        publishing.release(runtime.database, node, changed, now, session)
        publishing.store(runtime, node, changed, session)
        return True

    return in_transaction(runtime.database, work)

"""The schedule's tidying after an instant; readers see its effect already."""

from collections.abc import Callable
from datetime import datetime

from pymongo import ASCENDING
from pymongo.client_session import ClientSession

from chalicelib.content.nodes import EVER, NODES
from chalicelib.content.publishing import publishing, states
from chalicelib.content.publishing.states import Publishing
from chalicelib.content.shapes import ContentNode
from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime

_Change = Callable[[ContentNode, datetime], Publishing]


def make_live(runtime: Runtime) -> int:
    """Make next editions live after their instant; return their number."""
    due = {"next.shown_from": {**EVER, "$lte": runtime.now()}}
    return _tidy(runtime, due, "next.shown_from", states.make_next_live)


def give_date(runtime: Runtime) -> int:
    """Bring pages to their dates in lists after their instant; return their number."""
    due = {"dated": EVER, "published": {**EVER, "$lte": runtime.now()}}
    return _tidy(runtime, due, "published", states.give_date)


def end(runtime: Runtime) -> int:
    """Remove pages from the listings' indexes after their end; return their number."""
    due = {"until": {**EVER, "$lte": runtime.now()}, "published": EVER}
    return _tidy(runtime, due, "until", states.hide)


def _tidy(runtime: Runtime, due: Document, order: str, change: _Change) -> int:
    rows = NODES.of(runtime.database).find(due, {"_id": 1, "site": 1, "edition": 1})
    most = runtime.bounds.content.tended_at_once
    found = list(rows.sort(order, ASCENDING).limit(most))
    return sum(_tidy_one(runtime, row, change) for row in found)


def _tidy_one(runtime: Runtime, read: ContentNode, change: _Change) -> bool:
    """Change a due page, unless another call has changed it."""
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

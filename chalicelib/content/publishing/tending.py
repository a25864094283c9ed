"""What the schedule tidies up after the instants that readers have seen pass already."""

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
    """Make next editions live whose instant has passed; return how many."""
    due = {"next.shown_from": {**EVER, "$lte": runtime.now()}}
    return _tidy(runtime, due, "next.shown_from", states.tidied)


def end(runtime: Runtime) -> int:
    """Take pages out of the listings' indexes whose end has passed; return how many."""
    due = {"until": {**EVER, "$lte": runtime.now()}, "published": EVER}
    return _tidy(runtime, due, "until", states.unpublished)


def _tidy(runtime: Runtime, due: Document, order: str, change: _Change) -> int:
    rows = NODES.of(runtime.database).find(due, {"_id": 1, "site": 1, "edition": 1})
    most = runtime.bounds.content.tended_at_once
    found = list(rows.sort(order, ASCENDING).limit(most))
    return sum(_tidy_one(runtime, row, change) for row in found)


def _tidy_one(runtime: Runtime, read: ContentNode, change: _Change) -> bool:
    """Change a page, unless somebody else has since it was found to be due."""
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

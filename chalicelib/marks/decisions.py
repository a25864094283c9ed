"""Moderators' decisions that flags of a thing are right or wrong; decided flags do not count."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction
from chalicelib.marks import counters
from chalicelib.marks.shapes import BY_FLAG, FLAGGED, MARKS, Kind, Outcome, marks_on
from chalicelib.runtime import Runtime

# Called in a decision's transaction with the ids of the people who flagged; never with none.
Credit = Callable[[Sequence[str], ClientSession], None]


class FlagDecision(NamedTuple):
    """A moderators' decision: the outcome, the text's revision, and the counter's `update`."""

    outcome: Outcome
    revision: int
    update: Sequence[Document]
    credit: Credit


def decide(runtime: Runtime, kind: Kind, thing_id: str, decision: FlagDecision) -> list[str]:
    """Decide on the waiting flags of a thing; return the ids of the people who gave them.

    A concurrent flag belongs to the decision or counts after it, since both write the counter.
    """
    marks = MARKS.of(runtime.database)
    waiting = {**marks_on(kind, thing_id), **FLAGGED, "flag.outcome": {"$exists": False}}
    update = list(decision.update)

    def work(session: ClientSession) -> list[str]:
        rows = counters.of(kind, runtime.database)
        rows.update_one(counters.filter_of(kind, thing_id), update, session=session)
        found = marks.find(waiting, {"user_id": 1}, session=session).hint(BY_FLAG)
        people = {mark["_id"]: mark["user_id"] for mark in found}
        if people:
            decided = {"flag.outcome": decision.outcome, "flag.revision": decision.revision}
            marks.update_many({"_id": {"$in": list(people)}}, {"$set": decided}, session=session)
            decision.credit(list(people.values()), session)
        return list(people.values())

    return in_transaction(runtime.database, work)

"""The direct design: the mark and its counter change in one transaction."""

from typing import Any, NamedTuple

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction
from chalicelib.marks import counters
from chalicelib.marks.changes import Change, Delta, Flag, apply, delta, stage
from chalicelib.marks.design import Marked
from chalicelib.marks.shapes import MARKS, NOTHING, OWED, Mark, State, Thing, counted_of, wanted_of
from chalicelib.runtime import Runtime


def place(runtime: Runtime, thing: Thing, user_id: str, change: Change) -> Marked:
    """Store and count a change of a mark in one transaction; the counts are exact at once."""
    rows = MARKS.of(runtime.database)
    key = {"_id": thing.mark_of(user_id)}

    def work(session: ClientSession) -> Marked:
        made = _of_text(runtime, thing, change, session)
        update: list[Document] = [stage(made, user_id, runtime.now()), {"$unset": list(OWED)}]
        before: Mark | None = rows.find_one_and_update(
            key,
            update,
            upsert=change.adds,
            return_document=ReturnDocument.BEFORE,
            session=session,
        )
        mine = _after(before, made)
        if before and mine == NOTHING:
            rows.delete_one(key, session=session)
        by = delta([(counted_of(before), mine)])
        if by.is_nothing:
            if mine.is_shadowed:
                _check_takes(runtime, thing, user_id, session)
            return Marked(mine, thing.found)
        return Marked(mine, _count(runtime, thing, user_id, _Counted(change, by), session))

    return in_transaction(runtime.database, work)


def _check_takes(runtime: Runtime, thing: Thing, user_id: str, session: ClientSession) -> None:
    """Raise the kind's problem unless the thing takes marks of the person now."""
    where = {**counters.filter_of(thing.kind, thing.id), **thing.kind.takes(user_id)}
    if counters.of(thing.kind, runtime.database).find_one(where, {"_id": 1}, session=session):
        return
    raise thing.kind.missing


def _of_text(runtime: Runtime, thing: Thing, change: Change, session: ClientSession) -> Change:
    """Return a flag with the text's revision in this transaction; another change as it is."""
    if not isinstance(change, Flag):
        return change
    counter = counters.of(thing.kind, runtime.database).find_one(
        counters.filter_of(thing.kind, thing.id), {"revision": 1}, session=session
    )
    return change._replace(revision=counter.get("revision", 0) if counter else 0)


class _Counted(NamedTuple):
    """A change of a mark, and the change of its counter."""

    change: Change
    by: Delta


def _after(before: Mark | None, change: Change) -> State:
    if before is None and not change.adds:
        return NOTHING
    return apply(wanted_of(before) if before else NOTHING, change)


def _count(
    runtime: Runtime, thing: Thing, user_id: str, counted_as: _Counted, session: ClientSession
) -> Any:
    """Count a change, and return the counter; raise `kind.missing` if the thing takes no change.

    Call it last: all people's marks on a thing write the same counter.
    """
    kind, change, now = thing.kind, counted_as.change, runtime.now()
    stages = counters.stages(kind, counted_as.by, now, runtime.bounds.marks)
    if isinstance(change, Flag) and change.adds:
        stages.append(counters.owing(change.owes, now))
    counted = counters.of(kind, runtime.database).find_one_and_update(
        {**counters.filter_of(kind, thing.id), **kind.takes(user_id)},
        stages,
        dict.fromkeys(kind.shown, 1),
        return_document=ReturnDocument.AFTER,
        session=session,
    )
    if counted is None:
        raise kind.missing
    return counted

"""Giving a person's marks to another person, whose own mark on a thing goes before."""

from typing import cast

from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction
from chalicelib.marks import counters
from chalicelib.marks.changes import delta
from chalicelib.marks.shapes import (
    MARKS,
    MAX_REACTIONS,
    NOTHING,
    Kind,
    Mark,
    State,
    counted_of,
    mark_id,
    thing_of,
    wanted_of,
)
from chalicelib.runtime import Runtime

_OWED = ("counted", "due", "resends", "resent_by")


def give(runtime: Runtime, kind: Kind, prefix: str, giver: str, to: str) -> None:
    """Give a person's marks on things with a prefix, which ends with a slash, to another person.

    Opinions of the other person stay, and the given marks add to them. A step is one mark in one
    transaction, so that a repeat after a crash counts no mark twice.
    """
    for mark in MARKS.of(runtime.database).find(filter_of(kind, prefix, giver), {"_id": 1}):
        _give(runtime, kind, mark["_id"], to)


def filter_of(kind: Kind, prefix: str, user_id: str) -> Document:
    """Return the filter of a person's marks on things with a prefix, which ends with a slash."""
    # The successor of the slash ends the range.
    below = {"$gte": f"{kind.name}:{prefix}", "$lt": f"{kind.name}:{prefix[:-1]}0"}
    return {"user_id": user_id, "_id": below}


def withdraw(runtime: Runtime, kind: Kind, thing_id: str, user_id: str) -> None:
    """Withdraw a person's vote and waiting flag on a thing in any state; reactions stay."""
    key = mark_id(kind, thing_id, user_id)

    def work(session: ClientSession) -> None:
        before = MARKS.of(runtime.database).find_one({"_id": key}, session=session)
        if before is None:
            return
        after = _settle({**before, "vote": 0})
        if "outcome" not in after.get("flag", {"outcome": None}):
            del after["flag"]
        _store(runtime, after, session)
        _count(runtime, kind, thing_id, [(counted_of(before), wanted_of(after))], session)

    in_transaction(runtime.database, work)


def _give(runtime: Runtime, kind: Kind, given_id: str, to: str) -> None:
    thing_id = thing_of(given_id)[1]
    own_id = mark_id(kind, thing_id, to)

    def work(session: ClientSession) -> None:
        rows = MARKS.of(runtime.database)
        given = rows.find_one_and_delete({"_id": given_id}, session=session)
        if given is None:
            return
        own = rows.find_one({"_id": own_id}, session=session)
        after = _settle({**_join(given, own), "_id": own_id, "user_id": to})
        _store(runtime, after, session)
        changes = [(counted_of(given), NOTHING), (counted_of(own), wanted_of(after))]
        _count(runtime, kind, thing_id, changes, session)

    in_transaction(runtime.database, work)


def _join(given: Mark, own: Mark | None) -> Mark:
    """Return a person's mark with the missing opinions from a given mark."""
    if own is None:
        return given
    made: Mark = {**own}
    if "flag" in given and "flag" not in own:
        made["flag"] = given["flag"]
    is_silent = not (own["vote"] or own["reactions"])
    if is_silent and given.get("shadowed"):
        made["shadowed"] = True
    # A vote that counts for all and a vote that counts for its person alone do not mix.
    if is_silent or own.get("shadowed", False) == given.get("shadowed", False):
        made["vote"] = own["vote"] or given["vote"]
        both = dict.fromkeys([*own["reactions"], *given["reactions"]])
        made["reactions"] = list(both)[:MAX_REACTIONS]
    return made


def _settle(mark: Mark) -> Mark:
    """Return a mark of which the counter has all."""
    return cast("Mark", {name: value for name, value in mark.items() if name not in _OWED})


def _store(runtime: Runtime, mark: Mark, session: ClientSession) -> None:
    """Store a mark; an empty mark goes."""
    rows, key = MARKS.of(runtime.database), {"_id": mark["_id"]}
    if wanted_of(mark) == NOTHING:
        rows.delete_one(key, session=session)
    else:
        rows.replace_one(key, mark, upsert=True, session=session)


def _count(
    runtime: Runtime,
    kind: Kind,
    thing_id: str,
    changes: list[tuple[State, State]],
    session: ClientSession,
) -> None:
    """Count changes, which tell nothing of the pace of marks; a missing thing has no counts."""
    by = delta(changes)._replace(marks=0)
    if not by.is_nothing:
        stages = counters.stages(kind, by, runtime.now(), runtime.bounds.marks)
        counters.add(runtime.database, kind, [(thing_id, stages)], session)

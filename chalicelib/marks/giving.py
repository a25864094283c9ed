"""Transfer of a person's marks to another person, whose own mark on a thing has precedence."""

from typing import cast

from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction, prefix_range
from chalicelib.marks import counters
from chalicelib.marks.changes import delta
from chalicelib.marks.shapes import (
    MARKS,
    MAX_REACTIONS,
    NOTHING,
    OWED,
    Kind,
    Mark,
    State,
    counted_of,
    mark_id,
    thing_of,
    wanted_of,
)
from chalicelib.runtime import Runtime


def give(runtime: Runtime, kind: Kind, prefix: str, giver: str, to: str) -> None:
    """Transfer a person's marks to another person, on things whose ids begin with a prefix.

    The receiver's vote and flag stay; a missing vote or flag, and
    more reactions, come from the giver, with exceptions for shadowed marks (`_join`). Each mark is
    one transaction with its counts: a repeat after a crash counts no mark twice.
    """
    for mark in MARKS.of(runtime.database).find(filter_of(kind, prefix, giver), {"_id": 1}):
        _give(runtime, kind, mark["_id"], to)


def filter_of(kind: Kind, prefix: str, user_id: str) -> Document:
    """Return the filter of a person's marks on things whose ids begin with a prefix."""
    return {"user_id": user_id, "_id": prefix_range(f"{kind.name}:{prefix}")}


def withdraw(runtime: Runtime, kind: Kind, thing_id: str, user_id: str) -> None:
    """Withdraw a person's vote and waiting flag on a thing; reactions and a decided flag stay.

    It works in any state of the thing, and leaves the pace of marks.
    """
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
    """Return the receiver's mark; its missing parts come from the giver's mark.

    If only one of the two is shadowed, the giver's opinion comes only if the receiver has none.
    """
    if own is None:
        return given
    made: Mark = {**own}
    if "flag" in given and "flag" not in own:
        made["flag"] = given["flag"]
    is_silent = not (own["vote"] or own["reactions"])
    if is_silent and given.get("shadowed"):
        made["shadowed"] = True
    # A mark is shadowed as a whole: it cannot join a vote that counts with a shadowed vote.
    if is_silent or own.get("shadowed", False) == given.get("shadowed", False):
        made["vote"] = own["vote"] or given["vote"]
        both = dict.fromkeys([*own["reactions"], *given["reactions"]])
        made["reactions"] = list(both)[:MAX_REACTIONS]
    return made


def _settle(mark: Mark) -> Mark:
    """Return a mark without the fields of an uncounted change; the caller counts the change."""
    return cast("Mark", {name: value for name, value in mark.items() if name not in OWED})


def _store(runtime: Runtime, mark: Mark, session: ClientSession) -> None:
    """Store a mark, or delete an empty mark."""
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
    """Count changes, but not as marks of the pace; do nothing for a missing thing."""
    by = delta(changes)._replace(marks=0)
    if not by.is_nothing:
        stages = counters.stages(kind, by, runtime.now(), runtime.bounds.marks)
        counters.add(runtime.database, kind, [(thing_id, stages)], session)

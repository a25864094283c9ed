"""Counting a person's comments by their entries, soon after these change.

Each change counts all comments again instead of adding to the counts, so they cannot drift.
`recount` in the person's document is the time since which the counts may lag. A call sets it before
it writes a comment or changes a state; a post sets it in the write that admits the post. The
schedule removes it once no such write can be running.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from pymongo.database import Database

from chalicelib.comments.entries.rows import CONCEALED_PART, ENTRIES
from chalicelib.comments.people.rows import PEOPLE, Person, person_id
from chalicelib.comments.shapes import State
from chalicelib.comments.store import CONCEALED
from chalicelib.database import Document
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import LONGEST_RUN, Runtime

_AT_ONCE = 1_000
_ATTEMPTS = 3
_SWEEP = Sweep(PEOPLE, "recount", after=LONGEST_RUN)
_COUNTED: Mapping[str, tuple[State, ...]] = {
    "visible": ("visible",),
    "pending": ("pending",),
    "rejected": CONCEALED,
}


@contextlib.contextmanager
def recounting(runtime: Runtime, site: str, user_id: str | None) -> Iterator[None]:
    """Recount a person's comments after the block; if the block fails, the sweep recounts."""
    if user_id is None:
        yield
        return
    now, key = runtime.now(), {"_id": person_id(site, user_id)}
    noted = {"touched": now, "recount": {"$ifNull": ["$recount", now]}}
    PEOPLE.of(runtime.database).update_one(key, [{"$set": noted}])
    yield
    recount(runtime.database, site, user_id)


def recount(database: Database[Document], site: str, user_id: str) -> bool:
    """Count a person's comments and store the counts; return whether the old counts were wrong.

    Two recounts at once cannot leave the older counts: a recount is stored only if no other recount
    was stored since it began. If others overtake it at each attempt, the schedule will count.
    """
    people, key = PEOPLE.of(database), {"_id": person_id(site, user_id)}
    for _ in range(_ATTEMPTS):
        person = people.find_one(key)
        if person is None:
            return False
        right = count(database, person)
        as_read = {**key, "recounts": person.get("recounts")}
        update: Document = {"$set": _fields(right), "$inc": {"recounts": 1}}
        if right == person:
            return False
        if people.update_one(as_read, update).matched_count:
            return True
    return False


def sweep(runtime: Runtime) -> int:
    """Recount the comments of due people; return the number of people with wrong counts."""
    now, wrong = runtime.now(), 0
    for person in _SWEEP.find(runtime, _AT_ONCE):
        wrong += recount(runtime.database, person["site"], person["user_id"])
        as_read = {"_id": person["_id"], "recount": person["recount"]}
        # After a recent post or change, an entry may still be missing: then count again later.
        is_quiet: Document = {"$lte": ["$touched", now - LONGEST_RUN]}
        later = {"$cond": [is_quiet, "$$REMOVE", now]}
        PEOPLE.of(runtime.database).update_one(as_read, [{"$set": {"recount": later}}])
    return wrong


def count(database: Database[Document], person: Person) -> Person:
    """Return a person with their present counts, read from an index alone."""
    where = {"site": person["site"], "author_id": person["user_id"]}
    by_state = {"_id": "$state", "comments": {"$sum": 1}, "first_at": {"$min": "$posted"}}
    rows: Any = ENTRIES.of(database).aggregate([{"$match": where}, {"$group": by_state}])
    groups = {row["_id"]: row for row in rows}
    found = {state: row["comments"] for state, row in groups.items()}
    sums = {name: sum(found.get(each, 0) for each in of) for name, of in _COUNTED.items()}
    counts: Any = {**person["counts"], **sums}
    concealed = sums["rejected"] and _count_unseen_comments(database, where)
    if concealed or "concealed" in counts:
        counts["concealed"] = concealed
    began = [row["first_at"] for row in groups.values()]
    if person["first_at"] is not None:
        began.append(person["first_at"])
    return {**person, "counts": counts, "first_at": min(began, default=None)}


def _count_unseen_comments(database: Database[Document], where: Document) -> int:
    """Return how many of a person's comments only they see as visible."""
    return ENTRIES.of(database).count_documents({**where, **CONCEALED_PART})


def _fields(person: Person) -> dict[str, Any]:
    """Return the fields that entries decide; decisions on flags count the flags."""
    counts: Mapping[str, Any] = person["counts"]
    fields = {f"counts.{name}": counts[name] for name in (*_COUNTED, "concealed") if name in counts}
    return {**fields, "first_at": person["first_at"]}

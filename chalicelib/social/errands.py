"""The outbox of what is owed in the background: noted with its cause, forgotten when done."""

from collections.abc import Callable
from datetime import timedelta

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession

from chalicelib.database import Collection, Document
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social.messages import ERRAND, Errand

ERRANDS = Collection("social.errand", indexes=(IndexModel([("due", ASCENDING)]),))
_SWEPT_AT_ONCE = 1_000


def note(runtime: Runtime, errand: Errand, session: ClientSession | None = None) -> None:
    """Write an errand down, in the transaction of its cause; send its message afterwards.

    An errand that is noted again while it is run is run once more.
    """
    runtime.database[ERRANDS.name].update_one(
        {"_id": _key(errand)},
        {
            "$set": {
                "errand": errand.model_dump(),
                "version": new_id(runtime.now(), runtime.random),
                "due": runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms),
            }
        },
        upsert=True,
        session=session,
    )


def run(runtime: Runtime, errand: Errand, work: Callable[[Runtime, Errand], None]) -> None:
    """Do what was noted, if it still is, and forget it unless it was noted again meanwhile."""
    noted = runtime.database[ERRANDS.name].find_one({"_id": _key(errand)}, {"version": 1})
    if noted is None:
        return
    work(runtime, errand)
    runtime.database[ERRANDS.name].delete_one(noted)


def sweep(runtime: Runtime) -> None:
    """Send again what is overdue, and give it another lease."""
    rows = runtime.database[ERRANDS.name]
    where: Document = {"due": {"$lte": runtime.now()}}
    overdue = list(rows.find(where).sort("due", ASCENDING).limit(_SWEPT_AT_ONCE))
    due = runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
    rows.update_many({"_id": {"$in": [each["_id"] for each in overdue]}}, {"$set": {"due": due}})
    runtime.queues.send(*(ERRAND.validate_python(each["errand"]) for each in overdue))


def _key(errand: Errand) -> str:
    ids = errand.model_dump(exclude={"type", "version"})
    return ":".join((errand.type, *ids.values()))

"""Reading the log of moderation: its listing, and one act."""

from typing import Any

from bson.datetime_ms import DatetimeMS
from pymongo import DESCENDING

from chalicelib.comments.errors import UnknownAct
from chalicelib.comments.log.forms import LogAnswer, LogQuery, act_answer
from chalicelib.comments.log.rows import LOG, Act, key_of
from chalicelib.database import Document
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator

_ORDER = [("at", DESCENDING), ("_id", DESCENDING)]


def list_acts(runtime: Runtime, query: LogQuery, moderator: Principal) -> LogAnswer:
    """Return a page of a site's log, the latest act first; raises Forbidden and InvalidCursor."""
    check_moderator(moderator, query.site)
    where, scope = _filter_of(query)
    cursors = Cursors(scope, runtime.settings.signing_keys)
    after = cursors.position(query)
    # Omit running acts: they may still fail.
    wanted = {"site": query.site, **where, "open": None}
    ranges = [{**wanted, **part} for part in _ranges(after)]
    found = LOG.of(runtime.database).find({"$or": ranges}).sort(_ORDER).limit(query.limit + 1)
    shown, last = page_of(list(found), query.limit)
    position = [int(DatetimeMS(last["at"])), last["_id"]] if last else None
    return {"acts": [act_answer(act) for act in shown], "next": cursors.following(position)}


def find(runtime: Runtime, act_id: str, moderator: Principal) -> Act:
    """Return a finished act; raises Forbidden and UnknownAct."""
    key = key_of(act_id)
    check_moderator(moderator, key["site"])
    found = LOG.of(runtime.database).find_one({**key, "open": None})
    if found is None:
        raise UnknownAct
    return found


def _filter_of(query: LogQuery) -> tuple[Document, str]:
    """Return the filter of a query without its site, and the scope of its cursors."""
    scope = f"moderation:log:{query.site}"
    if query.node is not None:
        entry = f"{query.node}/{query.comment}"
        return {"entry": entry}, f"{scope}:entry:{entry}"
    if query.person is not None:
        return {"person": query.person}, f"{scope}:person:{query.person}"
    if query.batch is not None:
        return {"batch": query.batch}, f"{scope}:batch:{query.batch}"
    return {}, scope


def _ranges(after: tuple[Any, ...] | None) -> list[Document]:
    if after is None:
        return [{}]
    until, last_id = DatetimeMS(after[0]), after[1]
    return [{"at": {"$lt": until}}, {"at": until, "_id": {"$lt": last_id}}]

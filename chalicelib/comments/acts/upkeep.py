"""Closing log rows of acts that ended half way, and removing rows of acts that never happened."""

from datetime import timedelta

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.log.rows import LOG, OPEN, Act, key_of, thing_of
from chalicelib.comments.people import changing
from chalicelib.comments.stores import ask
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# A call that began this long ago is over: no function runs longer.
QUIET = timedelta(minutes=15)
_AT_ONCE = 100


def sweep(runtime: Runtime) -> int:
    """Close the rows of past acts that happened, and remove the rows of acts that did not.

    Returns their number. An act happened if its comment or person names it as the last act, or if
    a later act follows it.
    """
    rows = LOG.of(runtime.database)
    over = {"open": {**OPEN["open"], "$lte": runtime.now() - QUIET}}
    found = list(rows.find(over).sort("open", ASCENDING).limit(_AT_ONCE))
    removed = 0
    for act in found:
        if _has_happened(runtime, act):
            rows.update_one(key_of(act["_id"]), {"$unset": {"open": ""}})
        else:
            removed += rows.delete_one({**key_of(act["_id"]), **OPEN}).deleted_count
    if found:
        fields = {"acts": len(found), "removed": removed}
        log.info("acts of moderators made clear", extra={"fields": fields})
    return len(found)


def last_act(runtime: Runtime, act: Act) -> str | None:
    """Return the last act that a comment or a person names."""
    node_id, comment_id = act["node_id"], act["comment_id"]
    if node_id is None or comment_id is None:
        return changing.find(runtime.database, act["site"], act["person"] or "").get("act")
    try:
        node = nodes.find_moved(runtime.database, node_id)
    except UnknownNode:
        return None
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    return comment.get("act") if comment else None


def _has_happened(runtime: Runtime, act: Act) -> bool:
    follower = {**thing_of(act), "follows": act["_id"]}
    if LOG.of(runtime.database).find_one(follower, {"_id": 1}) is not None:
        return True
    return last_act(runtime, act) == act["_id"]

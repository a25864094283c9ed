"""Closing log rows of acts that ended half way, and removing rows of acts that never happened."""

import contextlib

from chalicelib.comments import nodes
from chalicelib.comments.acts.undoing import filter_at_present_node
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.log.rows import LOG, OPEN, Act, key_of, thing_of
from chalicelib.comments.people import changing
from chalicelib.comments.stores import ask
from chalicelib.errors import Unavailable
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime

_AT_ONCE = 100
_SWEEP = Sweep(LOG, "open", after=LONGEST_RUN)


def sweep(runtime: Runtime) -> int:
    """Close the rows of past acts that happened, and remove the rows of acts that did not.

    Returns their number. An act happened if its comment or person names it as the last act, or if
    a later act follows it.
    """
    rows = LOG.of(runtime.database)
    cleared = removed = 0
    for act in _SWEEP.find(runtime, _AT_ONCE):
        try:
            happened = _has_happened(runtime, act)
        except Unavailable:
            # A move holds its discussion: the act stays due.
            continue
        if happened:
            rows.update_one(key_of(act["_id"]), {"$unset": {"open": ""}})
        else:
            removed += rows.delete_one({**key_of(act["_id"]), **OPEN}).deleted_count
        cleared += 1
    if cleared:
        fields = {"acts": cleared, "removed": removed}
        log.info("acts of moderators made clear", extra={"fields": fields})
    return cleared


def last_act(runtime: Runtime, act: Act) -> str | None:
    """Return the id of the last act on the act's comment or person; None: no act or no comment."""
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
    # Read before the followers: an act has its row before its comment or person names it.
    if last_act(runtime, act) == act["_id"]:
        return True
    things = [thing_of(act)]
    with contextlib.suppress(UnknownNode):
        things.append(filter_at_present_node(runtime, act))
    for thing in things:
        follower = {**thing, "follows": act["_id"]}
        if LOG.of(runtime.database).find_one(follower, {"_id": 1}) is not None:
            return True
    return False

"""Undoing an act of a moderator: restores the fields it changed, unless they changed since."""

import contextlib
from collections.abc import Mapping
from typing import Any, cast

from chalicelib.comments import nodes
from chalicelib.comments.discussion.reading import find as find_comment
from chalicelib.comments.errors import ActNotUndoable, ChangedSince, CommentChanged, UnknownNode
from chalicelib.comments.log import reading
from chalicelib.comments.log.acts import ActChange, Actor, NotDone
from chalicelib.comments.log.forms import ActAnswer, act_answer, can_undo
from chalicelib.comments.log.rows import LOG, Act, key_of, thing_of
from chalicelib.comments.people import changing
from chalicelib.comments.shapes import CommentFields
from chalicelib.comments.store import matches
from chalicelib.comments.writing import conflicts, decisions, filing
from chalicelib.database import Document
from chalicelib.errors import UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# Later acts that a call reads: with more of them, an act counts as changed since.
_MOST_LATER = 200


def undo(runtime: Runtime, act_id: str, moderator: Principal) -> ActAnswer:
    """Undo an act as a moderator of its site, and return the undoing act.

    Raises Forbidden, UnknownAct, ActNotUndoable and ChangedSince.
    """
    act = reading.find(runtime, act_id, moderator)
    take_back(runtime, act, Actor(moderator, undoes=act["_id"]))
    # A second undoing raises ChangedSince, so the latest row is this one's.
    found = LOG.of(runtime.database).find(
        {**filter_at_present_node(runtime, act), "undoes": act["_id"], "open": None}
    )
    (made,) = found.sort("at", -1).limit(1)
    return act_answer(made)


def take_back(runtime: Runtime, act: Act, actor: Actor) -> None:
    """Restore the fields that an act changed; raises ActNotUndoable and ChangedSince."""
    if not can_undo(act):
        raise ActNotUndoable
    undo_kind = _undo_person if act["action"] == "person" else _undo_state
    undo_kind(runtime, act, actor)


def filter_at_present_node(runtime: Runtime, act: Act) -> Document:
    """Return the filter of acts on the act's comment or person, at the present id of the node.

    Raises UnknownNode.
    """
    if act["node_id"] is None:
        return thing_of(act)
    node = nodes.find_moved(runtime.database, act["node_id"])
    return {"site": act["site"], "entry": f"{node['_id']}/{act['comment_id']}"}


def _undo_state(runtime: Runtime, act: Act, actor: Actor) -> None:
    before, left = cast("CommentFields", act["before"]), cast("CommentFields", act["after"])
    # The decision emptied the reasons: restore them.
    reasons = filing.reasons_without_check(before.get("reasons", []))
    back: CommentFields = {"state": before["state"], "reasons": reasons}
    if "shadow" in before:
        back["shadow"] = before["shadow"]
    still: CommentFields = {"state": left["state"]}
    facts: Mapping[str, Any] | None = None
    with contextlib.suppress(UnknownNode, UnknownComment, CommentChanged):
        node = nodes.find_moved(runtime.database, act["node_id"] or "")
        # The node has moved to another site: moderators of its former site decide nothing there.
        if node["site"] != act["site"]:
            raise ChangedSince
        found = find_comment(runtime, node, act["comment_id"] or "", actor.who)
        facts = conflicts.facts_of(runtime, node, found, actor.who)
        if matches(found, still) and _is_last_change(runtime, act, found.get("act")):
            # The thirty days of spam begin anew.
            since = filing.spam_since(found, back, runtime.now())
            decisions.decide(runtime, node, found, {**back, **since}, actor)
            return
    raise ChangedSince(facts=facts)


def _is_last_change(runtime: Runtime, act: Act, last: str | None) -> bool:
    """Return whether no later act has set the same fields, even to the same values.

    `last`: the id of the last act on the comment or the person. False after _MOST_LATER acts.
    """
    for _ in range(_MOST_LATER):
        if last is None or last == act["_id"]:
            return True
        later = LOG.of(runtime.database).find_one(key_of(last))
        if later is None or later["after"].keys() & act["after"].keys():
            return False
        last = later["follows"]
    return False


def _undo_person(runtime: Runtime, act: Act, actor: Actor) -> None:
    last = changing.find(runtime.database, act["site"], act["person"] or "").get("act")
    if not _is_last_change(runtime, act, last):
        raise ChangedSince
    back = ActChange({**act["after"], "act": last}, act["before"])
    try:
        changing.change(runtime, act["site"], act["person"] or "", back, actor)
    except NotDone:
        raise ChangedSince from None

"""Conflicts of changes: the precondition of a change, and the error with the present comment."""

from collections.abc import Mapping
from typing import Any

from chalicelib.comments.errors import CommentChanged
from chalicelib.comments.forms import AsShown
from chalicelib.comments.log.forms import named_answer
from chalicelib.comments.log.rows import LOG, key_of
from chalicelib.comments.permissions import viewer
from chalicelib.comments.shapes import Comment, CommentFields, Node
from chalicelib.comments.stores import ask
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime


def as_shown(node: Node, found: Comment, shown: AsShown | None, caller: Principal) -> CommentFields:
    """Return the stored fields on which a change depends; raises CommentChanged.

    `shown`: the state and edit time that the caller saw; None: the last change wins. The author of
    a shadowed comment saw another state than the stored state.
    """
    if shown is None:
        return {}
    seen = viewer(caller, node["site"]).view(found)
    if (seen["state"], seen["edited"]) != (shown.state, shown.edited_at):
        raise CommentChanged
    return {"state": found["state"], "edited": found["edited"]}


def changed(runtime: Runtime, node: Node, comment_id: str, caller: Principal) -> CommentChanged:
    """Return the error with the present comment, as far as the caller sees it."""
    now = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    return CommentChanged(facts=facts_of(runtime, node, now, caller) if now else None)


def facts_of(
    runtime: Runtime, node: Node, now: Comment, caller: Principal
) -> Mapping[str, Any] | None:
    """Return the facts of a comment for an error; moderators also see the last act on it.

    None if it is deleted, or if the caller does not see it.
    """
    reader = viewer(caller, node["site"])
    if not reader.lists(now):
        return None
    seen = reader.view(now)
    facts = {"state": seen["state"], "edited_at": seen["edited"], "text": seen["text"]}
    return {**facts, "act": _last_act(runtime, now)} if reader.moderator else facts


def _last_act(runtime: Runtime, comment: Comment) -> dict[str, Any] | None:
    found = LOG.of(runtime.database).find_one(key_of(comment["act"])) if "act" in comment else None
    if found is None:
        return None
    by = named_answer(found["by"], found["by_name"])
    return {"action": found["action"], "at": found["at"], "by": by}

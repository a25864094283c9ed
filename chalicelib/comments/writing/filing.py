"""Changes of a comment's state by confirmations, checks and decisions."""

from datetime import datetime

from chalicelib.comments.shapes import Comment, CommentFields, GivenState, Reason
from chalicelib.comments.spam_check.services import Answer
from chalicelib.comments.store import WIPED, is_shadow


def fields_of_release(comment: Comment, *, is_shadowed: bool) -> CommentFields:
    """Return the fields that a guest's confirmation changes in a comment that waits for it.

    With other reasons, the comment still waits. A shadowed guest alone sees it after the release.
    """
    others: list[Reason] = [each for each in comment.get("reasons", []) if each != "unconfirmed"]
    if others:
        return {"reasons": others}
    if is_shadowed or is_shadow(comment):
        return {"reasons": others, "state": "hidden", "shadow": "visible"}
    return {"reasons": others, "state": "visible"}


def fields_of_check(comment: Comment, answer: Answer, now: datetime) -> CommentFields:
    """Return the fields that the spam service's answer changes in a comment that waits for it."""
    others: list[Reason] = [each for each in comment.get("reasons", []) if each != "checking"]
    if answer == "discard":
        return WIPED
    if answer == "spam":
        reasons: list[Reason] = [*others, "spam_check"]
        spam: CommentFields = {"state": "spam", "shadow": "pending", "spam_since": now}
        return {**spam, "reasons": reasons}
    if answer == "unknown":
        return {"reasons": [*others, "unchecked"]}
    if others:
        return {"reasons": others}
    # A shadowed author alone sees the comment then.
    if is_shadow(comment):
        return {"reasons": others, "shadow": "visible"}
    return {"reasons": others, "state": "visible"}


def reasons_without_check(reasons: list[Reason]) -> list[Reason]:
    """Return the reasons to restore when a decision is undone.

    `unchecked` replaces `checking`, since no check follows.
    """
    return ["unchecked" if each == "checking" else each for each in reasons]


def fields_of_decision(found: Comment, state: GivenState, now: datetime) -> CommentFields:
    """Return the fields that a moderator's decision changes in a comment."""
    fields: CommentFields = {"state": state}
    if found.get("reasons"):
        # The decision settles the old reasons, even if the comment waits again.
        fields["reasons"] = []
    if found.get("shadow"):
        # From now on its author sees the true state.
        fields["shadow"] = None
    return {**fields, **spam_since(found, fields, now)}


def spam_since(found: Comment, fields: CommentFields, now: datetime) -> CommentFields:
    """Return the change of `spam_since` that these fields of a comment cause."""
    if fields["state"] != "spam":
        return {"spam_since": None} if found.get("spam_since") else {}
    return {} if found["state"] == "spam" else {"spam_since": now}

"""The state that a comment gets by a verdict or a decision, and what its author is told of it."""

from datetime import datetime

from chalicelib.comments.judgement import Judgement
from chalicelib.comments.shapes import Comment, CommentFields, GivenState, Reason
from chalicelib.comments.spam_check.services import Answer
from chalicelib.comments.store import WIPED, is_shadow


def filed(verdict: Judgement, now: datetime, *, is_shadowed: bool) -> CommentFields:
    """Return the fields that a verdict gives a new comment.

    The author of spam is told what the author of any other is told whose comment waits.
    """
    fields: CommentFields = {"state": "hidden" if is_shadowed else verdict.state}
    if verdict.reasons:
        fields["reasons"] = verdict.reasons
    if verdict.state == "spam":
        return {**fields, "state": "spam", "shadow": "pending", "spam_since": now}
    if is_shadowed:
        fields["shadow"] = verdict.state
    return fields


def filed_again(
    comment: Comment, verdict: Judgement, now: datetime, *, is_shadowed: bool
) -> CommentFields:
    """Return the fields that the verdict on an author's edit changes."""
    # What people have flagged waits for them, whatever the new text is.
    held: list[Reason] = [each for each in comment.get("reasons", []) if each == "flagged"]
    fields: CommentFields = {"reasons": [*verdict.reasons, *held]} if verdict.reasons else {}
    if comment["state"] == "spam" or verdict.state == "spam":
        since = comment.get("spam_since") or now
        return {**fields, "state": "spam", "shadow": "pending", "spam_since": since}
    waits = verdict.state == "pending" or "pending" in {comment["state"], comment.get("shadow")}
    if is_shadowed or is_shadow(comment):
        return {**fields, "state": "hidden", "shadow": "pending" if waits else "visible"}
    return {**fields, "state": "pending"} if verdict.state == "pending" else fields


def checked(comment: Comment, answer: Answer, now: datetime) -> CommentFields:
    """Return the fields that a service's answer changes of a comment that waits for it."""
    others: list[Reason] = [each for each in comment.get("reasons", []) if each != "checking"]
    if answer == "discard":
        return WIPED
    if answer == "spam":
        reasons: list[Reason] = [*others, "spam_check"]
        spam: CommentFields = {"state": "spam", "shadow": "pending", "spam_since": now}
        return {**spam, "reasons": reasons}
    if answer == "unknown":
        return {"reasons": [*others, "unchecked"]}
    return {"reasons": others} if others else {"reasons": others, "state": "visible"}


def undecided(reasons: list[Reason]) -> list[Reason]:
    """Return why a comment waits whose decision is undone: a service is asked no more."""
    return ["unchecked" if each == "checking" else each for each in reasons]


def decided(found: Comment, state: GivenState, now: datetime) -> CommentFields:
    """Return the fields that a moderator's decision changes."""
    fields: CommentFields = {"state": state}
    if found.get("reasons"):
        # It has been decided; one that has to wait again does so for the moderator alone.
        fields["reasons"] = []
    if found.get("shadow"):
        # From now on its author is told as any other.
        fields["shadow"] = None
    return {**fields, **spam_since(found, fields, now)}


def spam_since(found: Comment, fields: CommentFields, now: datetime) -> CommentFields:
    """Return since when a comment is spam once it has these fields, if that changes."""
    if fields["state"] != "spam":
        return {"spam_since": None} if found.get("spam_since") else {}
    return {} if found["state"] == "spam" else {"spam_since": now}

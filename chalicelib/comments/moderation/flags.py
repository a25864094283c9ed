"""A moderator's decision, applied to the flags of a comment and to the people who flagged it."""

from collections.abc import Sequence
from datetime import datetime

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.comments.entries import reported
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, key_of, revision_of
from chalicelib.comments.people.rows import PEOPLE, defaults, person_id
from chalicelib.comments.shapes import Comment, Node
from chalicelib.database import Document
from chalicelib.marks import decisions
from chalicelib.marks.decisions import FlagDecision
from chalicelib.marks.shapes import Outcome
from chalicelib.runtime import Runtime


def decide(runtime: Runtime, node: Node, comment: Comment, outcome: Outcome) -> bool:
    """Decide the waiting flags of a comment as right or wrong; idempotent.

    The people who placed the flags gain or lose trust. If the flags were wrong, the text that the
    moderator saw counts as cleared: later flags need more weight. Returns whether any flag waited.
    """
    key, revision = key_of(node, comment["id"]), revision_of(comment)
    fields = {"site": 1, "flags": 1, "reports": 1, "cleared.revision": 1}
    entry = ENTRIES.of(runtime.database).find_one(key, fields)
    if entry is None:
        return False
    update = reported.decision_update(comment, is_cleared=outcome == "wrong")
    if not entry.get("flags") and not entry.get("reports"):
        if outcome == "right" or entry.get("cleared", {}).get("revision") == revision:
            return False
        none = {"$in": [None, 0]}
        unflagged = {**key, "flags": none, "reports": none}
        if ENTRIES.of(runtime.database).update_one(unflagged, update).matched_count:
            return False

    def credit(people: Sequence[str], session: ClientSession) -> None:
        writes = [_credit(node["site"], each, outcome, runtime.now()) for each in sorted(people)]
        PEOPLE.of(runtime.database).bulk_write(writes, session=session)

    decision = FlagDecision(outcome, revision, update, credit)
    decisions.decide(runtime, KIND, thing_id(entry), decision)
    return True


def wait(runtime: Runtime, node: Node, comment_id: str) -> bool:
    """Return whether flags of a comment wait for a decision."""
    is_flagged = {"$or": [{"flags": {"$gt": 0}}, {"reports": {"$gt": 0}}]}
    entry = {**key_of(node, comment_id), **is_flagged}
    return ENTRIES.of(runtime.database).find_one(entry, {"_id": 1}) is not None


def _credit(site: str, user_id: str, outcome: Outcome, now: datetime) -> UpdateOne:
    field = f"counts.flags_{outcome}"
    stages: list[Document] = [
        {"$set": defaults(site, user_id, user_id, now)},
        {"$set": {field: {"$add": [f"${field}", 1]}}},
    ]
    return UpdateOne({"_id": person_id(site, user_id)}, stages, upsert=True)

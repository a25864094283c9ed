"""What a moderator's decision makes of the flags of a comment, and of those who flagged it."""

from collections.abc import Sequence

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.people.rows import PEOPLE, defaults, person_id
from chalicelib.comments.shapes import Node
from chalicelib.database import Document
from chalicelib.marks import decisions
from chalicelib.marks.shapes import Outcome
from chalicelib.runtime import Runtime


def decide(runtime: Runtime, node: Node, comment_id: str, outcome: Outcome) -> None:
    """Say of the flags that wait on a comment that they were right or wrong; twice is once.

    Those who placed them are trusted more, or less.
    """
    key = key_of(node, comment_id)
    entry = ENTRIES.of(runtime.database).find_one(key, {"site": 1, "flags": 1})
    if entry is None or "flags" not in entry:
        return

    def credit(people: Sequence[str], session: ClientSession) -> None:
        writes = [_credit(node["site"], each, outcome) for each in sorted(people)]
        PEOPLE.of(runtime.database).bulk_write(writes, session=session)

    decisions.decide(runtime, KIND, thing_id(entry), outcome, credit)


def _credit(site: str, user_id: str, outcome: Outcome) -> UpdateOne:
    field = f"counts.flags_{outcome}"
    stages: list[Document] = [
        {"$set": defaults(site, user_id, user_id)},
        {"$set": {field: {"$add": [f"${field}", 1]}}},
    ]
    return UpdateOne({"_id": person_id(site, user_id)}, stages, upsert=True)

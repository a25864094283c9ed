"""Entries as tests look at them."""

from typing import Any

from chalicelib.comments.entries.comparing import Difference, verify
from chalicelib.comments.entries.ranking import rank_stages
from chalicelib.comments.entries.rows import ENTRIES
from tests.comments.support.discussion import Discussion

NONE = Difference()


def entry(discussion: Discussion, comment_id: str) -> dict[str, Any]:
    """Return the entry of a comment."""
    key = {"_id": f"{discussion.node_id}/{comment_id}", "site": discussion.node["site"]}
    found = ENTRIES.of(discussion.runtime.database).find_one(key)
    assert found is not None
    return dict(found)


def entries(discussion: Discussion) -> dict[str, dict[str, Any]]:
    """Return every entry of the discussion's site, by the id of its comment."""
    where = {"site": discussion.node["site"], "node_id": discussion.node_id}
    found = ENTRIES.of(discussion.runtime.database).find(where)
    return {row["id"]: dict(row) for row in found}


def vote(discussion: Discussion, comment_id: str, up: int, down: int = 0) -> None:
    """Give a comment these votes, as a room of votes does."""
    key = {"_id": f"{discussion.node_id}/{comment_id}", "site": discussion.node["site"]}
    votes = [{"$set": {"up": up, "down": down}}, *rank_stages()]
    assert ENTRIES.of(discussion.runtime.database).update_one(key, votes).matched_count == 1


def difference(discussion: Discussion) -> Difference:
    """Return how the entries differ from the comments."""
    return verify(discussion.runtime, discussion.node)

"""What a discussion's readers say to the page and to comments: counts, one's own, and who."""

from collections.abc import Sequence
from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.discussion.reading import rights_in
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.voting import placing
from chalicelib.comments.voting.answers import NodeMarksAnswer, ReactedAnswer, marks_answer
from chalicelib.comments.voting.models import ReactedQuery
from chalicelib.http.pages import Cursors, paged
from chalicelib.identity import Principal
from chalicelib.marks import reading
from chalicelib.marks.shapes import NOTHING
from chalicelib.runtime import Runtime


def of_node(
    runtime: Runtime, node_id: str, comment_ids: Sequence[str], caller: Principal | None
) -> NodeMarksAnswer:
    """Return the marks of a page and of those of the comments that are visible.

    Costs one query for the counts and one for the caller's own. Raises UnknownNode.
    """
    node = nodes.find(runtime.database, node_id)
    rights = rights_in(runtime, node, caller)
    ids = [key_of(node, each)["_id"] for each in dict.fromkeys((*comment_ids, placing.PAGE))]
    where = {"site": node["site"], "_id": {"$in": ids}, "state": "visible"}
    fields = dict.fromkeys(KIND.shown, 1)
    found: Any = ENTRIES.of(runtime.database).find(where, fields)
    entries: dict[str, Any] = {thing_id(entry): entry for entry in found}
    mine = reading.mine(runtime.database, caller.id if caller else None, KIND, entries)
    answers = {
        id_.rpartition("/")[2]: marks_answer(entry, mine.get(id_, NOTHING), rights)
        for id_, entry in entries.items()
    }
    page = answers.pop(placing.PAGE, None)
    nothing: dict[str, Any] = {"posted": runtime.now()}
    told = {**(page or marks_answer(nothing, NOTHING, rights)), "votes": None}
    return {"page": told, "comments": answers}  # type: ignore[typeddict-item]


def reacted(
    runtime: Runtime,
    place: tuple[str, str, str],
    caller: Principal,
    query: ReactedQuery,
) -> ReactedAnswer:
    """Return a page of the people who reacted to a comment in one way.

    `place` is the ids of the node and of the comment, and the key. Raises UnknownNode,
    UnknownComment and InvalidCursor.
    """
    node_id, comment_id, key = place
    target = placing.find(runtime, node_id, comment_id, caller)
    marked = thing_id(target.entry)
    cursors = Cursors(f"reacted:{marked}:{key}", runtime.settings.signing_keys)
    position = cursors.position(query)
    after = str(position[0]) if position else ""
    rows = reading.reacted(runtime.database, (KIND, marked), key, after, query.limit + 1)
    shown, last = paged(rows, query.limit)
    return {
        "people": [{"id": user_id} for user_id in shown],
        "next": cursors.following([last] if last else None),
    }

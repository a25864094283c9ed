"""What a discussion's readers say to the page and to comments: counts, one's own, and who."""

from collections.abc import Sequence

from chalicelib.comments import nodes
from chalicelib.comments.discussion.reading import rights_in
from chalicelib.comments.entries import marked
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import is_shown_to
from chalicelib.comments.mark_answers import marks_answer, page_marks
from chalicelib.comments.voting import placing
from chalicelib.comments.voting.answers import NodeMarksAnswer, ReactedAnswer
from chalicelib.comments.voting.models import ReactedQuery
from chalicelib.http.paging import Cursors, paged
from chalicelib.identity import Principal
from chalicelib.marks import reading
from chalicelib.marks.shapes import NOTHING
from chalicelib.runtime import Runtime


def of_node(
    runtime: Runtime, node_id: str, comment_ids: Sequence[str], caller: Principal | None
) -> NodeMarksAnswer:
    """Return the marks of a page and of those of the comments that are visible.

    They are read in one round trip. Raises UnknownNode.
    """
    node = nodes.find(runtime.database, node_id)
    rights = rights_in(runtime, node, caller)
    ids = (*comment_ids, marked.PAGE)
    user_id = caller.id if caller else None
    found = marked.read(runtime.database, node, ids, user_id, marked.TOLD)
    comments = {
        id_: marks_answer(entry, found.mine.get(id_, NOTHING), rights)
        for id_, entry in found.counts.items()
        if id_ != marked.PAGE and is_shown_to(entry, user_id)
    }
    return {"page": page_marks(marked.PAGE, found, rights), "comments": comments}


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
    reacted_to = thing_id(target.entry)
    cursors = Cursors(f"reacted:{reacted_to}:{key}", runtime.settings.signing_keys)
    position = cursors.position(query)
    after = str(position[0]) if position else ""
    rows = reading.reacted(runtime.database, (KIND, reacted_to), key, after, query.limit + 1)
    shown, last = paged(rows, query.limit)
    return {
        "people": [{"id": user_id} for user_id in shown],
        "next": cursors.following([last] if last else None),
    }

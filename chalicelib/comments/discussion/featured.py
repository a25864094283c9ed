"""Pages of the comments that moderators feature, at whatever depth, each once and without replies.

The cursor holds the time and the number by value: one that is featured while somebody reads on is
missed until the list is opened anew, and all others come once.
"""

from chalicelib.comments.discussion.paging import Shown, fitting
from chalicelib.comments.entries import ranking
from chalicelib.comments.models import CommentsQuery
from chalicelib.comments.shapes import Node
from chalicelib.comments.stores import ask
from chalicelib.http.paging import Cursors
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime


def page(runtime: Runtime, node: Node, query: CommentsQuery) -> Shown:
    """Return a page of the featured comments that are visible; raises InvalidCursor."""
    cursors = Cursors(f"featured comments:{node['_id']}", runtime.settings.signing_keys)
    position = cursors.position(query)
    after = (moment(position[0]), position[1]) if position else None
    rows = ranking.featured(runtime.database, node, after, query.limit + 1)
    listed = rows[: query.limit]
    if not listed:
        return Shown([], None, None)
    ids = [row.id for row in listed]
    read = ask(runtime, node, lambda store, now: store.get_many(now, ids))
    found = {each["id"]: each for each in read if each["state"] == "visible"}
    comments = [found[id_] for id_ in ids if id_ in found]
    shown = comments[: fitting(comments)]
    if len(shown) < len(comments):
        listed = listed[: ids.index(shown[-1]["id"]) + 1]
    last = listed[-1] if len(listed) < len(rows) else None
    place = [milliseconds(last.since), last.seq] if last else None
    return Shown(shown, None, cursors.following(place))

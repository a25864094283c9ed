"""A person's comments at a site, over all its discussions, newest first."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments import nodes
from chalicelib.comments.answers import CommentAnswer, comment_answer
from chalicelib.comments.discussion import reading
from chalicelib.comments.discussion.places import as_seen
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.stores.collected import Place, collect
from chalicelib.database import Document
from chalicelib.http import Ok, PageQuery, Request, Route
from chalicelib.http.paging import Cursors, Next, page_of
from chalicelib.identity import Principal
from chalicelib.instants import milliseconds, moment
from chalicelib.people.ids import UserId
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, ShownUrl

# Each comment may need the document of another discussion.
MOST = 50
_ORDER = [("posted", -1), ("_id", 1)]


class PersonsCommentsQuery(PageQuery):
    """The query of a person's comments."""

    limit: int = Field(20, ge=1, le=MOST, description="How many entries a page has at most.")


class CommentedAnswer(TypedDict):
    """The discussion of a comment."""

    id: NodeId
    title: ShownLine
    url: ShownUrl


class PersonsCommentAnswer(TypedDict):
    """A comment and its discussion."""

    node: CommentedAnswer
    comment: CommentAnswer


class PersonsCommentsAnswer(TypedDict):
    """A page of a person's visible comments at a site, newest first."""

    comments: Annotated[list[PersonsCommentAnswer], Field(max_length=MOST)]
    next: Next


def declare(route: Route) -> None:
    """Declare the route."""

    @route("GET", "/sites/{site}/people/{user}/comments")
    def list_comments_of_person(
        request: Request,
        site: SiteId,
        user: UserId,
        caller: Principal | None,
        query: PersonsCommentsQuery,
    ) -> Ok[PersonsCommentsAnswer]:
        """Read a person's visible comments at a site, newest first; their votes are not told."""
        return Ok(list_comments(request.runtime, site, user, query, caller))


def list_comments(
    runtime: Runtime,
    site: str,
    user_id: str,
    query: PersonsCommentsQuery,
    caller: Principal | None,
) -> PersonsCommentsAnswer:
    """Return a page of a person's comments at a site; raises InvalidCursor.

    Queries: one for the entries, one for the nodes, and one for each store.
    """
    cursors = Cursors(f"comments of:{site}:{user_id}", runtime.settings.signing_keys)
    after = cursors.position(query)
    is_own = caller is not None and caller.id == user_id
    branches = [
        {"site": site, "author_id": user_id, **state, **part}
        for state in _states(is_own=is_own)
        for part in _ranges(after)
    ]
    rows: Any = ENTRIES.of(runtime.database).find({"$or": branches}, _ENTRY).sort(_ORDER)
    shown, last = page_of(list(rows.limit(query.limit + 1)), query.limit)
    found = _answers(runtime, shown, user_id, caller)
    position = [milliseconds(last["posted"]), last["_id"]] if last else None
    return {"comments": found, "next": cursors.following(position)}


_ENTRY = {"node_id": 1, "id": 1, "posted": 1}


def _states(*, is_own: bool) -> list[Document]:
    """Return the filters of listed states; the person also sees their concealed comments."""
    visible: Document = {"state": "visible"}
    return [visible, {"state": "hidden", "shadow": "visible"}] if is_own else [visible]


def _ranges(after: tuple[Any, ...] | None) -> list[Document]:
    """Return the ranges after a position, as parts of a filter."""
    if after is None:
        return [{}]
    posted, last_id = moment(after[0]), after[1]
    return [{"posted": {"$lt": posted}}, {"posted": posted, "_id": {"$gt": last_id}}]


def _answers(
    runtime: Runtime,
    entries: Sequence[Mapping[str, Any]],
    user_id: str,
    caller: Principal | None,
) -> list[PersonsCommentAnswer]:
    """Return the answers of those entries' comments that the caller may see."""
    wanted: dict[str, list[str]] = {}
    for entry in entries:
        wanted.setdefault(entry["node_id"], []).append(entry["id"])
    where = {"_id": {"$in": list(wanted)}, **nodes.OCCUPIED}
    rows = nodes.NODES.of(runtime.database).find(where, nodes.WITHOUT_COMMENTS)
    now = runtime.now()
    found = [node for node in rows if nodes.is_visible(node, caller, now)]
    by_id = {node["_id"]: node for node in found}
    comments = collect(runtime.database, found, wanted)
    answered = _read_answered(runtime, found, comments)
    shown = []
    for entry in (each for each in entries if each["node_id"] in by_id):
        comment = comments.get((entry["node_id"], entry["id"]))
        if comment is not None and _is_by(comment, user_id):
            answer = _answer(runtime, by_id[entry["node_id"]], comment, caller, answered)
            # The entry may lag behind its comment.
            if answer["comment"]["state"] == "visible":
                shown.append(answer)
    return shown


def _read_answered(
    runtime: Runtime, found: Sequence[Node], comments: Mapping[Place, Comment]
) -> Mapping[Place, Comment]:
    """Return the comments that these `reply_to`, by their places."""
    wanted: dict[str, list[str]] = {}
    for (node_id, _), comment in comments.items():
        if "reply_to" in comment:
            wanted.setdefault(node_id, []).append(comment["reply_to"])
    of_these = [node for node in found if node["_id"] in wanted]
    return collect(runtime.database, of_these, wanted) if wanted else {}


def _is_by(comment: Comment, user_id: str) -> bool:
    return comment["author"] is not None and comment["author"]["id"] == user_id


def _answer(
    runtime: Runtime,
    node: Node,
    comment: Comment,
    caller: Principal | None,
    read: Mapping[Place, Comment],
) -> PersonsCommentAnswer:
    rights = reading.rights_in(runtime, node, caller)
    target = read.get((node["_id"], comment.get("reply_to", "")))
    answered = {target["id"]: as_seen(target, rights)} if target else {}
    return {
        "node": {"id": node["_id"], "title": node["title"], "url": node["url"]},
        "comment": comment_answer(node["_id"], comment, rights, None, answered),
    }

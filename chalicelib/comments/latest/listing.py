"""The latest comments of a site, or of a person there, over all discussions, newest first."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.answers import CommentAnswer, comment_answer
from chalicelib.comments.discussion.places import as_seen
from chalicelib.comments.entries import shadows
from chalicelib.comments.latest import rows
from chalicelib.comments.latest.permalinks import permalink
from chalicelib.comments.latest.rows import LatestReader, LatestRow, Selection
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.people.blocking import blocked_by
from chalicelib.comments.permissions import NOTHING_OWN, Own, Rights
from chalicelib.comments.shapes import Comment
from chalicelib.comments.sites import settings
from chalicelib.comments.stores.collected import Place
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors, Next, place_of, position_of
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates
from chalicelib.texts import ShownLine, ShownUrl

# A low bound, since each comment may need the document of another discussion.
MOST = 50


class LatestQuery(PageQuery):
    """The query of a list of the latest comments."""

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


class SiteCommentAnswer(PersonsCommentAnswer):
    """A comment, its discussion, and the comment's address."""

    permalink: Annotated[
        str,
        Field(max_length=2_100, description="Its place on the page that the discussion is about."),
    ]


class SiteCommentsAnswer(TypedDict):
    """A page of a site's visible comments, newest first."""

    comments: Annotated[list[SiteCommentAnswer], Field(max_length=MOST)]
    next: Next


def list_of_site(
    runtime: Runtime, site: str, query: LatestQuery, caller: Principal | None
) -> SiteCommentsAnswer:
    """Return a page of a site's latest comments, without people whom the caller blocks.

    Raises InvalidCursor. A page with `next` may have fewer comments than its limit.
    """
    reader = LatestReader(caller, _blocked_by(runtime, site, caller))
    cursors = Cursors(f"comments at:{site}", runtime.settings.signing_keys)
    after = position_of(cursors.position(query))
    found = rows.find(runtime, Selection({"site": site}), reader, query.limit, after)
    shown: list[SiteCommentAnswer] = [
        {**answer, "permalink": permalink(answer["node"]["url"], answer["comment"]["id"])}
        for answer in _answers(runtime, found.rows, reader)
    ]
    return {"comments": shown, "next": cursors.following(place_of(found.following))}


def list_of_person(
    runtime: Runtime, site: str, user_id: str, query: LatestQuery, caller: Principal | None
) -> PersonsCommentsAnswer:
    """Return a page of a person's comments at a site, even if the caller blocks the person.

    Raises InvalidCursor. A page with `next` may have fewer comments than its limit.
    """
    cursors = Cursors(f"comments of:{site}:{user_id}", runtime.settings.signing_keys)
    after = position_of(cursors.position(query))
    selection = Selection({"site": site, "author_id": user_id})
    # A caller may list a blocked person's comments; other blocks hold, as for `reply_to` targets.
    found = rows.find(runtime, selection, LatestReader(caller), query.limit, after)
    blocked = _blocked_by(runtime, site, caller) - {user_id}
    shown = [
        answer
        for answer in _answers(runtime, found.rows, LatestReader(caller, blocked))
        if _is_by(answer["comment"], user_id)
    ]
    return {"comments": shown, "next": cursors.following(place_of(found.following))}


def _blocked_by(runtime: Runtime, site: str, caller: Principal | None) -> frozenset[str]:
    """Return the ids that the caller has blocked; none for a moderator, who sees all comments."""
    if caller is None or moderates(caller, site):
        return frozenset()
    return blocked_by(runtime, site, caller.id)


def _is_by(comment: CommentAnswer, user_id: str) -> bool:
    return comment["author"] is not None and comment["author"]["id"] == user_id


def _answers(
    runtime: Runtime, found: Sequence[LatestRow], reader: LatestReader
) -> list[PersonsCommentAnswer]:
    """Return the answers of the rows whose comments the reader sees as visible."""
    rights = _rights(runtime, found, reader)
    comments = rows.comments_of(runtime, found)
    answered = _read_answered(runtime, found, comments)
    shown: list[PersonsCommentAnswer] = []
    for row in found:
        comment = comments.get(row.place)
        if comment is not None:
            answer = _answer(row, comment, rights[row.node["_id"]], answered)
            # The entry may lag behind its comment.
            if answer["comment"]["state"] == "visible":
                shown.append(answer)
    return shown


def _rights(
    runtime: Runtime, found: Sequence[LatestRow], reader: LatestReader
) -> dict[str, Rights]:
    """Return the reader's rights in the rows' nodes, by the nodes' ids."""
    caller, now = reader.caller, runtime.now()
    seen = {row.node["_id"]: row.node for row in found}
    own: dict[str, Own] = {}
    if caller is not None:
        unmoderated = [node for node in seen.values() if not moderates(caller, node["site"])]
        own = shadows.read_own(runtime, unmoderated, caller.id)
    blocked = frozenset(reader.blocked)
    return {
        node_id: Rights(
            caller,
            node,
            settings.in_force(runtime, node),
            now,
            own.get(node_id, NOTHING_OWN)._replace(blocked=blocked),
        )
        for node_id, node in seen.items()
    }


def _read_answered(
    runtime: Runtime, found: Sequence[LatestRow], comments: Mapping[Place, Comment]
) -> Mapping[Place, Comment]:
    """Return the `reply_to` targets of the rows' comments, by their places."""
    wanted = [
        (row.node, comments[row.place]["reply_to"])
        for row in found
        if row.place in comments and "reply_to" in comments[row.place]
    ]
    return rows.read(runtime, wanted)


def _answer(
    row: LatestRow, comment: Comment, rights: Rights, read: Mapping[Place, Comment]
) -> PersonsCommentAnswer:
    node = row.node
    target = read.get((node["_id"], comment.get("reply_to", "")))
    answered = {target["id"]: as_seen(target, rights)} if target else {}
    return {
        "node": {"id": node["_id"], "title": node["title"], "url": node["url"]},
        "comment": comment_answer(node["_id"], comment, rights, None, answered),
    }

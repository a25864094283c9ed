"""Search for a site's comments that have all words of a query, newest first."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.answers import AuthorAnswer
from chalicelib.comments.entries.rows import revision_of
from chalicelib.comments.errors import NotEnabled
from chalicelib.comments.forms import CommentId
from chalicelib.comments.latest.listing import CommentedAnswer
from chalicelib.comments.latest.permalinks import permalink
from chalicelib.comments.latest.rows import read, visible_nodes
from chalicelib.comments.people.blocking import blocked_by
from chalicelib.comments.permissions import viewer
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.stores.collected import Place
from chalicelib.comments.terms import rows as term_rows
from chalicelib.comments.terms.writing import is_searched
from chalicelib.http import Ok, Request, Route
from chalicelib.http.paging import Cursors, Next, place_of, position_of
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.terms.finding import TermsQuery, find
from chalicelib.terms.plain import EXCERPT_CHARACTERS, excerpt, plain_text
from chalicelib.terms.queries import MOST, WordsQuery, words_of


class FoundComment(TypedDict):
    """A visible comment with the words of a search."""

    id: CommentId
    node: CommentedAnswer
    permalink: Annotated[
        str,
        Field(max_length=2_100, description="Its place on the page that the discussion is about."),
    ]
    posted_at: datetime
    edited_at: datetime | None
    author: AuthorAnswer
    excerpt: Annotated[
        str,
        Field(
            max_length=EXCERPT_CHARACTERS,
            description="The part around the first word, as plain text: escape it in HTML.",
        ),
    ]


class CommentSearchAnswer(TypedDict):
    """A page of the comments with the words of a search, newest first."""

    comments: Annotated[
        list[FoundComment],
        Field(
            max_length=MOST,
            description="They may be few, or none, while there is a `next`: of frequent words, a "
            "page looks at the next 1,000 comments.",
        ),
    ]
    next: Next


def declare(route: Route) -> None:
    """Declare the route."""

    @route("GET", "/sites/{site}/search", raises=(NotEnabled,))
    def search_comments(
        request: Request, site: SiteId, caller: Principal | None, query: WordsQuery
    ) -> Ok[CommentSearchAnswer]:
        """Search a site's visible comments, newest first, where its publisher allows it.

        The comment setting `search` switches this on; older comments follow in minutes or hours.
        """
        return Ok(search(request.runtime, site, query, caller))


def search(
    runtime: Runtime, site: str, query: WordsQuery, caller: Principal | None
) -> CommentSearchAnswer:
    """Return a page of comments; raises NotEnabled, InvalidRequest and InvalidCursor.

    Queries: one for the rows of a single word, two for several words; one for the nodes; one for
    each store.
    """
    if not is_searched(runtime, site):
        raise NotEnabled
    words = words_of(query.q)
    cursors = Cursors(f"search:{site}:{' '.join(words)}", runtime.settings.signing_keys)
    after = position_of(cursors.position(query))
    own = term_rows.own_form(caller.id) if caller else ""
    asked = TermsQuery(term_rows.TERMS, site, words, after, query.limit, own)
    found = find(runtime.database, asked)
    shown = _read(runtime, site, found.rows, words, caller)
    return {"comments": shown, "next": cursors.following(place_of(found.last))}


def _read(
    runtime: Runtime,
    site: str,
    rows: Sequence[Mapping[str, Any]],
    words: Sequence[str],
    caller: Principal | None,
) -> list[FoundComment]:
    """Return the rows' comments that still have the words and that the caller sees as visible.

    Leaves out comments of authors whom the caller blocks, unless the caller is a moderator.
    """
    if not rows:
        return []
    places = [_place_of(row) for row in rows]
    known = visible_nodes(runtime, {node_id for node_id, _ in places}, caller)
    wanted = [(known[node_id], comment_id) for node_id, comment_id in places if node_id in known]
    comments = read(runtime, wanted)
    sees, shown = _Sight(runtime, site, caller), list[FoundComment]()
    for place, row in zip(places, rows, strict=True):
        comment = comments.get(place)
        if comment is not None and sees.as_visible(comment):
            node = known[place[0]]
            found = _answer(node, comment, words)
            if found is not None and _has_words(node, comment, row, words):
                shown.append(found)
    return shown


def _place_of(row: Mapping[str, Any]) -> Place:
    node_id, _, comment_id = row["_id"].rpartition("/")
    return node_id, comment_id


class _Sight:
    """A caller's view of a site's comments; moderators see authors that they block, too."""

    def __init__(self, runtime: Runtime, site: str, caller: Principal | None) -> None:
        self._viewer = viewer(caller, site)
        self._blocked = frozenset[str]()
        if caller is not None and not self._viewer.moderator:
            self._blocked = blocked_by(runtime, site, caller.id)

    def as_visible(self, comment: Comment) -> bool:
        """Return whether the caller sees a comment as visible, and does not block its author."""
        author = comment["author"]
        if author is None or author["id"] in self._blocked or not self._viewer.sees(comment):
            return False
        return self._viewer.view(comment)["state"] == "visible"


def _has_words(node: Node, comment: Comment, row: Mapping[str, Any], words: Sequence[str]) -> bool:
    """Return whether a comment has all words; its row may lag behind an edit."""
    if row["revision"] == revision_of(comment):
        return True
    right = term_rows.row_of(node, comment)
    return right is not None and set(words) <= term_rows.words_of(right)


def _answer(node: Node, comment: Comment, words: Sequence[str]) -> FoundComment | None:
    author, html = comment["author"], comment["html"]
    if author is None or html is None:
        return None
    return {
        "id": comment["id"],
        "node": {"id": node["_id"], "title": node["title"], "url": node["url"]},
        "permalink": permalink(node["url"], comment["id"]),
        "posted_at": comment["posted"],
        "edited_at": comment["edited"],
        "author": author,
        "excerpt": excerpt(plain_text(html), words),
    }

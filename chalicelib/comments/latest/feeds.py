"""Feeds of comments: their subjects, their entity tags and their entries.

A feed is the same for every reader, and contains public comments alone. Its entity tag comes from
the rows of these comments in ENTRIES and from their nodes. So a poll reads no comment if the feed
has not changed, and hidden comments leave the tag as it is. A change that leaves no trace in
ENTRIES, such as a mentioned person's new name, shows within a day.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import orjson

from chalicelib import __version__
from chalicelib.atom import Answered, Feed, FeedEntry
from chalicelib.comments import nodes
from chalicelib.comments.discussion import reading
from chalicelib.comments.latest import rows
from chalicelib.comments.latest.permalinks import permalink
from chalicelib.comments.latest.rows import ANYBODY, LatestRow, Selection
from chalicelib.comments.rendered import RENDERER
from chalicelib.comments.shapes import Comment
from chalicelib.comments.stores.collected import Place
from chalicelib.errors import UnknownComment
from chalicelib.http import Request
from chalicelib.runtime import Runtime

MOST = 50
# The `updated` time of an empty feed.
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class FeedSubject(NamedTuple):
    """The subject of a feed: its path, its title, its page, and the choice of its entries."""

    path: str
    title: str
    home_url: str
    home_type: str
    selection: Selection


class FetchedFeed(NamedTuple):
    """A feed and its entity tag; `feed` None: the reader already holds this tag."""

    tag: str
    feed: Feed | None


def of_site(runtime: Runtime, site: str) -> FeedSubject:
    """Return the subject of all comments of a site."""
    path = f"/sites/{site}/comments"
    home = f"{runtime.settings.public_url}{path}"
    return FeedSubject(
        path, f"Comments: {site}", home, "application/json", Selection({"site": site})
    )


def of_person(runtime: Runtime, site: str, user_id: str) -> FeedSubject:
    """Return the subject of a person's comments at a site."""
    path = f"/sites/{site}/people/{quote(user_id, safe='')}/comments"
    home = f"{runtime.settings.public_url}{path}"
    selection = Selection({"site": site, "author_id": user_id})
    return FeedSubject(path, f"Comments: {user_id}, {site}", home, "application/json", selection)


def of_node(runtime: Runtime, node_id: str) -> FeedSubject:
    """Return the subject of a discussion; raises UnknownNode and NodeMoved."""
    node = nodes.find_for(runtime, node_id, None)
    selection = Selection({"site": node["site"], "node_id": node_id}, node)
    path, title = f"/nodes/{node_id}/comments", f"Comments: {node['title']}"
    return FeedSubject(path, title, node["url"], "text/html", selection)


def of_thread(runtime: Runtime, node_id: str, comment_id: str) -> FeedSubject:
    """Return the subject of a thread by its root.

    Raises UnknownNode, NodeMoved, and UnknownComment for a reply or a non-public comment.
    """
    node = nodes.find_for(runtime, node_id, None)
    root = reading.find(runtime, node, comment_id, None)
    if root["depth"]:
        raise UnknownComment
    where = {"site": node["site"], "node_id": node_id, "root": comment_id}
    selection = Selection(where, node)
    path = f"/nodes/{node_id}/comments/{comment_id}/thread"
    home = permalink(node["url"], comment_id)
    return FeedSubject(path, f"Thread: {node['title']}", home, "text/html", selection)


def fetch(request: Request, subject: FeedSubject, held: Collection[str]) -> FetchedFeed:
    """Return a subject's feed of at most `request.rows` entries, unless its tag is in `held`."""
    runtime = request.runtime
    found = rows.find(runtime, subject.selection, ANYBODY, MOST).rows
    tag = _tag(runtime, subject, found)
    if tag in held:
        return FetchedFeed(tag, None)
    comments = rows.comments_of(runtime, found)
    shown = [row for row in found if _is_shown(row, comments, subject)]
    entries = tuple(_entry(row, comments[row.place]) for row in shown[: request.rows])
    # The tag covers the shown rows alone: a comment that lags behind its row in ENTRIES appears
    # later, without a change of the row.
    tag = _tag(runtime, subject, shown)
    return FetchedFeed(tag, _feed(runtime, subject, entries))


def _tag(runtime: Runtime, subject: FeedSubject, found: Sequence[LatestRow]) -> str:
    """Return the entity tag: a digest of the date and of all that decides the feed's bytes."""
    parts: list[Any] = [__version__, RENDERER, runtime.settings.public_url, *subject[:4]]
    parts += [runtime.now().date().isoformat(), [row.facts for row in found]]
    return f'"{hashlib.sha256(orjson.dumps(parts)).hexdigest()[:24]}"'


def _is_shown(row: LatestRow, comments: Mapping[Place, Comment], subject: FeedSubject) -> bool:
    """Return whether a row's comment is visible and has the right author.

    The row in ENTRIES may be ahead of the comment.
    """
    comment = comments.get(row.place)
    if comment is None or comment["state"] != "visible" or comment["author"] is None:
        return False
    author_id = comment["author"]["id"]
    return bool(subject.selection.where.get("author_id", author_id) == author_id)


def _feed(runtime: Runtime, subject: FeedSubject, entries: tuple[FeedEntry, ...]) -> Feed:
    return Feed(
        id=_id_of(subject.path),
        title=subject.title,
        home_url=subject.home_url,
        url=f"{runtime.settings.public_url}{subject.path}.atom",
        first_url=None,
        next_url=None,
        language="",
        author="",
        updated=max((entry.updated for entry in entries), default=_NEVER),
        entries=entries,
        home_type=subject.home_type,
    )


def _entry(row: LatestRow, comment: Comment) -> FeedEntry:
    node_id, page_url = row.node["_id"], row.node["url"]
    name = comment["author"]["name"] if comment["author"] else ""
    replied_to = comment.get("reply_to") or comment["parent_id"]
    answered = Answered(page_url, page_url)
    if replied_to is not None:
        answered = Answered(_id_of(node_id, replied_to), permalink(page_url, replied_to))
    return FeedEntry(
        id=_id_of(node_id, comment["id"]),
        url=permalink(page_url, comment["id"]),
        title=f"{name}: {row.node['title']}",
        summary=None,
        html=comment["html"] or "",
        published=comment["posted"],
        updated=comment["edited"] or comment["posted"],
        author=name,
        answered=answered,
    )


def _id_of(*parts: str) -> str:
    """Return a thing's permanent UUID URN; `parts` contain no address of a page or of Plaza."""
    return uuid5(NAMESPACE_URL, f"plaza:{'/'.join(parts)}").urn

"""Routes of watches: readers watch or mute a discussion or a thread."""

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.comments import nodes, watches
from chalicelib.comments.discussion import reading
from chalicelib.comments.errors import NotEnabled, NotThreaded, UnknownNode
from chalicelib.comments.forms import CommentId
from chalicelib.comments.latest.permalinks import permalink
from chalicelib.comments.latest.rows import visible_nodes
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.people import guests
from chalicelib.comments.shapes import Node
from chalicelib.comments.sites import settings
from chalicelib.comments.stores import ask
from chalicelib.comments.watches import WHOLE, Watch, WatchLevel
from chalicelib.errors import UnknownComment
from chalicelib.http import Input, NoContent, Ok, PageQuery, Request, Route, everybody
from chalicelib.http.paging import Cursors, Next, page_of, place_of, position_of
from chalicelib.identity import Principal
from chalicelib.instants import Instant
from chalicelib.notifications.errors import TooManyWatches
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, ShownUrl

# Each watch in a list may need the document of another node.
_MOST = 50


class WatchChoice(Input):
    """The level of a watch."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"level": "watching"}]})

    level: WatchLevel = Field(
        description="`watching`: each comment notifies you. `muted`: mentions alone do."
    )


class WatchLevelAnswer(TypedDict):
    """The caller's watch of a discussion or thread; null: replies and mentions notify you."""

    level: WatchLevel | None
    since: Instant | None
    available: Annotated[bool, Field(description="Whether the site has notifications.")]


class WatchesQuery(PageQuery):
    """The query of a person's watches."""

    limit: int = Field(20, ge=1, le=_MOST, description="How many watches a page has at most.")


class WatchedPageAnswer(TypedDict):
    """The page of a watched discussion."""

    title: ShownLine
    url: ShownUrl


class WatchAnswer(TypedDict):
    """A watch of the caller."""

    site: SiteId
    node: NodeId
    thread: Annotated[
        CommentId | None,
        Field(description="The first comment of the thread; null: the whole discussion."),
    ]
    level: WatchLevel
    since: Instant
    page: Annotated[WatchedPageAnswer | None, Field(description="null: you do not see it now.")]
    permalink: Annotated[str, Field(max_length=2_100)]


class WatchesAnswer(TypedDict):
    """A page of the caller's watches, the latest first."""

    watches: Annotated[list[WatchAnswer], Field(max_length=_MOST)]
    next: Next


def declare(route: Route) -> None:
    """Declare the routes of a discussion's and of a thread's watch."""
    _declare_of_node(route)
    _declare_of_thread(route)


def _declare_of_node(route: Route) -> None:
    @route("GET", "/nodes/{node}/watch", raises=(UnknownNode,))
    def get_watch(request: Request, node: NodeId, caller: Principal) -> Ok[WatchLevelAnswer]:
        """Read your watch of a discussion."""
        found = nodes.find_for(request.runtime, node, caller)
        watch = watches.find(request.runtime.database, found, WHOLE, caller.id)
        is_available = settings.notifies(request.runtime, found["site"])
        return Ok(_level(watch, is_available=is_available))

    @route("PUT", "/nodes/{node}/watch", raises=(UnknownNode, NotEnabled, TooManyWatches))
    def put_watch(
        request: Request, node: NodeId, caller: Principal, body: WatchChoice
    ) -> Ok[WatchLevelAnswer]:
        """Watch or mute a discussion, for comments from now on."""
        guests.check_token(request.runtime, caller)
        found = _find(request, node, caller)
        return Ok(_level(watches.put(request.runtime, found, WHOLE, caller.id, body.level)))

    @route("DELETE", "/nodes/{node}/watch", raises=(UnknownNode,))
    def delete_watch(request: Request, node: NodeId, caller: Principal) -> NoContent:
        """Remove your watch of a discussion; your watches of its threads stay.

        Outside these threads, only replies and mentions notify you then. Without a watch, nothing
        changes.
        """
        _remove(request, nodes.find(request.runtime.database, node), WHOLE, caller)
        return NoContent()


def _declare_of_thread(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/watch",
        raises=(UnknownNode, UnknownComment, NotThreaded, NotEnabled, TooManyWatches),
    )
    def put_thread_watch(
        request: Request, node: NodeId, comment: CommentId, caller: Principal, body: WatchChoice
    ) -> Ok[WatchLevelAnswer]:
        """Watch or mute the thread of a comment; this overrides your watch of the discussion."""
        guests.check_token(request.runtime, caller)
        found = _find(request, node, caller)
        if not found["threaded"]:
            raise NotThreaded
        of_thread = reading.find(request.runtime, found, comment, caller)
        thread = watches.thread_of(found, of_thread)
        return Ok(_level(watches.put(request.runtime, found, thread, caller.id, body.level)))

    @route(
        "DELETE",
        "/nodes/{node}/comments/{comment}/watch",
        raises=(UnknownNode,),
    )
    def delete_thread_watch(
        request: Request, node: NodeId, comment: CommentId, caller: Principal
    ) -> NoContent:
        """Remove your watch of the thread of a comment, if you have one.

        Of a thread that is gone, `comment` is its first comment.
        """
        found = nodes.find(request.runtime.database, node)
        of_thread = ask(request.runtime, found, lambda store, now: store.get(now, comment))
        thread = comment
        if of_thread is not None and found["threaded"]:
            thread = watches.thread_of(found, of_thread)
        _remove(request, found, thread, caller)
        return NoContent()


def declare_own(route: Route) -> None:
    """Declare the route of the caller's own watches."""

    @route("GET", "/watches", of_one_site=everybody)
    def list_watches(request: Request, caller: Principal, query: WatchesQuery) -> Ok[WatchesAnswer]:
        """List the discussions and threads that you watch or mute, the latest first."""
        runtime = request.runtime
        cursors = Cursors(f"watches:{caller.id}", runtime.settings.signing_keys)
        after = position_of(cursors.position(query))
        found = watches.find_own(runtime.database, caller.id, query.limit + 1, after)
        shown, last = page_of(found, query.limit)
        pages = visible_nodes(runtime, {row["node_id"] for row in shown}, caller)
        following = place_of((last["since"], last["_id"])) if last else None
        return Ok(
            {
                "watches": [_answer(row, pages.get(row["node_id"])) for row in shown],
                "next": cursors.following(following),
            }
        )


def _find(request: Request, node_id: str, caller: Principal) -> Node:
    """Return a discussion that a caller sees, at a site with notifications."""
    found = nodes.find_for(request.runtime, node_id, caller)
    if not settings.notifies(request.runtime, found["site"]):
        raise NotEnabled
    return found


def _remove(request: Request, node: Node, thread: str, caller: Principal) -> None:
    """Remove a watch; raises UnknownNode where the caller has none and sees no discussion."""
    was_there = watches.remove(request.runtime.database, node, thread, caller.id)
    if not was_there and not nodes.is_visible(node, caller, request.runtime.now()):
        raise UnknownNode


def _level(found: Watch | None, *, is_available: bool = True) -> WatchLevelAnswer:
    level, since = (found["level"], found["since"]) if found else (None, None)
    return {"level": level, "since": since, "available": is_available}


def _answer(row: Watch, node: Node | None) -> WatchAnswer:
    page: WatchedPageAnswer | None = None
    link = ""
    if node is not None:
        page = {"title": node["title"], "url": node["url"]}
        link = permalink(node["url"], row["thread"]) if row["thread"] else node["url"]
    return {
        "site": row["site"],
        "node": row["node_id"],
        "thread": row["thread"] or None,
        "level": row["level"],
        "since": row["since"],
        "page": page,
        "permalink": link,
    }

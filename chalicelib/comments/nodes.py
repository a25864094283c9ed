"""Nodes: the pages of a site under discussion, with their settings and counters."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from bson import ObjectId
from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.comments.errors import CannotThread, NodeHasComments, NodeMoved, UnknownNode
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.page_urls import fields_of, key_of
from chalicelib.comments.permissions import is_public, writable_filter
from chalicelib.comments.shapes import Comment, Node, NodeGeneration, StoreName
from chalicelib.comments.store import CONCEALED, GONE
from chalicelib.database import Collection, Document
from chalicelib.errors import Unavailable
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.sites.permissions import moderates

NODES = Collection(
    "comments.node",
    Node,
    indexes=(
        # Small: they hold only nodes that wait for a move, or for a comparison of their counts.
        IndexModel("wanted_store", partialFilterExpression={"wanted_store": {"$type": "string"}}),
        IndexModel("wanted_id", partialFilterExpression={"wanted_id": {"$type": "string"}}),
        IndexModel("written", partialFilterExpression={"written": {"$type": "date"}}),
        # Finds a person's comments for a rename or an erasure.
        IndexModel("metadata.authors", sparse=True),
        # Finds the node of a page, and lists the nodes of a site.
        IndexModel([("site", ASCENDING), ("url_key", ASCENDING), ("_id", ASCENDING)]),
        # Finds nodes of release 0.3.0, which lack the key.
        IndexModel("url_key"),
        IndexModel("vacant.due", partialFilterExpression={"vacant.due": {"$type": "date"}}),
    ),
)
DEFAULT_MAX_DEPTH = 10
# For release 0.3.0 alone, which rebuilds the entries of nodes without these fields.
COUNTS_VERSION = ENTRIES_VERSION = 1
_INSERT_ATTEMPTS = 3
# The most documents that a look-up reads along the forwards of a moved node.
MOST_FORWARDS = 10
_NO_SETTINGS = NodeSettings.model_construct(title="", url="")
# The projection of a node without its embedded comments.
WITHOUT_COMMENTS = {"metadata": 0}
# Every change that a reader of the node can see, except of marks, changes one of these fields.
VERSION = ("life", "generation", "version", "shadows", "unseen")
# The filter that leaves vacant ids out.
OCCUPIED: Document = {"vacant": None}
# The `$inc` of each write that readers of a node can see.
RAISED: Mapping[str, int] = {"version": 1}
# The `$inc` of a write that only a shadowed author and moderators see: other readers' tags stay.
UNSEEN: Mapping[str, int] = {"shadows": 1}
# The most numbers in `unseen`: they bound a node's size, however many shadowed people write.
_UNSEEN_PARTS, _UNSEEN_DIGEST_BYTES = 1_024, 4
NOWHERE: frozenset[str] = frozenset()
THREADED_STORES: tuple[StoreName, ...] = ("documents", "embedded")


def find(database: Database[Document], node_id: str) -> Node:
    """Return a node without its embedded comments; raises UnknownNode and NodeMoved."""
    return existing(look(database, node_id))


def existing(node: Node | None) -> Node:
    """Return a node as a read found it; raises UnknownNode and NodeMoved."""
    if node is None:
        raise UnknownNode
    if "vacant" in node:
        moved_to = node["vacant"].get("moved_to")
        raise NodeMoved(moved_to) if moved_to else UnknownNode
    return node


def find_for(runtime: Runtime, node_id: str, caller: Principal | None) -> Node:
    """Return a node as `find`; raises UnknownNode, too, if the caller may not see it now."""
    return shown_to(runtime, look(runtime.database, node_id), caller)


def shown_to(runtime: Runtime, node: Node | None, caller: Principal | None) -> Node:
    """Return a node as a read found it, under the condition of `find_for`."""
    found = existing(node)
    if not is_visible(found, caller, runtime.now()):
        raise UnknownNode
    return found


def is_visible(node: Node, caller: Principal | None, now: datetime) -> bool:
    """Return whether a node exists for a caller at a time."""
    return is_public(node, now) or (caller is not None and moderates(caller, node["site"]))


def find_moved(database: Database[Document], node_id: str) -> Node:
    """Return a node by its id or a former id, as `find`; raises UnknownNode."""
    for _ in range(MOST_FORWARDS):
        try:
            return find(database, node_id)
        except NodeMoved as moved:
            node_id = moved.moved_to
    raise UnknownNode


def forwards(database: Database[Document], node_id: str, to: str) -> bool:
    """Return whether `node_id` still forwards to `to`: a new node may have taken the id."""
    where = {"_id": node_id, "vacant.moved_to": to}
    return NODES.of(database).find_one(where, {"_id": 1}) is not None


def look(
    database: Database[Document], node_id: str, session: ClientSession | None = None
) -> Node | None:
    """Return an id's document without embedded comments; a document with `vacant` is no node."""
    return NODES.of(database).find_one({"_id": node_id}, WITHOUT_COMMENTS, session=session)


def is_current(database: Database[Document], node: Node) -> bool:
    """Return whether a node still serves the generation that was read."""
    now = look(database, node["_id"])
    return now is not None and now["generation"] == node["generation"] and "vacant" not in now


def new_node(node_id: str, site: str = DEFAULT_SITE, settings: NodeSettings = _NO_SETTINGS) -> Node:
    """Return a node with these settings, and defaults for omitted settings.

    Raises CannotThread for a threaded node in a store that orders comments by number alone.
    """
    store = settings.store or "documents"
    threaded = store in THREADED_STORES if settings.threaded is None else settings.threaded
    check_threads(store, threaded=threaded)
    return {
        "_id": node_id,
        "site": site,
        "title": settings.title,
        "url": settings.url,
        "url_key": key_of(settings.url),
        "store": store,
        "threaded": threaded,
        "max_depth": settings.max_depth or DEFAULT_MAX_DEPTH,
        "locked": settings.locked or False,
        "moderation": settings.moderation,
        "votes": settings.votes,
        "order": settings.order,
        "slow_seconds": settings.slow_seconds,
        "opens_at": settings.opens_at,
        "closes_at": settings.closes_at,
        "last_seq": 0,
        "last_posted": None,
        "generation": 0,
        "last_generation": 0,
        "moving": None,
        "wanted_store": None,
        "written": None,
        "counts": {"visible": 0, "pending": 0},
        "counts_version": COUNTS_VERSION,
        "entries_version": ENTRIES_VERSION,
        "version": 0,
        "life": ObjectId(),
    }


def insert(
    database: Database[Document], node: Node, clear: Callable[[Node], None] | None = None
) -> bool:
    """Store a new node under a free or vacant id; return False if the id has a node.

    `clear` removes the rest of the former node of a vacant id, before the new node is there. At a
    vacant id the new node begins with a new generation, so that late writes to the former node
    never show. A later comparison corrects the new node's counts. Also returns False if other
    writes overtake three attempts.
    """
    for _ in range(_INSERT_ATTEMPTS):
        try:
            NODES.of(database).insert_one(node)
        except DuplicateKeyError:
            left = look(database, node["_id"])
        else:
            return True
        if left is not None and "vacant" not in left:
            return False
        if left is not None and clear:
            clear(left)
        if left is not None and take_over(database, left, node):
            return True
    return False


def take_over(
    database: Database[Document], left: Node, node: Node, session: ClientSession | None = None
) -> bool:
    """Store a new node at a vacant id; return False if the id's document changed since its read."""
    following = left["last_generation"] + 1
    node["generation"] = node["last_generation"] = following
    node["written"] = left["vacant"]["since"]
    if "vacant" in node and node["moving"]:
        # A move fills the node only later: until then the id forwards as before.
        node["moving"]["generation"] = following
        if moved_to := left["vacant"].get("moved_to"):
            node["vacant"]["moved_to"] = moved_to
    as_read = {
        "_id": left["_id"],
        "vacant": left["vacant"],
        "last_generation": left["last_generation"],
    }
    return NODES.of(database).replace_one(as_read, node, session=session).matched_count == 1


def update(database: Database[Document], node: Node, settings: NodeSettings) -> Node:
    """Set a node's settings and return the node.

    Raises UnknownNode, NodeMoved, CannotThread, NodeHasComments for another layout (store,
    threaded) of a node that has had comments, and Unavailable if another request changes the layout
    or a move runs.
    """
    had = {"store": node["store"], "threaded": node["threaded"]}
    store = settings.store or node["store"]
    threaded = node["threaded"] if settings.threaded is None else settings.threaded
    check_threads(store, threaded=threaded)
    given: Document = settings.model_dump(exclude_none=True, exclude={"site", *had})
    given |= {**fields_of(settings.url), **settings.overrides}
    untouched: Document = {}
    chosen: Document = {"$unset": {"closes_after": ""}} if "closes_at" in given else {}
    layout = {"store": store, "threaded": threaded}
    if layout != had:
        # Only if the layout is as it was read: two changes may each be valid, but not together.
        untouched, given = {**had, "last_seq": 0, "moving": None}, given | layout
    updated = NODES.of(database).find_one_and_update(
        {"_id": node["_id"], **OCCUPIED, **untouched},
        {"$set": given, "$inc": RAISED, **chosen},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if updated is None:
        if find(database, node["_id"])["last_seq"]:
            raise NodeHasComments
        raise Unavailable("Another request is changing the node's layout")
    return updated


def take_seq(
    runtime: Runtime, node_id: str, moderated: frozenset[str] | None = NOWHERE
) -> Node | None:
    """Number a new comment: return the node with the comment's `last_seq` and `last_posted`.

    One atomic write numbers the comment and reads the settings that apply to it. `last_posted`
    never runs backwards, so times and numbers have one order even if clocks differ. `written` puts
    off the comparison of counts until after the call. Returns None if the node is unknown, locked,
    closed to the author, vacant, or on the move. `moderated`: the sites that the author moderates;
    None: every site.
    """
    now, written = runtime.now(), (runtime.clock or runtime.now)()
    return NODES.of(runtime.database).find_one_and_update(
        {"_id": node_id, "moving": None, **writable_filter(now, moderated)},
        {"$inc": {"last_seq": 1}, "$max": {"last_posted": now}, "$set": {"written": written}},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )


def touch(runtime: Runtime, node_id: str) -> None:
    """Note a coming write to the node, so that a later comparison checks its counts."""
    this = {"_id": node_id, **OCCUPIED}
    NODES.of(runtime.database).update_one(
        this, {"$set": {"written": (runtime.clock or runtime.now)()}}
    )


def want_store(database: Database[Document], node_id: str, store: StoreName) -> Node:
    """Note the wanted store of a node, and return the node; raises UnknownNode."""
    return _want(database, node_id, {"wanted_store": store})


def want_id(database: Database[Document], node_id: str, to: str) -> Node:
    """Note the wanted id of a node, and return the node; raises UnknownNode."""
    return _want(database, node_id, {"wanted_id": to})


def end_want(database: Database[Document], node_id: str, wanted: Document) -> None:
    """Clear a wanted store or id after its move or refusal; a newer wish stays."""
    NODES.of(database).update_one({"_id": node_id, **wanted}, {"$set": dict.fromkeys(wanted)})


def _want(database: Database[Document], node_id: str, wanted: Document) -> Node:
    node = NODES.of(database).find_one_and_update(
        {"_id": node_id, **OCCUPIED},
        {"$set": wanted},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if node is None:
        raise UnknownNode
    return node


def find_settled(database: Database[Document], node_id: str, now: datetime) -> Node | None:
    """End a move with an expired lease; return the node, or None: unknown, or a move holds it."""
    NODES.of(database).update_one(
        {"_id": node_id, "moving.expires_at": {"$lte": now}}, {"$set": {"moving": None}}
    )
    return NODES.of(database).find_one({"_id": node_id, "moving": None}, WITHOUT_COMMENTS)


def version_change(*comments: Comment) -> Mapping[str, int]:
    """Return the `$inc` of a write to a comment, from the comment before and after."""
    unseen = [_is_unseen(each) for each in comments]
    if all(unseen):
        authors = {each["author"]["id"] for each in comments if each["author"]}
        return {**UNSEEN, **{f"unseen.{unseen_part(author)}": 1 for author in authors}}
    return {**RAISED, **UNSEEN} if any(unseen) else RAISED


def unseen_part(user_id: str) -> str:
    """Return the key of a person's number in `unseen`; a few people share each number."""
    digest = hashlib.blake2b(user_id.encode(), digest_size=_UNSEEN_DIGEST_BYTES).digest()
    return format(int.from_bytes(digest) % _UNSEEN_PARTS, "x")


def _is_unseen(comment: Comment) -> bool:
    return comment.get("shadow") is not None and comment["state"] in {*CONCEALED, *GONE}


def count(
    database: Database[Document],
    node: NodeGeneration,
    change: Mapping[str, int],
    raised: Mapping[str, int] = RAISED,
) -> bool:
    """Add to a node's counts; return False if a move began or ended since the node was read.

    This confirms a write. After False, the write may have missed the move's copy, and the caller
    repeats it. After True, readers can see the write, so the node's version rises.
    """
    where = {"_id": node["_id"], "generation": node["generation"], "moving": None}
    update = {"$inc": {**change, **raised}}
    return NODES.of(database).update_one(where, update).matched_count == 1


def note_shadow(database: Database[Document], node: Node) -> None:
    """Note that a node has comments or marks that only a shadowed person sees.

    Without the note, no read of the node looks for them.
    """
    if not node.get("shadows"):
        NODES.of(database).update_one({"_id": node["_id"], **OCCUPIED}, {"$inc": UNSEEN})


def raise_versions(database: Database[Document], where: Document) -> None:
    """Raise the versions of nodes after a write to their comments."""
    NODES.of(database).update_many(where, {"$inc": RAISED})


def find_counts(database: Database[Document], node_ids: Sequence[str]) -> dict[str, Node]:
    """Return the counts, versions and times of nodes by these ids, which may be former ids.

    Omits unknown ids; a deleted node may come, with `vacant`. Each query follows one forward of
    each moved node; at most ten queries.
    """
    counts: dict[str, Node] = {}
    # The ids that were asked for, by the id where their node may be now.
    asked = {node_id: [node_id] for node_id in dict.fromkeys(node_ids)}
    wanted = ("counts.visible", "vacant.moved_to", "site", *VERSION)
    fields = dict.fromkeys((*wanted, "public_from", "public_until"), 1)
    for _ in range(MOST_FORWARDS):
        onwards: dict[str, list[str]] = {}
        for node in NODES.of(database).find({"_id": {"$in": list(asked)}}, fields):
            former = asked[node["_id"]]
            if moved_to := node.get("vacant", {}).get("moved_to"):
                onwards.setdefault(moved_to, []).extend(former)
            else:
                counts |= dict.fromkeys(former, node)
        if not onwards:
            break
        asked = onwards
    return counts


def visible_counts(database: Database[Document], node_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of visible comments in each node; 0 for an unknown node."""
    found = find_counts(database, node_ids)
    return {
        node_id: found[node_id]["counts"]["visible"] if node_id in found else 0
        for node_id in node_ids
    }


def check_threads(store: StoreName, *, threaded: bool) -> None:
    """Raise CannotThread for a threaded node in a store that orders comments by number alone."""
    if threaded and store not in THREADED_STORES:
        raise CannotThread

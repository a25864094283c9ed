"""A person's data in comments: a rename, and an erasure.

Rename and erasure find comments by author in the three stores and in all generations: the served
generation, the copy of a running move, and old generations that wait for the sweep.
"""

import itertools
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from pymongo.database import Database

from chalicelib.comments import nodes, watches
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, UNNAMED, key_of
from chalicelib.comments.joining import carrying
from chalicelib.comments.log.rows import BATCHES, LOG
from chalicelib.comments.moderation.queue import PENDING
from chalicelib.comments.people.links import CONFIRMATIONS, LIFETIME
from chalicelib.comments.people.rows import PEOPLE, taken_key_expression
from chalicelib.comments.shapes import Comment, Node, NodeLayout, StoreName
from chalicelib.comments.spam_check.origins import ORIGINS
from chalicelib.comments.store import WIPED
from chalicelib.comments.stores import store_of
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.comments.stores.embedded_tree import ARRAYS, every_comment
from chalicelib.comments.terms.rows import TERMS
from chalicelib.comments.writing import mentioning
from chalicelib.comments.writing.changes import change_comment
from chalicelib.database import Collection, Document
from chalicelib.errors import Unavailable
from chalicelib.marks.shapes import FLAGGED, MARKS, marks_on
from chalicelib.people.features import Step
from chalicelib.people.names import name_key
from chalicelib.runtime import Runtime

_NODES_AT_ONCE = 1_000


class CommentCopy(NamedTuple):
    """The copy of a comment in one generation of its node."""

    node_id: str
    store: StoreName
    generation: int
    comment_id: str
    posted: datetime


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Set a user's name on their comments in all generations, and on rows beside comments.

    A longer name may add 40 KB to a page of a hundred comments; the page's `bytes` omit them.
    """
    other = {"author.id": user_id, "author.name": {"$ne": name}}
    named = {"$set": {"author.name": name}}
    COMMENTS.of(runtime.database).update_many(other, named)
    PENDING.of(runtime.database).update_many(other, named)
    ENTRIES.of(runtime.database).update_many(
        {"author_id": user_id, "author_name": {"$exists": True}}, {"$set": {"author_name": name}}
    )
    PEOPLE.of(runtime.database).update_many(
        {"user_id": user_id, "name": {"$ne": name}},
        [{"$set": {"name": {"$literal": name}, "taken_key": taken_key_expression(user_id, name)}}],
    )
    named_by = {"$set": {"by_name": name}}
    BATCHES.of(runtime.database).update_many({"by": user_id}, named_by)
    for act in ("by", "person"):
        LOG.of(runtime.database).update_many({act: user_id}, {"$set": {f"{act}_name": name}})
    _rename_in_arrays(runtime.database, user_id, other, name)
    key = name_key(name)
    # Behind all names: feeds have the key in their tags, and must not show a former name under it.
    ENTRIES.of(runtime.database).update_many(
        {"author_id": user_id, "author_key": {"$ne": key}}, {"$set": {"author_key": key}}
    )
    _raise_versions(runtime.database, user_id)
    mentioning.rename(runtime, user_id, name)


def _rename_in_arrays(
    database: Database[Document], user_id: str, other: Document, name: str
) -> None:
    """Set a user's name on comments in arrays: of pages, and of embedded trees."""
    element = {f"each.{field}": value for field, value in other.items()}
    PAGES.of(database).update_many(
        {"comments": {"$elemMatch": other}},
        {"$set": {"comments.$[each].author.name": name}},
        array_filters=[element],
    )
    for array in ARRAYS:
        # Through every element of the outer arrays: `metadata.replies.$[].replies.$[each]`.
        path = array.replace(".replies", ".replies.$[]").removesuffix(".$[]")
        nodes.NODES.of(database).update_many(
            {"metadata.authors": user_id, array: {"$elemMatch": other}},
            {"$set": {f"{path}.$[each].author.name": name}},
            array_filters=[element],
        )


def _raise_versions(database: Database[Document], user_id: str) -> None:
    """Raise the versions of the nodes with comments of a user, after changes to the comments."""
    nodes.raise_versions(database, {"metadata.authors": user_id})
    grouped: Document = {"$group": {"_id": "$node_id"}}
    stored: tuple[tuple[Collection[Any], str], ...] = (
        (COMMENTS, "author.id"),
        (PAGES, "comments.author.id"),
    )
    for collection, author in stored:
        rows = collection.of(database).aggregate([{"$match": {author: user_id}}, grouped])
        while ids := [row["_id"] for row in itertools.islice(rows, _NODES_AT_ONCE)]:
            nodes.raise_versions(database, {"_id": {"$in": ids}})


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Delete at most `erasure_step_comments` of a user's comments, and the user's other data.

    `until`: the latest time of the data to delete; None: all data. Replies stay, below a tombstone.
    """
    # The erasure covers claimed pasts: first carry the rest of them to the account.
    pasts = carrying.pasts_of(runtime.database, user_id)
    is_carried = carrying.carry_all(runtime, pasts)
    most = runtime.bounds.comments.erasure_step_comments
    found = list(itertools.islice(_find(runtime.database, user_id, until), most))
    waited_for: set[str] = set()
    ends = [_erase(runtime, copy, waited_for) for copy in found]
    posted = {"posted": {"$lte": until}} if until else {}
    PENDING.of(runtime.database).delete_many({"author.id": user_id, **posted})
    if is_carried:
        # Includes entries of comments that a crashed post never stored. Before, they name the nodes
        # whose moves the carrying looks for.
        ENTRIES.of(runtime.database).update_many({"author_id": user_id, **posted}, UNNAMED)
    claimed = {"claimed.by": user_id}
    ENTRIES.of(runtime.database).update_many(claimed, {"$unset": {"claimed": ""}})
    early = {"at": {"$lte": until}} if until else {}
    ORIGINS.of(runtime.database).delete_many({"person": user_id, **early})
    TERMS.of(runtime.database).delete_many({"author_id": user_id, **posted})
    watches.erase(runtime.database, user_id, until)
    asked = {"expires": {"$lte": until + LIFETIME}} if until else {}
    CONFIRMATIONS.of(runtime.database).delete_many({"person": user_id, **asked})
    _forget(runtime.database, user_id)
    _unname_acts(runtime.database, user_id, until)
    steps = [mentioning.erase(runtime, user_id, until, most)]
    # A move may have brought back the mention of a person whose past it is.
    steps += [mentioning.erase(runtime, each.person, until, most, each.site) for each in pasts]
    if not (all(ends) and is_carried) or Step.BUSY in steps:
        return Step.BUSY
    if Step.MORE in steps or len(found) == most:
        return Step.MORE
    # At the end: they alone say whose past is left.
    _erase_people(runtime, user_id, until)
    return Step.DONE


def _erase_people(runtime: Runtime, user_id: str, until: datetime | None) -> None:
    """Delete a person's documents, those of people whom they claimed, and blocks of the person."""
    people = PEOPLE.of(runtime.database)
    people.delete_many({"user_id": user_id, **_began_by(until)})
    joined = {"joined_at": {"$lte": until}} if until else {}
    carrying.erase_late(runtime, {"joined": user_id, **joined})
    people.delete_many({"joined": user_id, **joined})
    if until is None:
        # Later, the person may be there again, and readers may have blocked them again.
        people.update_many({"blocked": user_id}, {"$pull": {"blocked": user_id}})


def _began_by(until: datetime | None) -> Document:
    """Return the filter of people's documents of this time or before it; None: of all.

    What Plaza learns of a person after their erasure stays, as a ban or a new sign-in. A document
    without its time counts by its first post.
    """
    if until is None:
        return {}
    without_time = {"made": None, "first_at": {"$not": {"$gt": until}}}
    return {"$or": [{"made": {"$lte": until}}, without_time]}


def _unname_acts(database: Database[Document], user_id: str, until: datetime | None) -> None:
    """Delete acts and batches on a person; take the person's name out of all other acts.

    Acts on the person's comments lose their reasons, too.
    """
    log, early = LOG.of(database), {"at": {"$lte": until}} if until else {}
    log.delete_many({"person": user_id, "action": "person", **early})
    unnamed = {"person": None, "person_name": None, "reason": ""}
    log.update_many({"person": user_id, **early}, {"$set": unnamed})
    unnamed_actor = {"$set": {"by": None, "by_name": None}}
    log.update_many({"by": user_id, **early}, unnamed_actor)
    batches = BATCHES.of(database)
    batches.delete_many({"person": user_id, **early})
    batches.update_many({"by": user_id, **early}, unnamed_actor)


def _find(
    database: Database[Document], user_id: str, until: datetime | None
) -> Iterator[CommentCopy]:
    """Yield the copies of a user's comments in all generations, posted by `until` if given."""
    early: Document = {"posted": {"$lte": until}} if until else {}
    fields = {"node_id": 1, "generation": 1, "id": 1, "posted": 1}
    for row in COMMENTS.of(database).find({"author.id": user_id, **early}, fields):
        yield CommentCopy(row["node_id"], "documents", row["generation"], row["id"], row["posted"])
    pages = {"comments": {"$elemMatch": {"author.id": user_id, **early}}}
    for page in PAGES.of(database).find(pages):
        for comment in _by(page["comments"], user_id, until):
            node_id, generation = page["node_id"], page["generation"]
            yield CommentCopy(node_id, "buckets", generation, comment["id"], comment["posted"])
    for node in nodes.NODES.of(database).find({"metadata.authors": user_id}):
        generation = _embedded_generation(node)
        for comment in _by(every_comment(node["metadata"]), user_id, until):
            yield CommentCopy(node["_id"], "embedded", generation, comment["id"], comment["posted"])


def _embedded_generation(node: Node) -> int:
    """Return the generation of the comments inside a node; -1 for the copy of a failed move."""
    if node["store"] == "embedded":
        return node["generation"]
    return node["moving"]["generation"] if node["moving"] else -1


def _by(comments: Iterable[Comment], user_id: str, until: datetime | None) -> Iterator[Comment]:
    """Yield the comments of an author, posted by `until` if given."""
    for comment in comments:
        is_theirs = comment["author"] and comment["author"]["id"] == user_id
        if is_theirs and (until is None or comment["posted"] <= until):
            yield comment


def _erase(runtime: Runtime, copy: CommentCopy, waited_for: set[str]) -> bool:
    """Delete one copy of a comment; return False while a move of its node prevents it.

    `waited_for` collects the ids of moving nodes: a step waits for each node once.
    """
    node = _current(runtime, copy.node_id)
    if node and (node["store"], node["generation"]) == (copy.store, copy.generation):
        if copy.node_id in waited_for:
            return False
        _forget_notes(runtime.database, node, copy.comment_id)
        try:
            change_comment(runtime, node, copy.comment_id, WIPED)
        except Unavailable:
            waited_for.add(copy.node_id)
            return False
        return True
    if node and node["moving"]:
        # The move may have copied the comment already; a step after the move erases it.
        return False
    _erase_stale(runtime, copy)
    return True


def _forget_notes(database: Database[Document], node: Node, comment_id: str) -> None:
    """Empty the notes of reports of a comment: readers may have named its author there."""
    on = marks_on(KIND, thing_id(key_of(node, comment_id)))
    MARKS.of(database).update_many({**on, **FLAGGED}, {"$set": {"flag.note": ""}})


def _current(runtime: Runtime, node_id: str) -> Node | None:
    """End an expired move of a node, and return the node; None: the id has no node."""
    node = nodes.look(runtime.database, node_id)
    if node is None or "vacant" in node:
        return None
    if node["moving"]:
        return nodes.find_settled(runtime.database, node_id, runtime.now()) or node
    return node


def _erase_stale(runtime: Runtime, copy: CommentCopy) -> None:
    """Delete a comment from a generation that no new request reads.

    An embedded generation goes as a whole.
    """
    stale: NodeLayout = {
        "_id": copy.node_id,
        "store": copy.store,
        "generation": copy.generation,
        "threaded": True,
    }
    store = store_of(runtime, stale)
    if copy.store == "embedded":
        store.drop(stale, runtime.bounds.comments.erasure_step_comments)
    else:
        store.change(stale, copy.comment_id, WIPED, {})


def _forget(database: Database[Document], user_id: str) -> None:
    """Remove a user from `metadata.authors` of nodes that embed none of the user's comments."""
    none = {f"{array}.author.id": {"$ne": user_id} for array in ARRAYS}
    nodes.NODES.of(database).update_many(
        {"metadata.authors": user_id, **none}, {"$pull": {"metadata.authors": user_id}}
    )

"""Writes of search rows: each change of a comment settles its row last.

A crash before that leaves a stale row. A search also reads each found comment, and
decides by the comment alone; `upkeep.repair` corrects the row.
"""

from datetime import datetime

from pymongo import UpdateOne
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import all_of, forget_some, key_of
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.stores import ask
from chalicelib.comments.terms.rows import (
    TERMS,
    CommentTerms,
    insertion_of,
    own_words,
    row_of,
)
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE

_AT_ONCE = 500
# If another writer inserts the row first, the second attempt updates it.
_ATTEMPTS = 2


def is_searched(runtime: Runtime, site: str) -> bool:
    """Return whether a site offers a search of its comments."""
    return settings.of(runtime, site).get("search", False)


def settle(runtime: Runtime, node: Node, comment: Comment) -> None:
    """Make the row of a comment agree with it, if its site is searched."""
    if not is_searched(runtime, node["site"]):
        return
    row = row_of(node, comment)
    if row is not None:
        _write(runtime.database, row)
        return
    if not TERMS.of(runtime.database).delete_one(key_of(node, comment["id"])).deleted_count:
        return
    # Another call may have shown the comment meanwhile, and written its row before the deletion.
    now = ask(runtime, node, lambda store, current: store.get(current, comment["id"]))
    row = row_of(node, now) if now is not None else None
    if row is not None:
        _write(runtime.database, row)


def give(database: Database[Document], site: str, giver: str, to: str) -> None:
    """Move an author's rows at a site to another author.

    In `terms`, replace the author's prefix of words that only a shadowed author may find.
    """
    (own,), (new,) = own_words(giver, [""]), own_words(to, [""])
    word = {"$replaceOne": {"input": "$$this", "find": own, "replacement": new}}
    terms: Document = {"$map": {"input": "$terms", "as": "this", "in": word}}
    given: list[Document] = [{"$set": {"author_id": {"$literal": to}, "terms": terms}}]
    TERMS.of(database).update_many({"site": site, "author_id": giver}, given)


def _write(database: Database[Document], row: CommentTerms) -> None:
    """Store a row, unless the stored row has a later revision."""
    key, fields = insertion_of(row)
    where = {**key, "revision": {"$lte": row["revision"]}}
    for _ in range(_ATTEMPTS):
        try:
            TERMS.of(database).update_one(where, {"$set": fields}, upsert=True)
        except DuplicateKeyError:
            continue
        return


def forget(database: Database[Document], node: Node, until: datetime, most: int) -> bool:
    """Remove at most `most` rows of a node's comments; return whether more may remain.

    `until`: the latest time of posting.
    """
    return forget_some(TERMS.of(database), node, until, most)


def carry(runtime: Runtime, node: Node, to: str) -> None:
    """Move the rows of a moved node to its new id; drop them if the site there has no search.

    An existing row at the new id stays. A repeated call continues after a crash. If a new node has
    taken the former id, nothing changes.
    """
    rows, site = TERMS.of(runtime.database), site_of(to) or DEFAULT_SITE
    is_kept = is_searched(runtime, site)
    while found := list(rows.find(all_of(node, node["site"])).limit(_AT_ONCE)):
        if not nodes.forwards(runtime.database, node["_id"], to):
            return
        if is_kept:
            rows.bulk_write([_arrival(row, to, site) for row in found], ordered=False)
        ids = [row["_id"] for row in found]
        rows.delete_many({"site": node["site"], "_id": {"$in": ids}})


def _arrival(row: CommentTerms, to: str, site: str) -> UpdateOne:
    _, fields = insertion_of(row)
    key = {"_id": f"{to}/{row['_id'].rpartition('/')[2]}", "site": site}
    return UpdateOne(key, {"$setOnInsert": fields}, upsert=True)

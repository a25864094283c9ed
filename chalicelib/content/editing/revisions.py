"""Revisions: the stored drafts of a page; a person's successive saves in ten minutes make one.

A page has its last 50 revisions, and every revision that was live. The transaction of a save writes
its revision. The words of a revision never change, but the same person's next save may replace a
revision that was never live.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.content.errors import UnknownRevision
from chalicelib.content.shapes import ContentNode, PageDraft, Revision
from chalicelib.database import Collection, Document
from chalicelib.runtime import Runtime

REVISIONS = Collection(
    "content.revision",
    Revision,
    indexes=(
        IndexModel([("_id.node", ASCENDING), ("_id.version", DESCENDING)]),
        IndexModel("by.id", sparse=True),
    ),
    shard_key={"_id.node": 1},
)
FOLDED_WITHIN = timedelta(minutes=10)
_WITHOUT_DETAIL = {"detail": 0}


def add(runtime: Runtime, node: ContentNode, session: ClientSession) -> None:
    """Store a saved draft as a revision, and remove revisions over the bound.

    The new revision replaces the newest stored revision if that was never live and the same person
    began it less than ten minutes ago.
    """
    draft, rows = _draft(node), REVISIONS.of(runtime.database)
    newest: Mapping[str, Any] = {"sort": [("_id.version", DESCENDING)], "session": session}
    last = rows.find_one({"_id.node": node["_id"]}, _WITHOUT_DETAIL, **newest)
    begun = draft["at"]
    if last is not None and _is_folded(last, draft):
        begun = last["begun"]
        rows.delete_one({"_id": last["_id"]}, session=session)
    rows.insert_one(_revision(node, draft) | {"begun": begun}, session=session)
    _remove_old(runtime, node, session)


def mark_live(database: Database[Document], node: ContentNode, session: ClientSession) -> None:
    """Mark the draft's revision as published: later saves neither replace nor remove it."""
    REVISIONS.of(database).update_one(
        {"_id": _revision(node, _draft(node))["_id"]},
        {"$set": {"was_live": True}},
        session=session,
    )


def remove_all(database: Database[Document], node_id: str, session: ClientSession) -> None:
    """Remove the revisions of a deleted page."""
    REVISIONS.of(database).delete_many({"_id.node": node_id}, session=session)


def find(database: Database[Document], node_id: str, version: int) -> Revision:
    """Return a revision; raises UnknownRevision."""
    found = REVISIONS.of(database).find_one({"_id": {"node": node_id, "version": version}})
    if found is None:
        raise UnknownRevision
    return found


def before(
    database: Database[Document], node_id: str, version: int | None, limit: int
) -> list[Revision]:
    """Return at most `limit` revisions before a version, newest first, without details.

    version None: from the newest revision.
    """
    where: Document = {"_id.node": node_id}
    if version is not None:
        where["_id.version"] = {"$lt": version}
    rows = REVISIONS.of(database).find(where, _WITHOUT_DETAIL)
    return list(rows.sort("_id.version", DESCENDING).limit(limit))


def _is_folded(last: Revision, draft: PageDraft) -> bool:
    same = last["by"] and draft["by"] and last["by"]["id"] == draft["by"]["id"]
    return bool(same) and not last["was_live"] and draft["at"] - last["begun"] < FOLDED_WITHIN


def _revision(node: ContentNode, draft: PageDraft) -> Revision:
    return {
        "_id": {"node": node["_id"], "version": node["version"]},
        "slug": draft["slug"],
        "title": draft["title"],
        "summary": draft["summary"],
        "tags": draft["tags"],
        "detail": draft["detail"],
        "by": draft["by"],
        "at": draft["at"],
        "begun": draft["at"],
        "was_live": False,
    }


def _remove_old(runtime: Runtime, node: ContentNode, session: ClientSession) -> None:
    kept = runtime.bounds.content.kept_revisions
    if node["version"] <= kept:
        return
    rows, of_node = REVISIONS.of(runtime.database), {"_id.node": node["_id"]}
    newest = rows.find(of_node, {"_id": 1}, session=session).sort("_id.version", DESCENDING)
    oldest_kept = next(iter(newest.skip(kept - 1).limit(1)), None)
    if oldest_kept is not None:
        older = {"_id.version": {"$lt": oldest_kept["_id"]["version"]}, "was_live": False}
        rows.delete_many({**of_node, **older}, session=session)


def _draft(node: ContentNode) -> PageDraft:
    assert node["draft"] is not None  # noqa: S101 - only a deleted page has none
    return node["draft"]

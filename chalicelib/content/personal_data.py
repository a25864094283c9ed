"""A person's name and id on content: renamed, erased and exported.

The words belong to the site and stay; an erasure removes the person's id and name.
"""

from datetime import datetime
from typing import Any

from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.content.editing.revisions import REVISIONS
from chalicelib.content.nodes import NODES, RAISED
from chalicelib.content.shapes import ContentNode, Writer
from chalicelib.database import Document
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.people.ids import IMPORTED
from chalicelib.runtime import Runtime


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the collections that name a user, each with its filter."""
    named = {"$or": [{"author.id": user_id}, {"draft.by.id": user_id}]}
    return [
        Trace("content", NODES.of(database), named, _node_entries),
        Trace("content revisions", REVISIONS.of(database), {"by.id": user_id}, _revision_entries),
    ]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Set the user's name on all their pages, drafts and revisions."""
    pages = NODES.of(runtime.database)
    by = {"author.id": user_id, "author.name": {"$ne": name}}
    _set_author(pages, by, {"author.name": name})
    pages.update_many({"draft.by.id": user_id}, {"$set": {"draft.by.name": name}})
    REVISIONS.of(runtime.database).update_many({"by.id": user_id}, {"$set": {"by.name": name}})


def give(database: Database[Document], site: str, giver: str, to: Writer) -> None:
    """Make an account the writer of an imported person's pages, drafts and revisions on a site."""
    pages, revisions = NODES.of(database), REVISIONS.of(database)
    wrote: Document = {"site": site, "author.id": giver}
    saved: Document = {"site": site, "draft.by.id": giver}
    found = [row["_id"] for row in revisions.find({"by.id": giver}, {"_id": 1})]
    of_site = {"site": site, "_id": {"$in": [each["node"] for each in found]}}
    there = {row["_id"] for row in pages.find(of_site, {"_id": 1})}
    kept = [each for each in found if each["node"] in there]
    if kept:
        revisions.update_many({"_id": {"$in": kept}, "by.id": giver}, {"$set": {"by": to}})
    pages.update_many(saved, {"$set": {"draft.by": to}})
    _set_author(pages, wrote, {"author": to})


def _set_author(pages: MongoCollection[ContentNode], by: Document, fields: Document) -> None:
    """Set fields of the author of pages; after that, the filter `by` matches none of them.

    A page that was never public keeps the `edition` 0, by which an import knows that it still has
    to publish the page.
    """
    pages.update_many({**by, "published": None}, {"$set": fields})
    pages.update_many(by, {"$set": fields, "$inc": RAISED})


def imported_writers(database: Database[Document], site: str) -> list[str]:
    """Return the ids of the imported people who are authors of a site's pages."""
    imported = {"site": site, "author.id": {"$regex": f"^{IMPORTED}"}}
    return list(NODES.of(database).distinct("author.id", imported))


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Remove a user's id and name from their pages, drafts and revisions.

    until: only from pages created, and drafts and revisions saved, at or before this time.
    """
    pages = NODES.of(runtime.database)

    def by_then(time: str) -> Document:
        return {time: {"$lte": until}} if until else {}

    written = {"author.id": user_id, **by_then("created")}
    _set_author(pages, written, {"author": None})
    saved = {"draft.by.id": user_id, **by_then("draft.at")}
    pages.update_many(saved, {"$set": {"draft.by": None}})
    kept = {"by.id": user_id, **by_then("at")}
    REVISIONS.of(runtime.database).update_many(kept, {"$set": {"by": None}})
    return Step.DONE


def _node_entries(node: Any) -> list[ExportEntry]:
    words = node["draft"] or {}
    return [
        entry(
            "content",
            id=node["_id"],
            site=node["site"],
            title=words.get("title"),
            author=node["author"],
            created_at=node["created"],
        )
    ]


def _revision_entries(revision: Any) -> list[ExportEntry]:
    return [
        entry(
            "content_revision",
            content_id=revision["_id"]["node"],
            version=revision["_id"]["version"],
            title=revision["title"],
            saved_at=revision["at"],
        )
    ]

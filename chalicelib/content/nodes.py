"""The collection of pages, with its indexes."""

from datetime import UTC, datetime
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.content.errors import ContentGone, UnknownContent
from chalicelib.content.shapes import ContentNode
from chalicelib.database import Collection, Document
from chalicelib.webhooks.rows import DUE_EVENTS

# A query uses a partial index only if its filter implies the index's condition. A range with this
# bound implies it; with `$type` as the condition, a query would need `$type` beside its range.
EVER = {"$gt": datetime(1970, 1, 1, tzinfo=UTC)}
_PUBLISHED: dict[str, Any] = {"partialFilterExpression": {"published": EVER}}
_NEWEST = (("published", DESCENDING), ("_id", DESCENDING))
# The other fields of listings' filters and of feeds' entity tags. If a query names no tag of pages,
# its filter and the entity tag need the index alone.
_BESIDE = tuple((name, ASCENDING) for name in ("until", "next.shown_from", "edition"))
_LATEST = (("updated", DESCENDING), ("_id", DESCENDING))

NODES = Collection(
    "content.node",
    ContentNode,
    indexes=(
        IndexModel([("site", ASCENDING), *_NEWEST, *_BESIDE], **_PUBLISHED),
        IndexModel([("site", ASCENDING), ("type", ASCENDING), *_NEWEST, *_BESIDE], **_PUBLISHED),
        IndexModel([("site", ASCENDING), ("live.tags", ASCENDING), *_NEWEST], **_PUBLISHED),
        # Small: pages with an edition to come, which may have other tags.
        IndexModel(
            [("site", ASCENDING), ("next.tags", ASCENDING), *_NEWEST],
            partialFilterExpression={"next.shown_from": EVER},
        ),
        # For the desk.
        IndexModel([("site", ASCENDING), *_LATEST]),
        # For the desk's drafts and ended pages, which may be few among very many.
        IndexModel(
            [("site", ASCENDING), ("removed", ASCENDING), ("published", ASCENDING), *_LATEST]
        ),
        IndexModel(
            [("site", ASCENDING), ("removed", ASCENDING), *_LATEST, ("until", ASCENDING)],
            partialFilterExpression={"until": EVER},
        ),
        # For moves, which include drafts.
        IndexModel([("site", ASCENDING), ("draft.slug", ASCENDING)]),
        # For the schedule.
        IndexModel("next.shown_from", partialFilterExpression={"next.shown_from": EVER}),
        IndexModel("until", partialFilterExpression={"until": EVER, "published": EVER}),
        IndexModel("published", partialFilterExpression={"dated": EVER}),
        # For numbers of tags: the pages to count anew, of a site or of all sites. Pages without
        # `count_due` come first.
        IndexModel([("count_due", ASCENDING), ("site", ASCENDING)], **_PUBLISHED),
        # For the pages that `terms` has not indexed by its current rules.
        IndexModel([("live.terms_rules", ASCENDING), ("site", ASCENDING)], **_PUBLISHED),
        # For the discussions without the public time of their page.
        IndexModel([("told", ASCENDING), ("discussion", ASCENDING)]),
        IndexModel("telling.due", partialFilterExpression={"telling": {"$exists": True}}),
        DUE_EVENTS,
        # For a renamed or erased user.
        IndexModel("author.id", sparse=True),
        IndexModel("draft.by.id", sparse=True),
    ),
    shard_key={"site": 1, "_id": 1},
)
# The `$inc` of each write that changes a page for readers.
RAISED = {"edition": 1}


def find(
    database: Database[Document], site: str, node_id: str, session: ClientSession | None = None
) -> ContentNode:
    """Return a page of a site; raises UnknownContent and ContentGone."""
    node = NODES.of(database).find_one({"_id": node_id, "site": site}, session=session)
    if node is None:
        raise UnknownContent
    if node["removed"] is not None:
        raise ContentGone
    return node

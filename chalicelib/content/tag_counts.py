"""Numbers of visible pages by tag: a document for each tag, changed with each page.

A page stores its counted tags, and `count_due`, the next instant at which the clock alone changes
the page. Nothing runs at this instant. Until the schedule counts a due page anew, each read
corrects the numbers for it.
"""

import zlib
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypedDict

from pymongo import ASCENDING, DESCENDING, DeleteMany, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.content.nodes import EVER, NODES
from chalicelib.content.shapes import ContentNode
from chalicelib.content.visibility import edition_at, next_change, shown_filter
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.runtime import Runtime

_NEVER = datetime(9999, 12, 31, tzinfo=UTC)
# The schedule runs every minute, and each site has its minute of the day.
_MINUTES = 24 * 60
_WITHOUT_TEXTS = {
    "draft": 0,
    **{f"{of}.{name}": 0 for of in ("live", "next") for name in ("html", "detail")},
}


class TagCount(TypedDict):
    """A tag of a site, `site:tag`, and the number of pages that are counted for it, 1 or more."""

    _id: str
    site: str
    tag: str
    pages: int


TAG_COUNTS = Collection(
    "content.tag",
    TagCount,
    indexes=(IndexModel([("site", ASCENDING), ("pages", DESCENDING), ("tag", ASCENDING)]),),
    shard_key={"site": 1, "_id": 1},
)


def count(
    database: Database[Document],
    before: ContentNode,
    after: ContentNode,
    now: datetime,
    session: ClientSession,
) -> Document:
    """Count a changed page in its transaction; return the fields to store with the page."""
    tags = _shown_tags(after, now)
    changes = _changes(before, tags)
    if changes:
        _add(database, after["site"], changes, session)
    return {"counted_tags": tags, "count_due": next_change(after, now) or _NEVER}


def count_due(runtime: Runtime) -> int:
    """Count anew the pages whose `count_due` has passed or is missing; return their number.

    Stops after half of the remaining time.
    """
    has_time, counted = deadlines.share(0.5), 0
    rows = NODES.of(runtime.database).find(_due(runtime.now()), {"site": 1})
    found = list(rows.sort("count_due").limit(runtime.bounds.content.tended_at_once))
    for each in found:
        if not has_time():
            break
        _count_anew(runtime, each["site"], each["_id"])
        counted += 1
    return counted


def most_used(runtime: Runtime, site: str) -> list[tuple[str, int]]:
    """Return the tags of a site with their numbers of visible pages, the most used first.

    If more pages are due than a read may correct for, it counts all pages.
    """
    now, most = runtime.now(), runtime.bounds.content.listed_tags
    if _due_changes(runtime, site, now) == {}:
        return list(_read(runtime, site, most).items())

    def work(session: ClientSession) -> dict[str, int]:
        changes = _due_changes(runtime, site, now, session)
        if changes is None:
            return recount(runtime, site, now, session)
        return _correct(runtime, site, changes, session)

    found = in_transaction(runtime.database, work)
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))[:most]


def recount(
    runtime: Runtime, site: str, now: datetime, session: ClientSession | None = None
) -> dict[str, int]:
    """Return the number of visible pages of every tag, from the pages themselves."""
    is_next = {"$lte": ["$next.shown_from", now]}
    has_next = {"$and": [{"$ne": [{"$type": "$next.shown_from"}, "missing"]}, is_next]}
    tags = {"$cond": [has_next, "$next.tags", "$live.tags"]}
    return _numbers(runtime, {"site": site, **shown_filter(now)}, tags, session)


def repair(runtime: Runtime) -> list[str]:
    """Compare the numbers of this minute's sites with a recount; mend the sites that differ.

    Each site has a minute of the day. Returns the mended sites.
    """
    # Imported here: a call that changes a page needs no schedule.
    from chalicelib.jobs.schedules import skip_failing

    now = runtime.now()
    sites = [
        each
        for each in NODES.of(runtime.database).distinct("site")
        if minute_of(each) == _minute(now)
    ]
    mended = []
    for site in sites:
        # If the comparison of a site fails or takes too long, the next sites follow.
        with skip_failing("tags not compared", site=site):
            if not _is_right(runtime, site, now):
                _mend(runtime, site)
                mended.append(site)
    return mended


def minute_of(site: str) -> int:
    """Return the minute of the day, in UTC, at which a site's numbers are compared."""
    return zlib.crc32(site.encode()) % _MINUTES


def _minute(now: datetime) -> int:
    return now.hour * 60 + now.minute


def _is_right(runtime: Runtime, site: str, now: datetime) -> bool:
    def work(session: ClientSession) -> bool:
        changes = _due_changes(runtime, site, now, session)
        # With too many due pages, the comparison waits for the next day.
        return changes is None or _apply(_read(runtime, site, None, session), changes) == recount(
            runtime, site, now, session
        )

    return in_transaction(runtime.database, work)


def _mend(runtime: Runtime, site: str) -> None:
    """Count pages of a site anew, then rebuild its numbers from all pages' `counted_tags`.

    Takes the pages in random order for half of the remaining time: the next day reaches others.
    """
    has_time = deadlines.share(0.5)
    either = [{"published": EVER}, {"counted_tags.0": {"$exists": True}}]
    pages = [
        each["_id"]
        for each in NODES.of(runtime.database).find({"site": site, "$or": either}, {"_id": 1})
    ]
    runtime.random.shuffle(pages)
    for each in pages:
        if not has_time():
            break
        _count_anew(runtime, site, each)

    def work(session: ClientSession) -> None:
        counted = _numbers(runtime, {"site": site}, {"$ifNull": ["$counted_tags", []]}, session)
        rows = TAG_COUNTS.of(runtime.database)
        rows.delete_many({"site": site}, session=session)
        made: list[TagCount] = [
            {"_id": _key(site, tag), "site": site, "tag": tag, "pages": pages}
            for tag, pages in counted.items()
        ]
        if made:
            rows.insert_many(made, session=session)

    in_transaction(runtime.database, work)


def _count_anew(runtime: Runtime, site: str, node_id: str) -> None:
    rows, where = NODES.of(runtime.database), {"_id": node_id, "site": site}

    def work(session: ClientSession) -> None:
        node = rows.find_one(where, _WITHOUT_TEXTS, session=session)
        if node is not None:
            fields = count(runtime.database, node, node, runtime.now(), session)
            rows.update_one(where, {"$set": fields}, session=session)

    in_transaction(runtime.database, work)


def _due(now: datetime) -> Document:
    """Return the filter of pages to count anew: their `count_due` has passed or is missing."""
    return {"published": EVER, "count_due": {"$not": {"$gt": now}}}


def _due_changes(
    runtime: Runtime, site: str, now: datetime, session: ClientSession | None = None
) -> dict[str, int] | None:
    """Return the changes of a site's numbers by its due pages. None: too many pages are due."""
    most = runtime.bounds.content.corrected_pages
    rows = NODES.of(runtime.database).find(
        {"site": site, **_due(now)}, _WITHOUT_TEXTS, session=session
    )
    found = list(rows.limit(most + 1))
    if len(found) > most:
        return None
    changes = Counter[str]()
    for node in found:
        changes.update(_changes(node, _shown_tags(node, now)))
    return {tag: by for tag, by in changes.items() if by}


def _shown_tags(node: ContentNode, now: datetime) -> list[str]:
    shown = edition_at(node, now)
    return shown["tags"] if shown is not None else []


def _changes(node: ContentNode, tags: list[str]) -> dict[str, int]:
    """Return the change of each tag's number if `tags` replace the counted tags: 1 or -1."""
    before = set(node.get("counted_tags", ()))
    return {**dict.fromkeys(before - {*tags}, -1), **dict.fromkeys({*tags} - before, 1)}


def _add(
    database: Database[Document], site: str, changes: Mapping[str, int], session: ClientSession
) -> None:
    """Change numbers, and remove tags without a page."""
    writes: list[Any] = [
        UpdateOne(
            {"_id": _key(site, tag), "site": site},
            {"$inc": {"pages": by}, "$setOnInsert": {"tag": tag}},
            upsert=True,
        )
        for tag, by in sorted(changes.items())
    ]
    fewer = [_key(site, tag) for tag, by in changes.items() if by < 0]
    if fewer:
        writes.append(DeleteMany({"_id": {"$in": fewer}, "site": site, "pages": {"$lte": 0}}))
    TAG_COUNTS.of(database).bulk_write(writes, session=session)


def _read(
    runtime: Runtime, site: str, most: int | None, session: ClientSession | None = None
) -> dict[str, int]:
    """Return the stored numbers of a site's tags, the most used first. most None: all tags."""
    rows = TAG_COUNTS.of(runtime.database).find({"site": site}, session=session)
    ordered = rows.sort([("pages", DESCENDING), ("tag", ASCENDING)]).limit(most or 0)
    return {each["tag"]: each["pages"] for each in ordered}


def _correct(
    runtime: Runtime, site: str, changes: Mapping[str, int], session: ClientSession
) -> dict[str, int]:
    """Return the numbers of the most used tags, with due changes.

    Reads a further tag for each changed tag, as changed tags may drop out of the list.
    """
    most = runtime.bounds.content.listed_tags + len(changes)
    changed = {"site": site, "_id": {"$in": [_key(site, tag) for tag in changes]}}
    rows = TAG_COUNTS.of(runtime.database).find(changed, session=session)
    stored = {each["tag"]: each["pages"] for each in rows}
    return _apply({**stored, **_read(runtime, site, most, session)}, changes)


def _apply(stored: Mapping[str, int], changes: Mapping[str, int]) -> dict[str, int]:
    numbers = {tag: stored.get(tag, 0) + changes.get(tag, 0) for tag in {*stored, *changes}}
    return {tag: pages for tag, pages in numbers.items() if pages > 0}


def _numbers(
    runtime: Runtime, where: Document, tags: Document, session: ClientSession | None
) -> dict[str, int]:
    """Return the number of pages of each tag; `tags` is the expression of a page's tags."""
    stages: list[Document] = [
        {"$match": where},
        {"$project": {"tag": tags}},
        {"$unwind": "$tag"},
        {"$group": {"_id": "$tag", "count": {"$sum": 1}}},
    ]
    found = NODES.read_as(Document, runtime.database).aggregate(stages, session=session)
    return {each["_id"]: each["count"] for each in found}


def _key(site: str, tag: str) -> str:
    return f"{site}:{tag}"

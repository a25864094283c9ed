"""The words of published pages, in rows for searches.

The transaction that changes a page writes its rows, so both agree after a crash. The row of a page
or edition to come has its instant as `posted`: searches skip rows later than now.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypedDict

from pymongo import DeleteMany, IndexModel, ReplaceOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.content.nodes import EVER, NODES
from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.database.validators import AtMost
from chalicelib.runtime import Runtime
from chalicelib.terms.finding import BY_TERM
from chalicelib.terms.plain import plain_text
from chalicelib.words import RULES, index_tokens

# Searches find a longer page by its title, tags, summary, and the beginning of its text.
MAX_TERMS = 1_000
# Characters of a text to index: the rest mostly repeats its words, and takes time.
_TEXT_BEGINNING = 50_000
_OF_NEXT = "/next"


class PageTerms(TypedDict):
    """The words of an edition; `_id` is the page's id, with `/next` for an edition to come.

    posted: the page's place in lists, or the instant of an edition to come. revision: the version
    of the edition.
    """

    _id: str
    site: str
    posted: datetime
    revision: int
    terms: Annotated[list[str], AtMost(MAX_TERMS)]


TERMS = Collection(
    "content.term",
    PageTerms,
    indexes=(IndexModel(BY_TERM),),
    shard_key={"site": 1, "_id": 1},
)


def store(database: Database[Document], node: ContentNode, session: ClientSession) -> None:
    """Make the rows of a page agree with it, in the transaction of its change."""
    node_id, site = node["_id"], node["site"]
    right = rows_of(node)
    writes: list[Any] = [
        ReplaceOne({"_id": row["_id"], "site": site}, row, upsert=True) for row in right
    ]
    gone = {node_id, node_id + _OF_NEXT} - {row["_id"] for row in right}
    if gone:
        writes.append(DeleteMany({"_id": {"$in": sorted(gone)}, "site": site}))
    TERMS.of(database).bulk_write(writes, session=session)


def rows_of(node: ContentNode) -> list[PageTerms]:
    """Return the rows of a page: of `live`, and of `next` if its version differs."""
    live, following, published = node["live"], node["next"], node["published"]
    if published is None or live is None:
        return []
    rows = [_row(node, "", published, live)]
    if following is not None and following["version"] != live["version"]:
        rows.append(_row(node, _OF_NEXT, following["shown_from"], following))
    return [row for row in rows if row["terms"]]


def page_of(row: Mapping[str, Any]) -> str:
    """Return the id of a row's page."""
    return str(row["_id"]).removesuffix(_OF_NEXT)


def index_due(runtime: Runtime) -> int:
    """Write the rows of published pages that lack rows by the current RULES; return their number.

    These are pages of release 0.3.0, and all pages after a change of the rules.
    """
    rows, indexed = NODES.of(runtime.database).find(_DUE, {"site": 1}), 0
    has_time = deadlines.share(0.5)
    for each in list(rows.limit(runtime.bounds.content.tended_at_once)):
        _index(runtime, each["site"], each["_id"])
        indexed += 1
        if not has_time():
            break
    return indexed


_DUE: Document = {"published": EVER, "live.terms_rules": {"$not": {"$gte": RULES}}}


def _index(runtime: Runtime, site: str, node_id: str) -> None:
    rows, where = NODES.of(runtime.database), {"_id": node_id, "site": site, **_DUE}

    def work(session: ClientSession) -> None:
        node = rows.find_one(where, {"draft": 0}, session=session)
        if node is not None:
            store(runtime.database, node, session)
            rows.update_one(where, {"$set": {"live.terms_rules": RULES}}, session=session)

    in_transaction(runtime.database, work)


def _row(node: ContentNode, suffix: str, posted: datetime, edition: Edition) -> PageTerms:
    return {
        "_id": node["_id"] + suffix,
        "site": node["site"],
        "posted": posted,
        "revision": edition["version"],
        "terms": _terms(edition),
    }


def _terms(edition: Edition) -> list[str]:
    """Return at most MAX_TERMS distinct words of an edition, from the title on to the text."""
    parts = (edition["title"], *edition["tags"], edition["summary"] or "")
    found: dict[str, None] = {}
    for part in (*parts, plain_text(edition["html"])[:_TEXT_BEGINNING]):
        for token in index_tokens(part):
            found.setdefault(token)
            if len(found) == MAX_TERMS:
                return list(found)
    return list(found)

"""Cost of a search in the comments of a site, by frequent and by rare words.

The floor is the same reads: the number of rows of each word, the rows of the rarest word, their
nodes, and the comments.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from bench.calls import AppCalls
from bench.case import Case, Work
from bench.discussions import seed_node
from bench.stage import Stage
from chalicelib.comments import nodes
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.comments.terms import upkeep
from chalicelib.comments.terms.rows import TERMS
from chalicelib.database import Collection, Document
from chalicelib.runtime import Runtime
from chalicelib.terms.finding import BY_TERM, NEWEST

LIMIT = 20
NODE_COMMENTS = 1_000
AT_MOST, GROWTH_AT_MOST = 2.0, 1.2
# Of the made-up texts "Comment 17": all have the first word, one of each node has the second.
QUERIES = {"a frequent word": ["comment"], "a frequent and a rare word": ["comment", "17"]}


def cases(stage: Stage) -> Iterator[Case]:
    """Yield the same searches in sites of two sizes."""
    for size in (1_000, 20_000):
        runtime = stage.with_database(f"searched-{size}").runtime
        site = "searched"
        settings.put(runtime, site, CommentSettings(search=True))
        for number in range(size // NODE_COMMENTS):
            name = f"{site}:page-{number}"
            node = seed_node(runtime, name, NODE_COMMENTS, store="documents", threaded=True)
            upkeep.repair(runtime, node)
        calls = AppCalls(runtime)
        for name, words in QUERIES.items():
            query = {"q": " ".join(words), "limit": str(LIMIT)}
            yield Case(
                f"search, {name}",
                partial(calls, "GET", "/sites/{site}/search", {"site": site}, query),
                _floor(runtime, site, words),
                store="documents-threaded",
                size=size,
                unit="comments",
                ratio_at_most=AT_MOST,
                growth_at_most=GROWTH_AT_MOST if words[1:] == [] else None,
            )


def _floor(runtime: Runtime, site: str, words: list[str]) -> Work:
    comments: Any = COMMENTS.of(runtime.database)

    def read() -> None:
        wanted: dict[str, list[str]] = {}
        for row in read_rows(runtime, TERMS, site, words):
            node_id, _, comment_id = row["_id"].rpartition("/")
            wanted.setdefault(node_id, []).append(comment_id)
        list(nodes.NODES.of(runtime.database).find({"_id": {"$in": list(wanted)}}))
        branches = [
            {"node_id": node_id, "generation": 0, "id": {"$in": ids}}
            for node_id, ids in wanted.items()
        ]
        list(comments.find({"$or": branches}))

    return read


def read_rows(
    runtime: Runtime, collection: Collection[Any], site: str, words: Sequence[str]
) -> list[dict[str, Any]]:
    """Read the number of rows of each of several words, and the newest rows of the last word."""
    terms: Any = collection.of(runtime.database)
    if words[1:]:
        first, *others = (_counting(site, word) for word in words)
        union = [{"$unionWith": {"coll": collection.name, "pipeline": each}} for each in others]
        list(terms.aggregate([*first, *union]))
    where: Document = {"site": site, "terms": words[-1]}
    found = terms.find(where, {"posted": 1}, batch_size=LIMIT + 2).hint(BY_TERM)
    return list(found.sort(NEWEST).limit(LIMIT + 1))[:LIMIT]


def _counting(site: str, word: str) -> list[Document]:
    group = {"$group": {"_id": {"$literal": word}, "rows": {"$sum": 1}}}
    return [{"$match": {"site": site, "terms": word}}, {"$limit": 1_000}, group]

"""Search for the rows that have all words of a query, newest first.

A query walks the index entries of one word, the entry word, in the order of the answer, and checks
the other words on each row. The entry is the rarest word. A part of a search walks at most
`MOST_READ` rows, so two frequent words that seldom meet have short pages.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymongo import ASCENDING, DESCENDING
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.http.paging import Position

# The most keys that a count of a word reads, and the most rows that a page of two or more words
# reads.
MOST_READ = 1_000
NEWEST = [("posted", DESCENDING), ("_id", ASCENDING)]
# The index of each collection in which a query searches.
BY_TERM = [("site", ASCENDING), ("terms", ASCENDING), *NEWEST]
_HINT = dict(BY_TERM)
_FIELDS = dict.fromkeys(("_id", "posted", "revision"), 1)


class TermsQuery(NamedTuple):
    """A part of a search.

    rows: documents with `_id`, `site`, `posted`, `revision` and `terms`, and the index `BY_TERM`.
    words: folded words, each once, one or more.
    after: the position before the part; None: the beginning.
    own: the prefix of terms that only this reader finds, beside the plain terms; empty: none.
    """

    rows: Collection[Any]
    site: str
    words: Sequence[str]
    after: Position | None
    limit: int
    own: str = ""


class FoundTerms(NamedTuple):
    """Rows with `_id`, `posted` and `revision`; `last`: where to continue; None: the end."""

    rows: Sequence[Mapping[str, Any]]
    last: Position | None


def find(database: Database[Document], query: TermsQuery) -> FoundTerms:
    """Return a part of the rows that have all words; costs two queries, or one for a single word.

    A part may have fewer rows than `limit`, or none, although others follow: see `last`.
    """
    if len(query.words) == 1:
        return _find_one_word(database, query)
    counts = _count(database, query)
    entry = min(query.words, key=lambda word: counts.get(word, 0))
    others = [word for word in query.words if word != entry]
    read = _read_stages(query, entry, MOST_READ)
    stages = [
        *read,
        {"$match": _has_all(query, others)},
        {"$limit": query.limit + 1},
        {"$project": _FIELDS},
    ]
    if counts.get(entry, 0) >= MOST_READ:
        end = [*read, {"$skip": MOST_READ - 1}, {"$project": {"posted": 1, "is_end": "yes"}}]
        stages.append({"$unionWith": {"coll": query.rows.name, "pipeline": end}})
    found: Any = query.rows.of(database).aggregate(stages, hint=_HINT)
    rows = list(found)
    end_row = rows.pop() if rows and "is_end" in rows[-1] else None
    if len(rows) > query.limit:
        return _page(rows, query.limit)
    return FoundTerms(rows, _position(end_row) if end_row else None)


def _find_one_word(database: Database[Document], query: TermsQuery) -> FoundTerms:
    where = _filter(query, query.words[0])
    found: Any = query.rows.of(database).find(where, _FIELDS)
    rows = found.hint(BY_TERM).sort(NEWEST).limit(query.limit + 1)
    return _page(list(rows), query.limit)


def _page(rows: Sequence[Mapping[str, Any]], limit: int) -> FoundTerms:
    shown = rows[:limit]
    return FoundTerms(shown, _position(shown[-1]) if len(rows) > limit else None)


def _position(row: Mapping[str, Any]) -> Position:
    return row["posted"], row["_id"]


def _count(database: Database[Document], query: TermsQuery) -> dict[str, int]:
    """Return the number of rows of each word, up to `MOST_READ`, in one round trip."""
    counted: list[list[Document]] = [
        [
            {"$match": {"site": query.site, "terms": {"$in": _forms(query, word)}}},
            {"$limit": MOST_READ},
            {"$group": {"_id": {"$literal": word}, "rows": {"$sum": 1}}},
        ]
        for word in query.words
    ]
    others = [{"$unionWith": {"coll": query.rows.name, "pipeline": each}} for each in counted[1:]]
    rows = query.rows.read_as(dict[str, Any], database).aggregate([*counted[0], *others])
    return {row["_id"]: row["rows"] for row in rows}


def _forms(query: TermsQuery, word: str) -> list[str]:
    return [word, query.own + word] if query.own else [word]


def _filter(query: TermsQuery, entry: str) -> Document:
    """Return the filter of the rows of a word after the position of a query.

    Each branch is one range of the index in the order of the answer: the server merges the
    branches without a sort.
    """
    forms = _forms(query, entry)
    ranges: list[Document] = [{}]
    if query.after is not None:
        posted, last_id = query.after
        ranges = [{"posted": {"$lt": posted}}, {"posted": posted, "_id": {"$gt": last_id}}]
    branches = [{"site": query.site, "terms": form, **each} for form in forms for each in ranges]
    return {"$or": branches} if branches[1:] else branches[0]


def _read_stages(query: TermsQuery, entry: str, most: int) -> list[Document]:
    return [{"$match": _filter(query, entry)}, {"$sort": dict(NEWEST)}, {"$limit": most}]


def _has_all(query: TermsQuery, words: Sequence[str]) -> Document:
    """Return the filter of rows with all words, either all plain or all with the prefix `own`."""
    forms = [list(words)]
    if query.own:
        forms.append([query.own + word for word in words])
    return {"$or": [{"terms": {"$all": each}} for each in forms]}

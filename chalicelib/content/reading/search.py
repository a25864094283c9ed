"""Search for the visible pages of a site that have all words of a query, newest first.

The rows of words yield candidates; a read of the pages then decides.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from chalicelib.content import terms
from chalicelib.content.nodes import NODES
from chalicelib.content.reading.forms import EntryAnswer, FoundEntriesAnswer, entry_answer
from chalicelib.content.reading.lists import WITHOUT_TEXTS
from chalicelib.content.visibility import edition_at, shown_filter
from chalicelib.http.paging import Cursors, place_of, position_of
from chalicelib.runtime import Runtime
from chalicelib.terms.finding import TermsQuery, find
from chalicelib.terms.queries import WordsQuery, words_of


def search(runtime: Runtime, site: str, query: WordsQuery) -> FoundEntriesAnswer:
    """Return a part of the visible pages with all words; raises InvalidRequest and InvalidCursor.

    Costs one query for a single word or two for several words, and another query for the pages.
    """
    words, now = words_of(query.q), runtime.now()
    cursors = Cursors(f"content-search:{site}:{' '.join(words)}", runtime.settings.signing_keys)
    # Beginning now skips the rows of pages and editions to come.
    after = position_of(cursors.position(query)) or (now, "")
    found = find(runtime.database, TermsQuery(terms.TERMS, site, words, after, query.limit))
    shown = _read(runtime, site, found.rows, now)
    return {"entries": shown, "next": cursors.following(place_of(found.last))}


def _read(
    runtime: Runtime, site: str, rows: Sequence[Mapping[str, Any]], now: datetime
) -> list[EntryAnswer]:
    """Return the pages of rows, if readers now see the edition that has the words."""
    if not rows:
        return []
    ids = list({terms.page_of(row) for row in rows})
    where = {"site": site, "_id": {"$in": ids}, **shown_filter(now)}
    found = {node["_id"]: node for node in NODES.of(runtime.database).find(where, WITHOUT_TEXTS)}
    shown = list[EntryAnswer]()
    for row in rows:
        node = found.get(terms.page_of(row))
        edition = edition_at(node, now) if node is not None else None
        if node is not None and edition is not None and edition["version"] == row["revision"]:
            shown.append(entry_answer(node, edition))
    return shown

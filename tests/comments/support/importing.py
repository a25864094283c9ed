"""Discussions of another system, as a parser yields them, and what an import leaves of them."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from chalicelib.comments.importing import running
from chalicelib.comments.importing.exporting import lines_of
from chalicelib.comments.importing.formats import own_lines
from chalicelib.comments.importing.rows import Import
from chalicelib.comments.importing.running import ImportOrder
from chalicelib.comments.importing.shapes import (
    ImportedAuthor,
    ImportedComment,
    ImportedThread,
    Item,
)
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion
from tests.support.clock import START

URL = "https://blog.example/a-page"
# What an import may change of the database.
TOUCHED = {
    *(
        "comments.node",
        "comments.comment",
        "comments.page",
        "comments.entry",
        "comments.generation",
    ),
    *("comments.pending", "comments.import", "comments.staged", "comments.staged_thread", "mark"),
    *("comments.term", "comments.person"),
}


def thread(key: str = "t", url: str | None = URL, **fields: Any) -> ImportedThread:
    return ImportedThread(key=key, url=url, **{"title": "A page", "locked": False, **fields})


def author(name: str, account: str | None = None, email: str | None = None) -> ImportedAuthor:
    return ImportedAuthor(account=account, name=name, email=email)


def comment(key: str, minutes: float = 0, **fields: Any) -> ImportedComment:
    """Return a comment of so many minutes before the clock's start, or after it if negative."""
    made: dict[str, Any] = {
        "thread": "t",
        "key": key,
        "parent": None,
        "posted": START - timedelta(minutes=minutes),
        "edited": None,
        "author": author("Old Ann"),
        "text": f"text of {key}",
        "state": "visible",
        "ups": 0,
        "downs": 0,
        "votes": (),
        **fields,
    }
    return ImportedComment(**made)


def bring(runtime: Runtime, items: Iterable[Item], site: str = "default", **wanted: Any) -> Import:
    """Import these parts of a file into a site."""
    order = ImportOrder(site=site, **{"format": "isso", "digest": "of the file", **wanted})
    held = list(items)
    return running.run(runtime, order, lambda: held)


def brought(runtime: Runtime, *items: Item, **wanted: Any) -> Discussion:
    """Import a thread with comments into the page of URL; return its discussion."""
    bring(runtime, [thread(), *items], **wanted)
    return at_url(runtime)


def at_url(runtime: Runtime, url: str = URL) -> Discussion:
    """Return the discussion of a page."""
    (row,) = runtime.database["comments.node"].find({"url": url})
    return Discussion(runtime, row["_id"])


def told(discussion: Discussion) -> list[tuple[str, str]]:
    """Return the texts and states of all comments by number, whatever the store."""
    exported = store_of(discussion.runtime, discussion.node).export(discussion.node)
    return [(row["text"] or "", row["state"]) for batch in exported for row in batch]


def everything(runtime: Runtime, without: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return every document of the database, by collection."""
    database = runtime.database
    names = sorted(set(database.list_collection_names()) - set(without))
    return {name: sorted(map(str, database[name].find())) for name in names}


def exported(runtime: Runtime, site: str) -> Iterator[Item]:
    """Yield the parts of a site's export."""
    written = b"\n".join(json.dumps(line).encode() for line in lines_of(runtime, site))
    yield from own_lines.parse(io.BytesIO(written))

"""Changes of sites' setting `search`: the schedule indexes a site, or removes its words.

A call stores the note before the setting. The note is due a minute later: by then no container
remembers the former setting, and no call still uses it.
"""

from datetime import datetime, timedelta
from typing import NotRequired, TypedDict

from pymongo import IndexModel

from chalicelib.database import Collection
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime

_OUTLIVES_CALLS = timedelta(minutes=1)


class SearchChange(TypedDict):
    """A site whose comments have to be indexed, or their words removed.

    version: differs between the changes of a site.
    due: the time of the next step; a running step has postponed it.
    after: the id of the last finished node; empty: none.
    node, seq: the unfinished node, and the number of its last finished comment.
    """

    _id: str
    version: str
    due: datetime
    after: str
    node: NotRequired[str]
    seq: NotRequired[int]


SEARCH_CHANGES = Collection("comments.search", SearchChange, indexes=(IndexModel("due"),))


def note(runtime: Runtime, site: str) -> None:
    """Note a change; work on an earlier change of the site ends at its next step."""
    now = runtime.now()
    fields = {"version": new_id(now, runtime.random), "due": now + _OUTLIVES_CALLS, "after": ""}
    begin = {"$set": fields, "$unset": {"node": "", "seq": ""}}
    SEARCH_CHANGES.of(runtime.database).update_one({"_id": site}, begin, upsert=True)

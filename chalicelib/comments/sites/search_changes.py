"""Notes of sites whose setting `search` has changed: the schedule makes their rows agree.

The note is stored before the setting. Containers remember settings for some seconds, and a call
takes some more: a note is due when no call goes by the setting before it.
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
    due: the time of the next step; a step that runs has moved it on.
    after: the id of the last node that a step has ended; empty: none.
    node, seq: a node behind it, and the number of the last comment there with its row.
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

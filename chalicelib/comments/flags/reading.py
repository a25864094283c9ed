"""Who flagged a comment, and why: for its site's moderators."""

from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.flags.answers import FlagAnswer, FlagsAnswer
from chalicelib.comments.flags.models import FlagsQuery
from chalicelib.errors import Forbidden, UnknownComment
from chalicelib.http.paging import Cursors, paged
from chalicelib.identity import Principal
from chalicelib.marks import reading
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


def list_flags(
    runtime: Runtime, node_id: str, comment_id: str, moderator: Principal, query: FlagsQuery
) -> FlagsAnswer:
    """Return a page of a comment's flags, also of one that waits or is hidden.

    Raises UnknownNode, Forbidden, UnknownComment and InvalidCursor.
    """
    node = nodes.find(runtime.database, node_id)
    if not moderates(moderator, node["site"]):
        raise Forbidden(f"You do not moderate the site {node['site']}")
    key = key_of(node, comment_id)
    entry = ENTRIES.of(runtime.database).find_one(key, {"site": 1, "flags": 1})
    if entry is None:
        raise UnknownComment
    cursors = Cursors(f"flags:{key['_id']}", runtime.settings.signing_keys)
    after = cursors.position(query)
    thing = (KIND, thing_id(entry))
    since = after[0] if after else ""
    marks = reading.flagged(runtime.database, thing, since, query.limit + 1)
    shown, last = paged(marks, query.limit)
    return {
        "weight": entry.get("flags", 0) / 100,
        "flags": [_answer(each) for each in shown],
        "next": cursors.following([last["user_id"]] if last else None),
    }


def _answer(mark: Any) -> FlagAnswer:
    flag = mark["flag"]
    return {
        "by": mark["user_id"],
        "reason": flag["reason"],
        "note": flag["note"],
        "flagged_at": flag["at"],
        "weight": flag["weight"] / 100,
        "outcome": flag.get("outcome"),
    }

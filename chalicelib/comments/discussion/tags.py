"""Entity tags of pages of comments: whether the copy that a reader holds is still current.

A page depends on its node and its comments: the node's `version` counts their writes, and a move
changes its generation. It depends on the query and on the caller, too. An author's time to edit
ends without a write; the tag says when.

Votes and reactions raise no version. Where there are any, and in an order by votes, the tag is made
of what the page has of them, too: such a page is read before it is said to be current.

Each write raises the version once it can be read: in the same update, or after it. A page is read
after its node. So a page with all that a version counts, and perhaps more, gets its tag; the other
way round, an old page could keep the tag of a newer one.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from pydantic import SecretStr

from chalicelib import __version__, signing
from chalicelib.comments.answers import CommentAnswer
from chalicelib.comments.permissions import Rights
from chalicelib.comments.shapes import CommentSite, Node
from chalicelib.http import PageQuery

Body = TypeVar("Body")
_TAG_BYTES = 12
_MOST_DIGITS = 15
_JUDGING = ("phrases", "max_links", "approve_first", "repeats", "limits")


@dataclass(frozen=True)
class Listing(Generic[Body]):
    """A page with its entity tag; `body` is None if the caller holds it already."""

    tag: str
    body: Body | None


class Held(NamedTuple):
    """The tags that a caller holds of a listing in one form, JSON or HTML."""

    tags: Sequence[str] = ()
    form: str = "json"


NOTHING_HELD = Held()


@dataclass(frozen=True)
class Tags:
    """The tags of one page for one caller; `digest` is of all but the time."""

    digest: str

    def of(self, comments: Sequence[CommentAnswer], *beside: object, counted: bool) -> str:
        """Return the tag of a page with these comments, and what is beside them.

        Where marks are `counted`, the tag is of those and of their order.
        """
        ends = [each["editable_until"] for each in comments if each["editable_until"]]
        until = _milliseconds(min(ends)) if ends else ""
        return f'"{self.digest}.{until}{_counts(comments, beside) if counted else ""}"'

    def current(self, held: Iterable[str], now: datetime) -> str | None:
        """Return the tag that the caller holds if its page is current, otherwise None."""
        for tag in held:
            digest, _, until = tag.strip('"').partition(".")
            if digest == self.digest and not _is_over(until, now):
                return tag
        return None


def tags_of(
    node: Node, listing: str, query: PageQuery, rights: Rights, keys: Sequence[SecretStr]
) -> Tags:
    """Return the tags of a page of a listing of the node, for the caller of these rights."""
    parts: list[Any] = [__version__, listing, query.model_dump(), rights.told()]
    parts += [
        _shown(rights.settings),
        node["_id"],
        str(node.get("life")),
        node["generation"],
        node.get("version", 0),
        rights.is_open,
    ]
    # By the key that signs cursors: the page of a caller holds no cursor of a key that is gone.
    key = keys[0] if keys else SecretStr("")
    digest = signing.tag(b"page\0" + orjson.dumps(parts), key, _TAG_BYTES)
    return Tags(signing.encode(digest))


def _counts(comments: Sequence[CommentAnswer], beside: Sequence[object]) -> str:
    """Return a digest of the marks of a page's comments, in their order."""
    said = [(each["id"], each["votes"], each["reactions"], each["mine"]) for each in comments]
    # The order of reactions is that of the stored fields, which says nothing.
    told = orjson.dumps([beside, said], option=orjson.OPT_SORT_KEYS)
    return "." + signing.encode(hashlib.blake2b(told, digest_size=_TAG_BYTES).digest())


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _is_over(until: str, now: datetime) -> bool:
    """Return whether a time of a tag, which may be a forged one, has passed."""
    if not until:
        return False
    is_time = until.isascii() and until.isdecimal() and len(until) <= _MOST_DIGITS
    return not is_time or _milliseconds(now) > int(until)


def _shown(settings: CommentSite) -> dict[str, Any]:
    """Return the settings without what texts are judged by, which is much and on no page."""
    return {name: value for name, value in settings.items() if name not in _JUDGING}

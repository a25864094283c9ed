"""Entity tags of pages of comments: they decide whether a reader's copy is current.

A page depends on its node and its comments: the node's `version` counts their writes, and a move
changes its generation. It depends on the query and on the caller, too. An author's time to edit
ends without a write, so the tag contains the end.

Votes and reactions raise no version. If readers can vote or react, or the order is by votes, the
tag covers the page's counts, too. Such a page must be read before its tag is known.

Each write raises the version in the same update, or after it, and a request reads the page after
the node. So a page shows at least the writes that its version counts. In the reverse order, an old
page could carry the tag of a newer page.
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
from chalicelib.comments.nodes import unseen_part
from chalicelib.comments.permissions import Rights
from chalicelib.comments.shapes import CommentSite, Node
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.sites.permissions import moderates

Body = TypeVar("Body")
_TAG_BYTES = 12
_VERSION_BYTES = 9
_MOST_DIGITS = 15
_JUDGING = ("phrases", "max_links", "approve_first", "repeats", "limits")


@dataclass(frozen=True)
class Listing(Generic[Body]):
    """A page with its entity tag; `body`: None if the caller holds a current copy."""

    tag: str
    body: Body | None


class Held(NamedTuple):
    """The tags that a caller holds of a listing in one form, JSON or HTML."""

    tags: Sequence[str] = ()
    form: str = "json"


NOTHING_HELD = Held()


@dataclass(frozen=True)
class Tags:
    """The tags of one page for one caller; `digest` covers all but the time to edit and marks."""

    digest: str

    def of(self, comments: Sequence[CommentAnswer], *beside: object, counted: bool) -> str:
        """Return the tag of a page with these comments, and other parts `beside` them.

        With `counted`, the tag also covers the marks and the order of the comments.
        """
        ends = [each["editable_until"] for each in comments if each["editable_until"]]
        until = _milliseconds(min(ends)) if ends else ""
        return f'"{self.digest}.{until}{_counts(comments, beside) if counted else ""}"'

    def current(self, held: Iterable[str], now: datetime) -> str | None:
        """Return the first of the caller's tags whose page is current; None without any."""
        for tag in held:
            digest, _, until = tag.strip('"').partition(".")
            if digest == self.digest and not _is_over(until, now):
                return tag
        return None


def version_of(node: Node, caller: Principal | None) -> str:
    """Return a text that changes with each change of a node's pages for a caller.

    A shadowed person's own writes change their version: an unchanged one would reveal the shadow.
    """
    own: object = None
    if caller is not None:
        is_moderator = moderates(caller, node["site"])
        own = node.get("shadows") if is_moderator else _unseen(node, caller)
    message = orjson.dumps([*_state(node), own])
    digest = hashlib.blake2b(message, digest_size=_VERSION_BYTES).digest()
    return signing.encode(digest)


def _state(node: Node) -> list[Any]:
    """Return the values of a node that change with its pages for all readers."""
    return [node["_id"], str(node.get("life")), node["generation"], node.get("version", 0)]


def _unseen(node: Node, caller: Principal) -> object:
    return node.get("unseen", {}).get(unseen_part(caller.id))


def tags_of(
    node: Node, listing: str, query: PageQuery, rights: Rights, keys: Sequence[SecretStr]
) -> Tags:
    """Return the tags of a page of a listing of the node, for the caller of these rights."""
    parts: list[Any] = [__version__, listing, query.model_dump(), rights.view_key()]
    parts += [_settings_on_pages(rights.settings), *_state(node), rights.is_open]
    # The key that signs cursors: a copy with cursors of a removed key is not current.
    key = keys[0] if keys else SecretStr("")
    digest = signing.tag(b"page\0" + orjson.dumps(parts), key, _TAG_BYTES)
    return Tags(signing.encode(digest))


def _counts(comments: Sequence[CommentAnswer], beside: Sequence[object]) -> str:
    """Return a digest of the parts `beside`, and of the comments' marks in their order."""
    said = [(each["id"], each["votes"], each["reactions"], each["mine"]) for each in comments]
    # Sorted: the order of reactions is the accidental order of stored fields.
    message = orjson.dumps([beside, said], option=orjson.OPT_SORT_KEYS)
    return "." + signing.encode(hashlib.blake2b(message, digest_size=_TAG_BYTES).digest())


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _is_over(until: str, now: datetime) -> bool:
    """Return whether a tag's time has passed; a malformed time counts as passed."""
    if not until:
        return False
    is_time = until.isascii() and until.isdecimal() and len(until) <= _MOST_DIGITS
    return not is_time or _milliseconds(now) > int(until)


def _settings_on_pages(settings: CommentSite) -> dict[str, Any]:
    """Return the settings that show on pages, without the long rules that judge texts."""
    return {name: value for name, value in settings.items() if name not in _JUDGING}

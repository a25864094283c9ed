"""Previews: signed addresses of drafts, for a week, without a sign-in.

The address contains a key of the page, so a new key ends all earlier addresses. The first reading
of a draft's version stores its HTML, in place of the HTML of the page's earlier version.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import orjson
from pydantic import SecretStr

from chalicelib import signing
from chalicelib.content.answers import without_text
from chalicelib.content.errors import PageTooLarge, UnknownPreview
from chalicelib.content.nodes import NODES
from chalicelib.content.reading.forms import DraftShownAnswer
from chalicelib.content.rendered import RENDERED, RENDERER, render, with_assets
from chalicelib.content.shapes import ContentNode, PageDraft, RenderedDraft
from chalicelib.errors import UnreadableText
from chalicelib.runtime import Runtime

LASTS = timedelta(days=7)


def token_of(node: ContentNode, ends_at: datetime, keys: Sequence[SecretStr]) -> str:
    """Return the token of a preview that ends at a time; raises Misconfigured without a key."""
    fields = [node["site"], node["_id"], node["preview_key"], int(ends_at.timestamp())]
    payload = orjson.dumps(fields)
    tag = signing.tag(_message(payload), signing.signing_key(keys))
    return signing.encode(tag + payload)


def find(runtime: Runtime, token: str) -> ContentNode:
    """Return the page of a preview; raises UnknownPreview for an invalid or ended token."""
    signed = signing.decode(token) or b""
    tag, payload = signed[: signing.TAG_BYTES], signed[signing.TAG_BYTES :]
    if signing.verifying_key(tag, _message(payload), runtime.settings.signing_keys) is None:
        raise UnknownPreview
    site, node_id, key, ends = orjson.loads(payload)
    if runtime.now() >= datetime.fromtimestamp(ends, UTC):
        raise UnknownPreview
    where = {"_id": node_id, "site": site, "preview_key": key, "removed": None}
    node = NODES.of(runtime.database).find_one(where, {"live": 0, "next": 0})
    if node is None:
        raise UnknownPreview
    return node


def html_of(runtime: Runtime, node: ContentNode, draft: PageDraft) -> str:
    """Return the HTML of a draft; render each version once, and store a failure, too.

    Raises PageTooLarge and UnreadableText.
    """
    rows = RENDERED.of(runtime.database)
    here = {"_id": node["_id"], "version": node["version"], "renderer": RENDERER}
    rendered = rows.find_one(here)
    if rendered is None:
        rendered = _render(runtime, node, draft)
        rows.replace_one({"_id": node["_id"]}, rendered, upsert=True)
    if (fault := rendered.get("fault")) is not None:
        raise UnreadableText("detail", fault["code"], fault["detail"])
    if rendered["html"] is None:
        raise PageTooLarge
    return rendered["html"]


def _render(runtime: Runtime, node: ContentNode, draft: PageDraft) -> RenderedDraft:
    rendered: RenderedDraft = {
        "_id": node["_id"],
        "version": node["version"],
        "renderer": RENDERER,
        "html": None,
        # The end of a preview that begins now.
        "expires_at": runtime.now() + LASTS,
    }
    try:
        rendered["html"] = render(runtime, node["type"], draft)
    except PageTooLarge:
        return rendered
    except UnreadableText as unreadable:
        (error,) = unreadable.errors
        rendered["fault"] = {"code": error.code, "detail": error.detail}
    return rendered


def answer(runtime: Runtime, node: ContentNode) -> DraftShownAnswer:
    """Return a draft as readers would see it; raises PageTooLarge and UnreadableText."""
    draft = node["draft"]
    assert draft is not None  # noqa: S101 - only a deleted page has none
    return {
        "site": node["site"],
        "type": node["type"],
        "address": draft["slug"],
        "title": draft["title"],
        "summary": draft["summary"],
        "tags": draft["tags"],
        "detail": without_text(draft["detail"]),
        "html": with_assets(html_of(runtime, node, draft), runtime.settings.public_url),
    }


def _message(payload: bytes) -> bytes:
    return b"preview\0" + payload

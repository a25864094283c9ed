"""Reading of assets: bytes with ranges and entity tags, or their address in a store."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote

from chalicelib.assets import catalogue, kinds
from chalicelib.assets.blobs import BlobGone, store_of
from chalicelib.assets.errors import RangeNeeded, UnknownAsset
from chalicelib.assets.ranges import MOST_BYTES, ByteRange, span_of
from chalicelib.assets.shapes import Asset, Version, address_of
from chalicelib.http import Binary, Found, NotModified, Request, conditional
from chalicelib.runtime import Runtime

# The longest time for which a cache may show a removed version; its bytes never change.
MAX_AGE_SECONDS = 3_600
_KEPT = f"public, max-age={MAX_AGE_SECONDS}"
_SHORTLY = "public, max-age=60"
# Browsers run no script of an asset, and any page may show it.
_SAFE = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Access-Control-Allow-Origin": "*",
}


class Whole(Binary):
    """200: all bytes of a version."""

    media_types = (*kinds.SHOWN, kinds.ANY)


class Part(Binary):
    """206: the bytes of a range, or its first 4 MiB."""

    status = HTTPStatus.PARTIAL_CONTENT
    media_types = (*kinds.SHOWN, kinds.ANY)


class Wanted(NamedTuple):
    """The version that a request reads, and the range; `span` None: the whole version."""

    asset: Asset
    version: Version
    span: ByteRange | None


def current(request: Request, asset_id: str) -> Found:
    """Return the redirect to the current version; raises UnknownAsset."""
    asset = catalogue.find(request.runtime.database, asset_id)
    catalogue.stored_version_of(asset, asset["current"])
    base = request.runtime.settings.public_url
    url = f"{address_of(base, asset_id)}/{asset['current']}"
    return Found(headers={"Location": url, "Cache-Control": _SHORTLY, **_SAFE})


def version(request: Request, asset_id: str, number: int) -> Whole | Part | Found | NotModified:
    """Return the answer for a version: its bytes, a redirect to them, or 304.

    Raises UnknownAsset, RangeNeeded and UnsatisfiableRange.
    """
    asset = catalogue.find(request.runtime.database, asset_id)
    found = catalogue.stored_version_of(asset, number)
    headers = _headers(asset, found)
    blobs = store_of(request.runtime, found["store"])
    address = blobs.reading_address(found["blob"], found["type"], _disposition(asset, found))
    if address is not None and request.raw.method != "HEAD":
        # No tag: a cache would keep the redirect for each 304, beyond the end of its address.
        shown = {name: value for name, value in headers.items() if name != "ETag"}
        return Found(headers={**shown, "Location": address, "Cache-Control": _SHORTLY})
    if headers["ETag"] in conditional.held_tags(request):
        return NotModified(headers=headers)
    return _bytes(request, Wanted(asset, found, _span(request, found)), headers)


def _span(request: Request, version: Version) -> ByteRange | None:
    """Return a request's range; None: the whole version, also if If-Range has another tag."""
    asked = request.raw.headers
    tag = asked.get("if-range")
    if tag is not None and tag.strip() != _tag(version):
        return None
    return span_of(asked.get("range"), version["length"])


def _bytes(request: Request, wanted: Wanted, headers: Mapping[str, str]) -> Whole | Part:
    version, length = wanted.version, wanted.version["length"]
    span = wanted.span or ByteRange(0, length)
    sent = {**headers, "Accept-Ranges": "bytes"}
    if wanted.span is not None:
        sent["Content-Range"] = wanted.span.content_range(length)
    if request.raw.method == "HEAD":
        data, sent["Content-Length"] = b"", str(span.end - span.start)
    elif span.end - span.start > MOST_BYTES:
        raise RangeNeeded(length)
    else:
        data = read(request.runtime, wanted, span)
    kind = Whole if wanted.span is None else Part
    return kind(data, version["type"], sent)


def read(runtime: Runtime, wanted: Wanted, span: ByteRange) -> bytes:
    """Return bytes of a version; if a move has removed its blob meanwhile, from the new blob.

    Raises UnknownAsset for a removed version.
    """
    version = wanted.version
    try:
        return store_of(runtime, version["store"]).read(version["blob"], span.start, span.end)
    except BlobGone:
        asset = catalogue.find(runtime.database, wanted.asset["_id"])
        version = catalogue.stored_version_of(asset, version["n"])
    try:
        return store_of(runtime, version["store"]).read(version["blob"], span.start, span.end)
    except BlobGone:
        raise UnknownAsset from None


def _headers(asset: Asset, version: Version) -> dict[str, str]:
    return {
        "ETag": _tag(version),
        "Cache-Control": _KEPT,
        "Content-Disposition": _disposition(asset, version),
        **_SAFE,
    }


def _tag(version: Version) -> str:
    return f'"{version["sha256"]}"'


def _disposition(asset: Asset, version: Version) -> str:
    """Return Content-Disposition, with the asset's name by RFC 6266."""
    how = "inline" if kinds.is_shown(version["type"]) else "attachment"
    return f"{how}; filename*=UTF-8''{quote(asset['name'], safe='')}"

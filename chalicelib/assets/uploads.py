"""Uploads: begun, sent in parts in any order, and finished as a version.

What a call does twice has the effect of once, and nothing depends on a caller who comes back: an
upload is noted before its first byte, and one that is not finished in a day is swept away.
"""

from datetime import timedelta

from pymongo.client_session import ClientSession

from chalicelib.assets import catalogue, finishing
from chalicelib.assets.blobs import Blobs, part_count, part_length
from chalicelib.assets.blobs.stores import store_of
from chalicelib.assets.errors import (
    AssetTooLarge,
    OtherStore,
    PartsMissing,
    TooManyUploads,
    TooManyVersions,
    UnknownUpload,
    UploadFinished,
)
from chalicelib.assets.models import NewAsset, NewVersion
from chalicelib.assets.shapes import MAX_VERSIONS, UPLOADS, Asset, Upload
from chalicelib.database import in_transaction
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime

KEPT = timedelta(hours=24)
_NAMED_PARTS = 20


def begin(runtime: Runtime, owner: str, asked: NewVersion, by: str, asset_id: str = "") -> Upload:
    """Note an upload of a new asset, or of a new version of the asset that is named.

    Raises AssetTooLarge, StoreUnavailable, TooManyUploads, UnknownAsset, TooManyVersions and
    InvalidRequest.
    """
    if asset_id:
        asset = catalogue.find(runtime.database, asset_id, owner)
        if len(asset["versions"]) >= MAX_VERSIONS:
            raise TooManyVersions
    now = runtime.now()
    blobs = store_of(runtime, catalogue.store_name_of(runtime.database, owner))
    _check(runtime, owner, blobs, asked)
    blob = new_id(now, runtime.random)
    is_stripped = asked.strip and asked.type == "image/jpeg"
    upload: Upload = {
        "_id": blob,
        "asset": asset_id or new_id(now, runtime.random),
        "owner": owner,
        "name": asked.name if isinstance(asked, NewAsset) else None,
        "store": blobs.name,
        "handle": blobs.begin(blob, asked.type),
        "type": asked.type,
        "length": asked.length,
        "sha256": asked.sha256,
        "parts": asked.part_sha256,
        "clean": new_id(now, runtime.random) if is_stripped else None,
        "finished": None,
        "at": now,
        "by": by,
        "expires_at": now + KEPT,
    }
    UPLOADS.of(runtime.database).insert_one(upload)
    return upload


def _check(runtime: Runtime, owner: str, blobs: Blobs, asked: NewVersion) -> None:
    # A stripped picture is held in memory.
    most = finishing.MOST_STRIPPED_BYTES if asked.strip and asked.type == "image/jpeg" else None
    if asked.length > min(blobs.max_bytes, most or blobs.max_bytes):
        raise AssetTooLarge(f"The limit is {min(blobs.max_bytes, most or blobs.max_bytes)} bytes")
    count = part_count(blobs, asked.length)
    if blobs.needs_digests and len(asked.part_sha256) != count:
        told = f"this store needs the SHA-256 of each of the {count} parts"
        raise InvalidRequest(errors=[FieldError("part_sha256", "wrong_number", told)])
    unfinished = {"owner": owner, "finished": None, "expires_at": {"$gt": runtime.now()}}
    held = UPLOADS.of(runtime.database).count_documents(
        unfinished, limit=runtime.bounds.assets.unfinished_uploads
    )
    if held >= runtime.bounds.assets.unfinished_uploads:
        raise TooManyUploads


def find(runtime: Runtime, owner: str, upload_id: str) -> Upload:
    """Return an upload of an owner; raises UnknownUpload, also when its time is over."""
    found = UPLOADS.of(runtime.database).find_one({"_id": upload_id})
    if found is None or found["owner"] != owner or found["expires_at"] <= runtime.now():
        raise UnknownUpload
    return found


def put_part(runtime: Runtime, owner: str, upload_id: str, number: int, data: bytes) -> None:
    """Store a part, numbered from 0; one that is stored stays as it is.

    Raises UnknownUpload, UploadFinished, OtherStore, and InvalidRequest for another length than the
    part has.
    """
    upload = find(runtime, owner, upload_id)
    if upload["finished"] is not None:
        raise UploadFinished
    blobs = store_of(runtime, upload["store"])
    if blobs.needs_digests:
        raise OtherStore
    wanted = part_length(blobs, number, upload["length"])
    if wanted <= 0:
        told = f"the upload has {part_count(blobs, upload['length'])} parts"
        raise InvalidRequest(errors=[FieldError("number", "no_such_part", told)])
    if len(data) != wanted:
        told = f"this part has {wanted} bytes, and {len(data)} were sent"
        raise InvalidRequest(errors=[FieldError("", "wrong_length", told)])
    blobs.part(upload_id, upload["handle"], number, data)


def finish(runtime: Runtime, owner: str, upload_id: str) -> Asset:
    """Make an upload the current version of its asset; a repeated call returns the same.

    Raises UnknownUpload, PartsMissing, WrongContent, UnreadableImage, UnknownAsset and
    TooManyVersions.
    """
    upload = find(runtime, owner, upload_id)
    if upload["finished"] is not None:
        return catalogue.find(runtime.database, upload["asset"], owner)
    blobs = store_of(runtime, upload["store"])
    present = blobs.present(upload_id, upload["handle"], upload["length"])
    missing = sorted(set(range(part_count(blobs, upload["length"]))) - present)
    if missing:
        named = ", ".join(str(number + 1) for number in missing[:_NAMED_PARTS])
        raise PartsMissing(f"{len(missing)} are missing: {named}")
    content = finishing.content_of(blobs, upload)

    def publish(session: ClientSession) -> Asset:
        return finishing.publish(runtime, session, upload, content)

    return in_transaction(runtime.database, publish)

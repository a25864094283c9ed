"""Uploads: an owner begins one, sends its parts in any order, and finishes it as a version.

A repeat changes nothing, except that a second beginning makes a second upload. A caller may stop at
any step: the database has an upload before its first byte, and a sweep removes an upload that is
unfinished after a day.
"""

from datetime import timedelta
from typing import NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.assets import catalogue, images, jpeg, kinds, quotas
from chalicelib.assets.blobs import (
    BlobGone,
    Blobs,
    check_digests,
    check_part,
    hash_of,
    most_bytes,
    part_count,
    pieces,
    store_of,
    write,
)
from chalicelib.assets.errors import (
    AssetTooLarge,
    OtherKind,
    PartsMissing,
    TooManyUploads,
    TooManyVersions,
    UnknownAsset,
    UnknownUpload,
    UnreadableImage,
    UploadFinished,
    WrongContent,
)
from chalicelib.assets.forms import NewAsset, NewVersion
from chalicelib.assets.shapes import (
    ASSETS,
    LIBRARIES,
    MAX_VERSIONS,
    UPLOADS,
    WASTE,
    Asset,
    Library,
    Refusal,
    Upload,
    Version,
)
from chalicelib.database import in_transaction
from chalicelib.errors import Problem
from chalicelib.ids import new_id
from chalicelib.runtime import LONGEST_RUN, Runtime

KEPT = timedelta(hours=24)
_NAMED_PARTS = 20
_REFUSALS: dict[str, type[Problem]] = {each.code: each for each in (WrongContent, UnreadableImage)}


class Content(NamedTuple):
    """The content of a new version: a blob, and the properties of its bytes."""

    blob: str
    type: str
    length: int
    sha256: str
    size: images.PixelSize | None


def content_of(blobs: Blobs, upload: Upload) -> Content:
    """Finish the blob, strip its metadata if asked, and return its checked content.

    Raises WrongContent, UnreadableImage, and PartsMissing if a sweep has removed the blob.
    """
    blob, length = upload["_id"], upload["length"]
    try:
        blobs.finish(blob, upload["handle"], length)
        if upload["type"] in kinds.IMAGES:
            return _picture(blobs, upload)
        media_type = _type_of(blobs.read(blob, 0, min(length, kinds.HEAD_BYTES)), upload["type"])
        if blobs.is_checked(length) and hash_of(pieces(blobs, blob, length)) != upload["sha256"]:
            raise WrongContent("Their SHA-256 is another one")
    except BlobGone:
        raise PartsMissing from None
    return Content(blob, media_type, length, upload["sha256"], None)


def _type_of(head: bytes, claimed: str) -> str:
    """Return the type of a file's first bytes; raises WrongContent if the claim differs."""
    found = kinds.sniff(head)
    if found != (claimed if kinds.is_shown(claimed) else kinds.ANY):
        raise WrongContent(f"Their type is {found}")
    return found


def _picture(blobs: Blobs, upload: Upload) -> Content:
    """Return a picture's content; if asked, strip a JPEG of its metadata into the blob `clean`.

    Every attempt writes the same bytes to `clean`. Raises UnreadableImage and WrongContent.
    """
    blob, length, clean = upload["_id"], upload["length"], upload["clean"]
    if length > blobs.max_picture_bytes:
        raise UnreadableImage(f"The limit is {blobs.max_picture_bytes} bytes")
    raw = b"".join(pieces(blobs, blob, length))
    media_type = _type_of(raw[: kinds.HEAD_BYTES], upload["type"])
    if hash_of([raw]) != upload["sha256"]:
        raise WrongContent("Their SHA-256 is another one")
    if clean is None or media_type != "image/jpeg":
        return Content(blob, media_type, length, upload["sha256"], images.size_of(raw))
    stripped = jpeg.strip(raw)
    size = images.size_of(stripped)
    write(blobs, clean, media_type, [stripped], len(stripped))
    return Content(clean, media_type, len(stripped), hash_of([stripped]), size)


def publish_version(
    runtime: Runtime, session: ClientSession, upload: Upload, content: Content
) -> Asset:
    """Make the content the current version; return the asset. A repeated call adds no version.

    Raises UnknownUpload, UnknownAsset, TooManyVersions, OtherKind and StorageFull.
    """
    assets, uploads = ASSETS.of(runtime.database), UPLOADS.of(runtime.database)
    noted = uploads.find_one({"_id": upload["_id"]}, session=session)
    if noted is None:
        raise UnknownUpload
    asset = assets.find_one({"_id": upload["asset"]}, session=session)
    if noted["finished"] is not None and asset is not None:
        return asset
    if noted["finished"] is not None or (asset is None and upload["name"] is None):
        raise UnknownAsset
    if asset is not None:
        _check_version(asset, content.type)
    quotas.change(runtime, session, upload["owner"], content.length)
    asset = _with(runtime, upload, asset, _version(runtime, upload, content, asset))
    assets.replace_one({"_id": asset["_id"]}, asset, upsert=True, session=session)
    done = {"$set": {"finished": asset["current"]}}
    uploads.update_one({"_id": upload["_id"]}, done, session=session)
    # A move that began before the upload was stored may have ended without it.
    moved = {"_id": upload["owner"], "store": {"$ne": upload["store"]}, "due": None}
    unsettled = {"$set": {"due": runtime.now()}, "$unset": {"resends": "", "resent_by": ""}}
    LIBRARIES.of(runtime.database).update_one(moved, unsettled, session=session)
    if content.blob != upload["_id"]:
        # The uploaded blob with the metadata: the version has the stripped copy.
        WASTE.of(runtime.database).insert_one(
            {
                "_id": upload["_id"],
                "store": upload["store"],
                "asset": asset["_id"],
                "due": runtime.now() + LONGEST_RUN,
            },
            session=session,
        )
    return asset


def _check_version(asset: Asset, media_type: str) -> None:
    """Raise TooManyVersions for a full asset, and OtherKind for a type of another kind."""
    if len(asset["versions"]) >= MAX_VERSIONS:
        raise TooManyVersions
    kind = kinds.kind_of(asset["versions"][asset["current"] - 1]["type"])
    if kinds.kind_of(media_type) != kind:
        raise OtherKind(f"Its kind is: {kind}")


def _version(runtime: Runtime, upload: Upload, content: Content, asset: Asset | None) -> Version:
    version: Version = {
        "n": len(asset["versions"]) + 1 if asset else 1,
        "blob": content.blob,
        "store": upload["store"],
        "type": content.type,
        "length": content.length,
        "sha256": content.sha256,
        "at": runtime.now(),
        "by": upload["by"],
    }
    if content.size is not None:
        version["width"], version["height"] = content.size
    return version


def _with(runtime: Runtime, upload: Upload, asset: Asset | None, version: Version) -> Asset:
    """Return an asset with this version added and current; without an asset, a new asset."""
    if asset is not None:
        return {**asset, "current": version["n"], "versions": [*asset["versions"], version]}
    return {
        "_id": upload["asset"],
        "owner": upload["owner"],
        "name": upload["name"] or "",
        "current": version["n"],
        "versions": [version],
        "used_by": 0,
        "made": runtime.now(),
    }


def begin(runtime: Runtime, owner: str, asked: NewVersion, by: str, asset_id: str = "") -> Upload:
    """Store an upload of a new asset; with `asset_id`, of a new version of this asset.

    Raises AssetTooLarge, StoreUnavailable, StorageFull, TooManyUploads, UnknownAsset,
    TooManyVersions, OtherKind and InvalidRequest.
    """
    if asset_id:
        asset = catalogue.find(runtime.database, asset_id, owner)
        _check_version(asset, asked.type)
    now = runtime.now()
    library = catalogue.library_of(runtime.database, owner)
    blobs = store_of(runtime, library["store"])
    _check(runtime, library, blobs, asked)
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


def _check(runtime: Runtime, library: Library, blobs: Blobs, asked: NewVersion) -> None:
    most = most_bytes(blobs, asked.type)
    if asked.length > most:
        raise AssetTooLarge(f"The limit is {most} bytes")
    check_digests(blobs, asked.length, asked.part_sha256)
    unfinished = catalogue.unfinished_filter(library["_id"], runtime.now())
    most_uploads = runtime.bounds.assets.unfinished_uploads
    begun = list(UPLOADS.of(runtime.database).find(unfinished, {"length": 1}).limit(most_uploads))
    if len(begun) >= most_uploads:
        raise TooManyUploads
    # Parts of unfinished uploads are stored as well.
    held = quotas.count_bytes(runtime.database, library["_id"], library)
    pending = sum(each["length"] for each in begun)
    quotas.check_room(runtime.settings, library["_id"], held + pending, asked.length)


def find(runtime: Runtime, owner: str, upload_id: str) -> Upload:
    """Return an upload of an owner; raises UnknownUpload, also for an expired upload."""
    found = UPLOADS.of(runtime.database).find_one({"_id": upload_id})
    if found is None or found["owner"] != owner or found["expires_at"] <= runtime.now():
        raise UnknownUpload
    return found


def put_part(runtime: Runtime, owner: str, upload_id: str, number: int, data: bytes) -> None:
    """Store a part, numbered from 0; a stored part stays as it is.

    Raises UnknownUpload, UploadFinished, OtherStore, and InvalidRequest for a wrong number or
    length.
    """
    upload = find(runtime, owner, upload_id)
    # A refused upload is waste: the store would hold new parts outside of the quota.
    if upload["finished"] is not None or "refused" in upload:
        raise UploadFinished
    blobs = store_of(runtime, upload["store"])
    check_part(blobs, number, upload["length"], data)
    blobs.part(upload_id, upload["handle"], number, data)


def finish(runtime: Runtime, owner: str, upload_id: str) -> Asset:
    """Make an upload the current version of its asset; a repeat returns the same asset.

    A refusal is final, since the bytes never change: a repeat raises it again without reading.
    Raises UnknownUpload, PartsMissing, WrongContent, UnreadableImage, UnknownAsset,
    TooManyVersions, OtherKind and StorageFull.
    """
    upload = find(runtime, owner, upload_id)
    if (refusal := upload.get("refused")) is not None:
        raise _REFUSALS[refusal["code"]](refusal["detail"])
    if upload["finished"] is not None:
        return catalogue.find(runtime.database, upload["asset"], owner)
    blobs = store_of(runtime, upload["store"])
    present = blobs.present(upload_id, upload["handle"], upload["length"])
    missing = sorted(set(range(part_count(blobs, upload["length"]))) - present)
    if missing:
        named = ", ".join(str(number + 1) for number in missing[:_NAMED_PARTS])
        raise PartsMissing(f"{len(missing)} are missing: {named}")
    try:
        content = content_of(blobs, upload)
    except tuple(_REFUSALS.values()) as refused:
        _refuse(runtime, upload, refused)
        raise

    def publish(session: ClientSession) -> Asset:
        return publish_version(runtime, session, upload, content)

    return in_transaction(runtime.database, publish)


def _refuse(runtime: Runtime, upload: Upload, problem: Problem) -> None:
    """Store the refusal of an upload, and make its blobs waste, unless a call has ended it."""
    refusal: Refusal = {"code": problem.code, "detail": problem.detail}
    due = runtime.now() + LONGEST_RUN

    def note(session: ClientSession) -> None:
        still = {"_id": upload["_id"], "finished": None, "refused": None}
        noted = UPLOADS.of(runtime.database).update_one(
            still, {"$set": {"refused": refusal}}, session=session
        )
        if noted.modified_count:
            catalogue.waste_upload(runtime.database, upload, due, session)

    in_transaction(runtime.database, note)

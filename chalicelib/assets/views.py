"""The common part of the routes for sites and for people: both act on an owner's assets."""

from typing import Annotated

from pydantic import Field

from chalicelib.assets import catalogue, uploads
from chalicelib.assets.blobs import store_of
from chalicelib.assets.blobs.gridfs import PART_BYTES
from chalicelib.assets.errors import (
    AssetTooLarge,
    OtherKind,
    OtherStore,
    PartsMissing,
    StorageFull,
    TooManyUploads,
    TooManyVersions,
    UnknownAsset,
    UnknownUpload,
    UnreadableImage,
    UploadFinished,
    WrongContent,
)
from chalicelib.assets.forms import (
    AssetAnswer,
    NewVersion,
    UploadAnswer,
    WholeAssetAnswer,
    asset_answer,
    upload_answer,
    whole_answer,
)
from chalicelib.assets.shapes import MAX_PARTS, MAX_VERSIONS, Upload
from chalicelib.http import Created, NoContent, Ok, Request

# A thousand digests of parts, and the other fields of a new upload.
BEGIN_BYTES = 131_072
OF_BEGIN = (AssetTooLarge, StorageFull, TooManyUploads)
# All assets of people are pictures, so no upload is of another kind.
OF_OWN_VERSION = (*OF_BEGIN, UnknownAsset, TooManyVersions)
OF_VERSION = (*OF_OWN_VERSION, OtherKind)
# People choose no store, so their parts always come through this API.
OF_OWN_PART = (UnknownUpload, UploadFinished)
OF_PART = (*OF_OWN_PART, OtherStore)
OF_OWN_FINISH = (
    UnknownUpload,
    PartsMissing,
    WrongContent,
    UnreadableImage,
    UnknownAsset,
    TooManyVersions,
    StorageFull,
)
OF_FINISH = (*OF_OWN_FINISH, OtherKind)
# Arguments of the routes for a part: the body is its bytes alone.
PART = {"content_types": ("application/octet-stream",), "body_limit_bytes": PART_BYTES}
VersionNumber = Annotated[int, Field(ge=1, le=MAX_VERSIONS)]
PartNumber = Annotated[int, Field(ge=1, le=MAX_PARTS, description="The first part is 1.")]


def site_folder(site: str) -> str:
    """Return the path prefix of the routes for a site's assets and uploads."""
    return f"/content/{site}"


def begin(
    request: Request, owner: str, folder: str, body: NewVersion, asset_id: str = ""
) -> Created[UploadAnswer]:
    """Begin an upload of a new asset; with `asset_id`, of a new version."""
    by = request.principal().id
    upload = uploads.begin(request.runtime, owner, body, by, asset_id)
    request.details["upload"] = upload["_id"]
    location = request.location(f"{folder}/uploads/{upload['_id']}")
    return Created(_answer(request, folder, upload), location)


def read_upload(request: Request, owner: str, folder: str, upload_id: str) -> Ok[UploadAnswer]:
    """Return an owner's upload as an answer; raises UnknownUpload."""
    return Ok(_answer(request, folder, uploads.find(request.runtime, owner, upload_id)))


def put_part(request: Request, owner: str, upload_id: str, number: int, data: bytes) -> NoContent:
    """Store a part, numbered from 1."""
    uploads.put_part(request.runtime, owner, upload_id, number - 1, data)
    return NoContent()


def finish(request: Request, owner: str, upload_id: str) -> Ok[AssetAnswer]:
    """Finish an upload; return the answer with its asset."""
    asset = uploads.finish(request.runtime, owner, upload_id)
    return Ok(asset_answer(request.runtime.settings.public_url, asset))


def read(request: Request, owner: str, asset_id: str) -> Ok[WholeAssetAnswer]:
    """Return an owner's asset and its versions as an answer; raises UnknownAsset."""
    asset = catalogue.find(request.runtime.database, asset_id, owner)
    return Ok(whole_answer(request.runtime.settings.public_url, asset))


def _answer(request: Request, folder: str, upload: Upload) -> UploadAnswer:
    runtime = request.runtime
    return upload_answer(runtime, folder, store_of(runtime, upload["store"]), upload)

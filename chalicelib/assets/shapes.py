"""Stored documents of assets, their collections, ids and addresses."""

import re
from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import Field, StringConstraints
from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost

StoreName = Literal["gridfs", "s3"]
DEFAULT_STORE: StoreName = "gridfs"
MAX_VERSIONS = 50
MAX_PARTS = 1_000


class Version(TypedDict):
    """A version of an asset; its bytes never change.

    `by`: the uploader; None after the uploader's erasure.
    `gone`: the time of its removal; the asset and its other versions stay.
    """

    n: int
    blob: str
    store: StoreName
    type: str
    length: int
    sha256: str
    width: NotRequired[int]
    height: NotRequired[int]
    at: datetime
    by: str | None
    gone: NotRequired[datetime]


class Asset(TypedDict):
    """A named list of versions; `owner`: a site, or a person as `~ann`.

    `current`: the number of the shown version. `used_by`: the number of uses by other features.
    """

    _id: str
    owner: str
    name: str
    current: int
    versions: Annotated[list[Version], AtMost(MAX_VERSIONS)]
    used_by: int
    made: datetime


class Refusal(TypedDict):
    """The problem that refuses an upload's bytes for good."""

    code: str
    detail: str | None


class Upload(TypedDict):
    """An upload of a version in parts; `_id` is also the id of the blob.

    name: the name of a new asset; None: a new version of an existing asset.
    clean: the blob of the picture without metadata; None: no stripping.
    handle: the store's own name of the upload.
    finished: the version's number; None: unfinished.
    refused: the reason why it can never finish.
    """

    _id: str
    asset: str
    owner: str
    name: str | None
    store: StoreName
    handle: str
    type: str
    length: int
    sha256: str
    parts: Annotated[list[str], AtMost(MAX_PARTS)]
    clean: str | None
    finished: int | None
    refused: NotRequired[Refusal]
    at: datetime
    by: str | None
    expires_at: datetime


class Waste(TypedDict):
    """A blob for removal at `due`, unless a version has it by then."""

    _id: str
    store: StoreName
    asset: str
    due: datetime


class Library(TypedDict):
    """The chosen store of an owner's assets, their number of bytes, and their move.

    `bytes`: of all versions except removed versions; missing until the first change counts them.
    `due`: the time to send the message of an unfinished move again; None: no move.
    """

    _id: str
    store: StoreName
    bytes: NotRequired[int]
    due: datetime | None
    resends: NotRequired[int]
    resent_by: NotRequired[str]


class File(TypedDict):
    """A blob in GridFS, with the field names of its specification."""

    _id: str
    length: int
    chunkSize: int
    uploadDate: datetime


class Chunk(TypedDict):
    """A piece of a blob in GridFS."""

    _id: str
    files_id: str
    n: int
    data: bytes


ASSETS = Collection(
    "content.asset",
    Asset,
    indexes=(
        IndexModel([("owner", ASCENDING), ("made", DESCENDING), ("_id", ASCENDING)]),
        # For an erasure and an export.
        IndexModel([("versions.by", ASCENDING)]),
    ),
)
UPLOADS = Collection(
    "content.upload",
    Upload,
    indexes=(
        IndexModel([("expires_at", ASCENDING)]),
        IndexModel([("owner", ASCENDING), ("finished", ASCENDING)]),
        IndexModel([("by", ASCENDING)]),
    ),
)
WASTE = Collection("content.waste", Waste, indexes=(IndexModel([("due", ASCENDING)]),))
LIBRARIES = Collection("content.library", Library, indexes=(IndexModel([("due", ASCENDING)]),))
FILES = Collection("asset.files", File)
CHUNKS = Collection(
    "asset.chunks",
    Chunk,
    indexes=(IndexModel([("files_id", ASCENDING), ("n", ASCENDING)], unique=True),),
    shard_key={"files_id": 1},
)

# Wider than the ids that Plaza makes: most wrong ids are unknown, not malformed.
_ID = r"^[A-Za-z0-9_-]{1,32}$"

AssetId = Annotated[
    str,
    StringConstraints(pattern=_ID),
    Field(description="An asset's id.", examples=["aaneGAECAwQFBgcI"]),
]
UploadId = Annotated[
    str,
    StringConstraints(pattern=_ID),
    Field(description="An upload's id.", examples=["aaneGBECAwQFBgcI"]),
]
_REFERENCE = re.compile(r"asset:([A-Za-z0-9_-]{16})")


def owner_of_person(user_id: str) -> str:
    """Return the owner of a person's own assets; no site has such an id."""
    return f"~{user_id}"


def is_of_site(owner: str) -> bool:
    """Return whether an owner is a site, and no person."""
    return not owner.startswith("~")


def parse_reference(text: str | None) -> str | None:
    """Return the id in `asset:<id>`; None for another text."""
    found = _REFERENCE.fullmatch(text or "")
    return found[1] if found else None


def address_of(public_url: str, asset_id: str) -> str:
    """Return the address of the current version of an asset."""
    return f"{public_url}/assets/{asset_id}"

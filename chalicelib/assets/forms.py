"""The API's forms of assets and uploads, with every bound."""

from datetime import datetime
from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.assets.blobs import Blobs, part_count
from chalicelib.assets.shapes import (
    MAX_PARTS,
    MAX_VERSIONS,
    Asset,
    AssetId,
    StoreName,
    Upload,
    UploadId,
    Version,
    address_of,
)
from chalicelib.http import MAX_PAGE, Input
from chalicelib.http.paging import Next
from chalicelib.people.ids import UserId
from chalicelib.runtime import Runtime
from chalicelib.texts import Line, OwnUrl, ShownLine, ShownName

# The limit of `s3`, the largest of all stores.
MOST_BYTES = 5 * 1024**3

Digest = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{64}$"),
    Field(description="A SHA-256 in hexadecimals."),
]
MediaType = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z]{1,32}/[a-z0-9][a-z0-9.+-]{0,94}$"),
    Field(examples=["image/jpeg"]),
]


class NewVersion(Input):
    """The content of an asset, as it is going to be sent."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"type": "image/png", "length": 70, "sha256": "9f86d081" + "0" * 56}]
        }
    )

    type: MediaType = Field(
        description="What it is. The first bytes decide: an upload that claims otherwise is "
        "refused. Types that browsers are not to show are served as downloads."
    )
    length: int = Field(ge=1, le=MOST_BYTES, description="In bytes.")
    sha256: Digest
    strip: bool = Field(
        default=True,
        description="Whether a JPEG loses its metadata, such as where it was taken; what it needs "
        "to be shown stays.",
    )
    part_sha256: Annotated[list[Digest], Field(max_length=MAX_PARTS)] = Field(
        default=[],
        description="The SHA-256 of each part of 8 MiB, which the store `s3` needs.",
    )


class NewAsset(NewVersion):
    """A new asset: its name and its first content."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "lighthouse.jpg",
                    "type": "image/jpeg",
                    "length": 48_211,
                    "sha256": "9f86d081" + "0" * 56,
                }
            ]
        }
    )

    name: Line = Field(description="What a download is called; at most 200 characters.")


class AssetStore(Input):
    """Where a site's assets are to be kept."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"store": "s3"}]})

    store: StoreName


# Of a signed address: the name and the value of a checksum.
_Header = Annotated[str, Field(pattern=r"^[ -!#-\[\]-~]{0,100}$")]
Headers = Annotated[dict[_Header, _Header], Field(max_length=5)]
Width = Annotated[int, Field(description="Of a picture, in pixels, as it is shown.")]


class VersionAnswer(TypedDict):
    """One content of an asset, at an address whose bytes never change, unless it is removed."""

    number: int
    url: Annotated[OwnUrl, Field(examples=["https://plaza.example/assets/aaneGAECAwQFBgcI/1"])]
    type: Annotated[ShownName, Field(examples=["image/jpeg"])]
    length: Annotated[int, Field(description="In bytes.")]
    sha256: Digest
    width: NotRequired[Width]
    height: NotRequired[Width]
    made_at: datetime
    made_by: Annotated[UserId | None, Field(description="Null for somebody who was erased.")]
    removed_at: NotRequired[
        Annotated[datetime, Field(description="Since when its address leads nowhere.")]
    ]


class AssetAnswer(TypedDict):
    """An asset with its current version."""

    id: AssetId
    name: ShownLine
    url: Annotated[
        OwnUrl,
        Field(
            description="Where its current version is; `asset:<id>` stands for it in the API.",
            examples=["https://plaza.example/assets/aaneGAECAwQFBgcI"],
        ),
    ]
    made_at: datetime
    used_by: Annotated[int, Field(description="How many things show it; while any does, it stays.")]
    current: VersionAnswer


class WholeAssetAnswer(AssetAnswer):
    """An asset with all its versions."""

    versions: Annotated[list[VersionAnswer], Field(max_length=MAX_VERSIONS)]


class StorageAnswer(TypedDict):
    """The bytes of all versions of an owner's assets, and their limit."""

    bytes: int
    bytes_limit: int


class AssetsAnswer(TypedDict):
    """A page of an owner's assets, newest first."""

    assets: Annotated[list[AssetAnswer], Field(max_length=MAX_PAGE)]
    storage: StorageAnswer
    next: Next


class PartAnswer(TypedDict):
    """Where a part goes, by PUT."""

    number: int
    url: OwnUrl
    headers: Annotated[Headers, Field(description="What the PUT has to send besides.")]
    is_stored: bool


class UploadAnswer(TypedDict):
    """An upload, and what it still needs."""

    id: UploadId
    asset_id: AssetId
    store: StoreName
    part_bytes: Annotated[
        int, Field(description="The length of each part but the last.", examples=[4_194_304])
    ]
    parts: Annotated[list[PartAnswer], Field(max_length=MAX_PARTS)]
    finish_url: OwnUrl
    expires_at: datetime


class LibraryAnswer(TypedDict):
    """Where a site's assets are kept."""

    store: StoreName
    is_moving: Annotated[bool, Field(description="Whether some are still in another store.")]
    storage: StorageAnswer


def version_answer(base: str, asset_id: str, version: Version) -> VersionAnswer:
    """Return the API's form of a version."""
    answer: VersionAnswer = {
        "number": version["n"],
        "url": f"{address_of(base, asset_id)}/{version['n']}",
        "type": version["type"],
        "length": version["length"],
        "sha256": version["sha256"],
        "made_at": version["at"],
        "made_by": version["by"],
    }
    if "width" in version and "height" in version:
        answer["width"], answer["height"] = version["width"], version["height"]
    if "gone" in version:
        answer["removed_at"] = version["gone"]
    return answer


def asset_answer(base: str, asset: Asset) -> AssetAnswer:
    """Return the API's form of an asset in a list."""
    return {
        "id": asset["_id"],
        "name": asset["name"],
        "url": address_of(base, asset["_id"]),
        "made_at": asset["made"],
        "used_by": asset["used_by"],
        "current": version_answer(base, asset["_id"], asset["versions"][asset["current"] - 1]),
    }


def whole_answer(base: str, asset: Asset) -> WholeAssetAnswer:
    """Return the API's form of an asset with all versions."""
    versions = [version_answer(base, asset["_id"], each) for each in asset["versions"]]
    return {**asset_answer(base, asset), "versions": versions}


def upload_answer(runtime: Runtime, folder: str, blobs: Blobs, upload: Upload) -> UploadAnswer:
    """Return the API's form of an upload; `folder` is the path above its calls."""
    here = f"{runtime.settings.public_url}{folder}/uploads/{upload['_id']}"
    given = blobs.addresses(upload["_id"], upload["handle"], upload["parts"])
    stored = blobs.present(upload["_id"], upload["handle"], upload["length"])
    parts: list[PartAnswer] = [
        {
            "number": number + 1,
            "url": given[number].url if given else f"{here}/parts/{number + 1}",
            "headers": (
                dict(given[number].headers)
                if given
                else {"Content-Type": "application/octet-stream"}
            ),
            "is_stored": number in stored,
        }
        for number in range(part_count(blobs, upload["length"]))
    ]
    return {
        "id": upload["_id"],
        "asset_id": upload["asset"],
        "store": upload["store"],
        "part_bytes": blobs.part_bytes,
        "parts": parts,
        "finish_url": f"{here}/finish",
        "expires_at": upload["expires_at"],
    }

"""Request bodies of assets."""

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from chalicelib.assets.shapes import MAX_PARTS, StoreName
from chalicelib.http import Input
from chalicelib.texts import Line

# What `s3` takes, which is more than any other store does.
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
    """A name, and its first content."""

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

    store: StoreName

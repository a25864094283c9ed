"""Creatives: their four kinds, and the large ones' own collection."""

import hashlib
import re
from typing import Annotated, Literal, NotRequired, TypedDict
from urllib.parse import urlsplit

import bson
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    UrlConstraints,
)
from pydantic_core import Url
from pymongo import DeleteMany, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.assets import pictures
from chalicelib.database import Collection, Document
from chalicelib.database.validators import OPAQUE
from chalicelib.http import Input


class StoredImage(TypedDict):
    """A stored picture; `alt` is its description for blind readers."""

    type: Literal["image"]
    landing_url: str
    url: str
    width: int
    height: int
    alt: str


class StoredText(TypedDict):
    """A stored headline with a line below it."""

    type: Literal["text"]
    landing_url: str
    headline: str
    body: str


class StoredHtml(TypedDict):
    """Stored markup."""

    type: Literal["html"]
    landing_url: str
    html: str


class StoredNative(TypedDict):
    """Stored texts with names."""

    type: Literal["native"]
    landing_url: str
    fields: dict[str, str]


StoredCreative = StoredImage | StoredText | StoredHtml | StoredNative


class StoredAdUnit(TypedDict):
    """One ad of a campaign; `asset` is the id of its picture, if that is an asset."""

    ad_unit_id: str
    keywords: list[str]
    creative: StoredCreative
    asset: NotRequired[str]


class CampaignUnits(TypedDict):
    """The creatives of a campaign."""

    _id: str
    ad_units: list[StoredAdUnit]


class Placed(TypedDict):
    """A creative in a zone's row: the creative, or the id and type of a large creative."""

    creative: NotRequired[StoredCreative]
    creative_id: NotRequired[str]
    creative_type: NotRequired[str]


class LargeCreative(TypedDict):
    """A creative too large for a zone's row."""

    _id: str
    creative: Annotated[StoredCreative, OPAQUE]


# A creative's id contains a digest of its content, so a document here never changes. A container
# reads it only for a chosen ad, and may cache it without revalidation.
CREATIVES = Collection("ad.creative", LargeCreative)

MAX_INLINE_BYTES = 1_024
MAX_HTML_BYTES = 16 * 1_024
MAX_URL_CHARACTERS = 2_048
MAX_LINE_CHARACTERS = 512
MAX_PIXELS = 10_000
MAX_NATIVE_FIELDS = 16

_SECURE_URL: TypeAdapter[Url] = TypeAdapter(
    Annotated[
        Url,
        UrlConstraints(
            allowed_schemes=["https"], host_required=True, max_length=MAX_URL_CHARACTERS
        ),
    ],
    config=ConfigDict(defer_build=True),
)


def _secure_url(text: str) -> str:
    """Return the canonical form of an https URL.

    Raises ValueError for a URL that is too long, or with credentials, which mislead a visitor.
    """
    url = str(_SECURE_URL.validate_python(text))
    if len(url) > MAX_URL_CHARACTERS or "@" in urlsplit(url).netloc:
        raise ValueError("a URL must not hold credentials or be too long")
    return url


def _html(text: str) -> str:
    if len(text.encode()) > MAX_HTML_BYTES:
        raise ValueError(f"the HTML must have at most {MAX_HTML_BYTES} bytes")
    # HTML has no NUL; DEL shows nothing, and takes six bytes of a response.
    if "\0" in text or "\x7f" in text:
        raise ValueError("the HTML must not contain NUL or DEL")
    return text


SecureUrl = Annotated[
    str,
    StringConstraints(max_length=MAX_URL_CHARACTERS),
    AfterValidator(_secure_url),
    Field(
        description="An https URL without credentials.",
        json_schema_extra={"format": "uri", "pattern": "^https://"},
    ),
]


def _picture_url(text: str) -> str:
    """Return an asset's reference or address unchanged, any other text as an https URL."""
    return text if _ASSET.fullmatch(text) else _secure_url(text)


# A stored ad has the address of an asset's version, which never changes.
_ASSET = re.compile(r"asset:[A-Za-z0-9_-]{16}|/assets/[A-Za-z0-9_-]{16}/[0-9]{1,2}")
PictureUrl = Annotated[
    str,
    StringConstraints(max_length=MAX_URL_CHARACTERS),
    AfterValidator(_picture_url),
    Field(
        description="An https URL without credentials; or `asset:<id>`, for the present version of "
        "a picture of your own, or of a site that you write for.",
        json_schema_extra={"pattern": "^(https://|asset:[A-Za-z0-9_-]{16}$|/assets/)"},
    ),
]
_LINE = r"^[^\x00-\x1f\x7f]*$"
Line = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_LINE_CHARACTERS, pattern=_LINE)
]
Html = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_HTML_BYTES), AfterValidator(_html)
]
Pixels = Annotated[int, Field(ge=1, le=MAX_PIXELS)]
FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


class ImageCreative(Input):
    """A picture, with the words for those who do not see it."""

    type: Literal["image"]
    landing_url: SecureUrl
    url: PictureUrl
    width: Pixels
    height: Pixels
    alt: Annotated[
        str,
        StringConstraints(max_length=MAX_LINE_CHARACTERS, pattern=_LINE),
        Field(description="The words for those who do not see it."),
    ]


class TextCreative(Input):
    """A headline and a line below it; plain text, which a page escapes."""

    type: Literal["text"]
    landing_url: SecureUrl
    headline: Line
    body: Line


class HtmlCreative(Input):
    """Markup of the advertiser's own; a page shows it inside a sandboxed frame alone."""

    type: Literal["html"]
    landing_url: SecureUrl
    html: Html


class NativeCreative(Input):
    """Named plain texts that the page lays out by itself."""

    type: Literal["native"]
    landing_url: SecureUrl
    fields: Annotated[
        dict[FieldName, Line],
        Field(
            min_length=1,
            max_length=MAX_NATIVE_FIELDS,
            # Without this line the schema's pattern of names would permit other names too.
            json_schema_extra={"additionalProperties": False},
        ),
    ]


Creative = Annotated[
    ImageCreative | TextCreative | HtmlCreative | NativeCreative, Field(discriminator="type")
]


def placement(campaign_id: str, ad_unit: StoredAdUnit) -> Placed:
    """Return the part of a creative for a zone's row: all, or a large creative's id and type."""
    creative = ad_unit["creative"]
    if len(bson.encode(creative)) <= MAX_INLINE_BYTES:
        return {"creative": creative}
    named = creative_id(campaign_id, ad_unit["ad_unit_id"], creative)
    return {"creative_id": named, "creative_type": creative["type"]}


def creative_id(campaign_id: str, ad_unit_id: str, creative: StoredCreative) -> str:
    """Return the id of a creative: its campaign, its ad unit, and a digest of its content."""
    digest = hashlib.sha256(bson.encode(creative)).hexdigest()[:32]
    return f"{campaign_id}:{ad_unit_id}:{digest}"


def follow(
    database: Database[Document],
    session: ClientSession,
    before: CampaignUnits | None,
    after: CampaignUnits,
) -> None:
    """Store the large creatives that `after` adds, and delete the large creatives that it drops.

    Also counts the assets that the campaign newly shows, and releases the assets that it drops.
    Raises UnknownAsset.
    """
    pictures.change(database, session, _assets(before), _assets(after))
    old, new = _large(before) if before else {}, _large(after)
    gone = [creative_id for creative_id in old if creative_id not in new]
    operations: list[DeleteMany | UpdateOne] = [
        UpdateOne({"_id": creative_id}, {"$setOnInsert": {"creative": creative}}, upsert=True)
        for creative_id, creative in new.items()
        if creative_id not in old
    ]
    if gone:
        operations.append(DeleteMany({"_id": {"$in": gone}}))
    if operations:
        CREATIVES.of(database).bulk_write(operations, session=session)


def find(database: Database[Document], creative_id: str) -> StoredCreative | None:
    """Return a large creative; None after its removal."""
    found = CREATIVES.of(database).find_one({"_id": creative_id})
    return found["creative"] if found else None


def _assets(campaign: CampaignUnits | None) -> set[str]:
    """Return the ids of a campaign's pictures that are assets."""
    return (
        {unit["asset"] for unit in campaign["ad_units"] if "asset" in unit} if campaign else set()
    )


def _large(campaign: CampaignUnits) -> dict[str, StoredCreative]:
    placed = ((placement(campaign["_id"], unit), unit) for unit in campaign["ad_units"])
    return {row["creative_id"]: unit["creative"] for row, unit in placed if "creative_id" in row}

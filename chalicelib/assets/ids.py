"""The ids of assets, uploads and their owners, and the addresses where assets are read."""

import re
from typing import Annotated

from pydantic import Field, StringConstraints

# Wider than the ids that Plaza makes: one that it never made is unknown, not malformed.
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
    """Return the owner of a person's own assets, which no site's id can be."""
    return f"~{user_id}"


def is_of_site(owner: str) -> bool:
    """Return whether an owner is a site, and no person."""
    return not owner.startswith("~")


def referred(text: str | None) -> str | None:
    """Return the asset that a text names as `asset:<id>`, or None for another text."""
    found = _REFERENCE.fullmatch(text or "")
    return found[1] if found else None


def address_of(public_url: str, asset_id: str) -> str:
    """Return where the current version of an asset is read."""
    return f"{public_url}/assets/{asset_id}"


def resolved(public_url: str, text: str) -> str:
    """Return the address of an asset that a text names as `asset:<id>`, or the text itself."""
    asset_id = referred(text)
    return text if asset_id is None else address_of(public_url, asset_id)

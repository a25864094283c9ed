"""Ids within a site, and the `_id` that joins them with the site: `site:name`."""

from typing import Annotated

from pydantic import Field, StringConstraints

_NAME = StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")

ProductId = Annotated[
    str, _NAME, Field(description="A product's id within its shop.", examples=["moby-dick"])
]
CategoryId = Annotated[
    str, _NAME, Field(description="A category's id within its shop.", examples=["novels"])
]
# Without dots and dollars: carts use a SKU as the name of a field.
SkuId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    Field(description="A SKU, unique in its shop.", examples=["MOBY-HARD"]),
]


def key_of(site: str, name: str) -> str:
    """Return the `_id` of a name within a site."""
    return f"{site}:{name}"


def name_of(key: str) -> str:
    """Return the name of an `_id` without its site."""
    return key.partition(":")[2]


def site_of(key: str) -> str:
    """Return the site of an `_id` that `key_of` made."""
    return key.partition(":")[0]

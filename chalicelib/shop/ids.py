"""The ids of what a shop has: products, SKUs and categories."""

from typing import Annotated

from pydantic import Field, StringConstraints

_NAME = StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")

ProductId = Annotated[
    str, _NAME, Field(description="A product's id within its shop.", examples=["moby-dick"])
]
CategoryId = Annotated[
    str, _NAME, Field(description="A category's id within its shop.", examples=["novels"])
]
# No dots and no dollars: carts have it in paths of fields.
SkuId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    Field(description="What is sold by this code; unique in its shop.", examples=["MOBY-HARD"]),
]


def key_of(site: str, name: str) -> str:
    """Return the `_id` of what is within a site."""
    return f"{site}:{name}"


def name_of(key: str) -> str:
    """Return what is within its site: the end of its `_id`."""
    return key.partition(":")[2]


def site_of(key: str) -> str:
    """Return the site of an `_id` that `key_of` made."""
    return key.partition(":")[0]

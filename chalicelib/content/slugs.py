"""Slugs, tags and ids of pages, and the address of assets."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from chalicelib.content.shapes import MAX_SLUG_CHARACTERS, MAX_TAGS
from chalicelib.keywords import Keyword

# The address of an asset in stored HTML; answers put the API's own address before it.
ASSETS = "/assets/"
_SEGMENT = "[a-z0-9-]+"

Slug = Annotated[
    str,
    StringConstraints(pattern=f"^{_SEGMENT}(/{_SEGMENT})*$", max_length=MAX_SLUG_CHARACTERS),
    Field(
        description="The page's address within its site: letters a to z, digits, `-` and `/`.",
        examples=["guides/moon"],
    ),
]
Prefix = Annotated[
    str,
    StringConstraints(pattern=f"^({_SEGMENT}/)+$", max_length=MAX_SLUG_CHARACTERS),
    Field(description="The beginning of addresses, up to a `/`.", examples=["guides/"]),
]
Tag = Annotated[
    Keyword, Field(description="A tag; case and spaces do not matter.", examples=["harbour"])
]
# Wider than Plaza's own ids: a foreign id is unknown, not malformed.
ContentId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    Field(description="A page's id.", examples=["aaneGAECAwQFBgcI"]),
]


def _distinct(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tags))


Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS), AfterValidator(_distinct)]

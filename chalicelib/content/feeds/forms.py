"""Queries and answers of feeds."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import Field, StringConstraints

from chalicelib.content.slugs import Tag
from chalicelib.http import Input, Ok


class FeedQuery(Input):
    """The query of a feed: a type, a tag, and the cursor of its page."""

    type: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")] | None = Field(
        None, description="Those of one type.", examples=["blog"]
    )
    tag: Tag | None = Field(None, description="Those with a tag.")
    cursor: str | None = Field(
        None, max_length=1_000, description="Where the page begins: from the address of the next."
    )


Body_co = TypeVar("Body_co", covariant=True)


class JsonFeed(Ok[Body_co]):
    """200: a feed as JSON Feed."""

    media_type = "application/feed+json"

    def __init__(self, body: Body_co, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(body, {**(headers or {}), "Content-Type": "application/feed+json"})

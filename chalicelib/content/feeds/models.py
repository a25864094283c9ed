"""What feed readers ask for."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.content.slugs import Tag
from chalicelib.http import Input


class FeedQuery(Input):
    """Which of a site's pages a feed has, and where its page begins."""

    type: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")] | None = Field(
        None, description="Those of one type.", examples=["blog"]
    )
    tag: Tag | None = Field(None, description="Those with a tag.")
    cursor: str | None = Field(
        None, max_length=1_000, description="Where the page begins: from the address of the next."
    )

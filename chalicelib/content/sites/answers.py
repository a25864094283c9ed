"""The form in which the API answers about a site that publishes."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content.shapes import ContentSite
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, ShownName, ShownUrl


class ContentSettingsAnswer(TypedDict):
    """What a site says of itself."""

    site: SiteId
    title: ShownLine
    base_url: ShownUrl
    language: ShownName
    author: ShownLine
    comments: Literal["open", "off"]
    feed_items: int
    feed_host: Annotated[
        Annotated[str, Field(max_length=2_000)],
        Field(description="The ids in its feeds begin with it; it never changes."),
    ]


def settings_answer(settings: ContentSite) -> ContentSettingsAnswer:
    """Return a site's settings as the API shows them."""
    return {
        "site": settings["_id"],
        "title": settings["title"],
        "base_url": settings["base_url"],
        "language": settings["language"],
        "author": settings["author"],
        "comments": settings["comments"],
        "feed_items": settings["feed_items"],
        "feed_host": settings["feed_host"],
    }

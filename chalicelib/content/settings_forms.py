"""A site's settings of content as the API reads and shows them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.content.shapes import MAX_FEED_ITEMS, MAX_SLUG_CHARACTERS, ContentSite
from chalicelib.http import Input
from chalicelib.sites.ids import SiteId
from chalicelib.texts import Line, ShownLine, ShownName, ShownUrl, check_address

# A discussion stores its page's URL, with at most 2,000 characters.
_MAX_BASE = 2_000 - len("/") - MAX_SLUG_CHARACTERS


def _base(url: str) -> str:
    if "?" in url or "#" in url:
        raise ValueError("the address must have no query and no fragment")
    base = url.rstrip("/")
    if len(base) > _MAX_BASE:
        raise ValueError(f"the address must leave room for those of pages: {_MAX_BASE} characters")
    return base


BaseUrl = Annotated[
    str,
    # A host of ASCII characters: the ids in feeds contain it.
    StringConstraints(
        pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$", max_length=2_000
    ),
    AfterValidator(check_address),
    AfterValidator(_base),
    Field(description="Where the site is; a page is at this address, a `/` and its own."),
]
Language = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"),
    Field(description="The site's language (BCP 47)."),
]


class ContentSettings(Input):
    """The settings of a site that publishes."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"title": "The Harbour Post", "base_url": "https://harbour-post.example"}]
        }
    )

    title: Line
    base_url: BaseUrl
    language: Language = "en"
    author: Line | None = Field(
        None, description="The author in feeds; left out, the site's title."
    )
    comments: Literal["open", "off"] = Field(
        "open", description="Whether a page that is published gets a discussion."
    )
    feed_items: int = Field(30, ge=1, le=MAX_FEED_ITEMS, description="Entries of a feed's page.")
    notifications: bool = Field(
        default=False,
        description="Whether an author is notified when another person publishes their page.",
    )


class ContentSettingsAnswer(TypedDict):
    """The settings of a site that publishes."""

    site: SiteId
    title: ShownLine
    base_url: ShownUrl
    language: ShownName
    author: ShownLine
    comments: Literal["open", "off"]
    feed_items: int
    notifications: bool
    feed_host: Annotated[
        Annotated[str, Field(max_length=2_000)],
        Field(description="The ids in its feeds contain it; it never changes."),
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
        "notifications": settings.get("notifications", False),
        "feed_host": settings["feed_host"],
    }

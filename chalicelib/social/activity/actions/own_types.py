"""Types of actions that Plaza itself reports: comments, pages, posts.

A module apart from `happenings` avoids an import cycle: `forms` imports these types, `actions`
imports `forms`, and `happenings` imports `actions`.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chalicelib.social.activity.actions.types import Descriptor, register
from chalicelib.social.activity.refs import Name, RefId
from chalicelib.texts import Url

ThingId = Annotated[str, Field(max_length=64)]


@register
class CommentPosted(Descriptor):
    """A user commented on a page of a site that has these actions switched on."""

    is_plazas: ClassVar[bool] = True

    type: Literal["comment_posted"]
    comment_id: ThingId
    page_id: RefId
    page_name: Name
    url: Url | None = Field(None, description="The page's address.")


@register
class PagePublished(Descriptor):
    """An author published a page of a site that has these actions switched on."""

    is_plazas: ClassVar[bool] = True

    type: Literal["page_published"]
    content_id: ThingId
    page_id: RefId
    page_name: Name
    url: Url | None = Field(None, description="The page's address.")


@register
class PostPublished(Descriptor):
    """A user published a public post."""

    is_plazas: ClassVar[bool] = True

    type: Literal["post_published"]
    post_id: ThingId

"""The types of actions that Plaza itself reports: comments, pages, posts.

They stand apart from `happenings`, which stores such actions: the models of requests register
every type when they are imported, and the storing of actions imports the models.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chalicelib.social.activity.actions.types import Descriptor, register
from chalicelib.social.activity.refs import Name, RefId
from chalicelib.texts import Url

ThingId = Annotated[str, Field(max_length=64)]


@register
class CommentPosted(Descriptor):
    """Somebody commented on a page of a site that has this switched on."""

    is_plazas: ClassVar[bool] = True

    type: Literal["comment_posted"]
    comment_id: ThingId
    page_id: RefId
    page_name: Name
    url: Url | None = Field(None, description="The page's address.")


@register
class PagePublished(Descriptor):
    """Somebody's page was published on a site that has this switched on."""

    is_plazas: ClassVar[bool] = True

    type: Literal["page_published"]
    content_id: ThingId
    page_id: RefId
    page_name: Name
    url: Url | None = Field(None, description="The page's address.")


@register
class PostPublished(Descriptor):
    """Somebody published a post for everybody."""

    is_plazas: ClassVar[bool] = True

    type: Literal["post_published"]
    post_id: ThingId

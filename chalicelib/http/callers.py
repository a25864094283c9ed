"""Annotations of a view's caller, by the roles that admit them."""

from typing import Annotated

from chalicelib.http.routing import Roles
from chalicelib.identity import Principal

Admin = Annotated[Principal, Roles("admin")]
Publisher = Annotated[Principal, Roles("publisher")]
Editor = Annotated[Principal, Roles("publisher", "editor")]
# A publisher does what the moderators of the site do.
Moderator = Annotated[Principal, Roles("moderator", "publisher")]
Staff = Annotated[Principal, Roles("publisher", "moderator")]
SocialModerator = Annotated[Principal, Roles("social_moderator")]
Advertiser = Annotated[Principal, Roles("advertiser")]
AccountOwner = Annotated[Principal, Roles("advertiser", "publisher")]

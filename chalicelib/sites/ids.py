"""The ids of sites: one grammar for pages of comments, zones of ads, tokens and campaigns."""

import re
from typing import Annotated

from pydantic import Field, StringConstraints

# Without a colon, which separates a site from what is within it: `harbour-post:moon`.
SITE = "[a-z0-9_-]{1,64}"
# The site of a publisher whose token names none, and of nodes that name none.
DEFAULT_SITE = "default"

SiteId = Annotated[
    str,
    StringConstraints(pattern=f"^{SITE}$"),
    Field(
        description="The id of a site, the same for its comments and its ads.",
        examples=["harbour-post"],
    ),
]
# Wider: nodes that earlier releases stored, and the tokens that name their sites, stay valid.
StoredSiteId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._~:-]{1,64}$"),
    Field(
        description="The id of a site. Nodes of earlier releases may have one that no new site "
        "can have.",
        examples=["harbour-post"],
    ),
]

_SITE = re.compile(SITE)


def is_site_id(text: str) -> bool:
    """Return whether a text may be the id of a new site."""
    return _SITE.fullmatch(text) is not None

"""The grammar of site ids, the same for comment pages, ad zones, tokens and campaigns."""

import re
from typing import Annotated

from pydantic import Field, StringConstraints

# Without a colon, which separates a site from a thing within it: `harbour-post:moon`.
SITE = "[a-z0-9_-]{1,64}"
# The site of publishers and nodes without a named site.
DEFAULT_SITE = "default"

SiteId = Annotated[
    str,
    StringConstraints(pattern=f"^{SITE}$"),
    Field(
        description="A site's id, one for all features.",
        examples=["harbour-post"],
    ),
]

_SITE = re.compile(SITE)


def is_site_id(text: str) -> bool:
    """Return whether a text is a valid site id."""
    return _SITE.fullmatch(text) is not None

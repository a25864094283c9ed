"""Pages that links in letters and sign-ins return to: pages of the site's own origins."""

import re
from collections.abc import Collection
from typing import Annotated

from pydantic import Field, StringConstraints

# A strict subset of the addresses that browsers accept: no user, fragment, backslash or blank,
# since browsers and programs read these differently.
_ORIGIN = r"https?://[a-z0-9.-]{1,253}(?::[0-9]{1,5})?"
_PAGE = r"/[A-Za-z0-9!$%&'()*+,./:;=?@_~-]*"
_ADDRESS = re.compile(f"({_ORIGIN})(?:{_PAGE})?")
MAX_CHARACTERS = 2_000

ReturnTo = Annotated[
    str,
    StringConstraints(pattern=f"^{_ORIGIN}({_PAGE})?$", max_length=MAX_CHARACTERS),
    Field(
        description="The page that the link of the letter leads back to, of the site's `origins` "
        "and without a fragment.",
        examples=["https://harbour.example/articles/moon"],
    ),
]


def origin_of(address: str) -> str | None:
    """Return the origin of an address in the form of `ReturnTo`; None: it has another form."""
    found = _ADDRESS.fullmatch(address)
    return found.group(1) if found else None


def is_of(address: str, origins: Collection[str]) -> bool:
    """Return whether an address is a page of these origins."""
    return origin_of(address) in origins

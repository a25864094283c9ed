"""Node ids, `[site:]name`: the site before the first colon owns the page; without it, `default`."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.sites.ids import DEFAULT_SITE, is_site_id

# Browsers resolve these segments of a path to the folder and its parent.
_DOT_SEGMENTS = (".", "..")

# Wider than the ids of new nodes, since old nodes have other ids. If no node has the id, the answer
# is 404, not 422.
NodeId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._~:-]{1,256}$"),
    Field(
        description="A node's id, `[site:]name`; without a site it belongs to `default`.",
        examples=["harbour-post:ferry-timetable"],
    ),
]


def site_of(node_id: str) -> str | None:
    """Return the site that a NodeId names; None if no new node may have this id."""
    site, colon, name = node_id.partition(":")
    if not colon:
        site, name = DEFAULT_SITE, node_id
    is_valid = is_site_id(site) and name not in ("", *_DOT_SEGMENTS)
    return site if is_valid else None


def site_of_new(node_id: str) -> str:
    """Return the site of a new node; raises InvalidRequest if no new node may have the id."""
    site = site_of(node_id)
    if site is None:
        detail = "A new node's id is [site:]name: a site of a-z, 0-9, _ and -, and not . or .."
        raise InvalidRequest(errors=[FieldError("node", "node_id", detail)])
    return site

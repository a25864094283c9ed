"""Who may see and change what in the ad network."""

from chalicelib.errors import Forbidden
from chalicelib.http import Request
from chalicelib.identity import Principal


def require_advertiser(request: Request, advertiser: str) -> Principal:
    """Return the caller, who must act for this advertiser; an admin may act for any."""
    caller = request.principal("advertiser")
    if not caller.has("admin") and caller.advertiser != advertiser:
        raise Forbidden("This belongs to another advertiser")
    return caller


def require_publisher(request: Request, site_id: str) -> Principal:
    """Return the caller, who must own this site; an admin owns every one."""
    caller = request.principal("publisher")
    if not caller.owns(site_id):
        raise Forbidden("This site belongs to another publisher")
    return caller

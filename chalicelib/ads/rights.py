"""Who may see and change what in the ad network."""

from chalicelib.ads.accounts import BANK, NETWORK
from chalicelib.errors import Forbidden
from chalicelib.http import Request
from chalicelib.identity import Principal


def require_advertiser(request: Request, advertiser: str) -> Principal:
    """Return the caller, who must act for this advertiser; an admin may act for any."""
    caller = request.principal("advertiser")
    if not caller.has("admin") and caller.advertiser != advertiser:
        raise Forbidden("This is another advertiser's")
    return caller


def require_publisher(request: Request, site_id: str) -> Principal:
    """Return the caller, who must own this site; an admin owns every one."""
    caller = request.principal("publisher")
    if not caller.owns(site_id):
        raise Forbidden("This site is another publisher's")
    return caller


def require_account_owner(request: Request, account_id: str) -> Principal:
    """Return the caller, who must own this account; the bank and the network are the admins'."""
    if account_id in (BANK, NETWORK):
        return request.principal("admin")
    kind, _, owner = account_id.partition(":")
    if kind == "advertiser":
        return require_advertiser(request, owner)
    return require_publisher(request, owner)

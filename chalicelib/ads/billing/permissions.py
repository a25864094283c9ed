"""Who may see and move an account's money."""

from chalicelib.ads.accounts import BANK, NETWORK
from chalicelib.ads.permissions import require_advertiser, require_publisher
from chalicelib.http import Request
from chalicelib.identity import Principal


def require_account_owner(request: Request, account_id: str) -> Principal:
    """Return the caller, who must own this account; the bank and the network are the admins'."""
    if account_id in (BANK, NETWORK):
        return request.principal("admin")
    kind, _, owner = account_id.partition(":")
    if kind == "advertiser":
        return require_advertiser(request, owner)
    return require_publisher(request, owner)

"""Who may see and move an account's money."""

from typing import Annotated

from chalicelib.ads.accounts import BANK, NETWORK
from chalicelib.ads.permissions import check_advertiser
from chalicelib.errors import Forbidden
from chalicelib.http import Roles
from chalicelib.identity import Principal
from chalicelib.sites.permissions import check_publisher

# Who may own an account at all.
Owner = Annotated[Principal, Roles("advertiser", "publisher")]


def check_account_owner(caller: Principal, account_id: str) -> None:
    """Raise Forbidden unless the caller owns this account.

    The bank and the network are the admins', as every account is.
    """
    kind, _, owner = account_id.partition(":")
    if account_id in (BANK, NETWORK):
        if not caller.has("admin"):
            raise Forbidden("This account belongs to the network")
    elif kind == "advertiser":
        check_advertiser(caller, owner)
    else:
        check_publisher(caller, owner)

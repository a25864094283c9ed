"""The rights of advertisers; `chalicelib.sites` has the rights of publishers."""

from chalicelib.errors import Forbidden
from chalicelib.identity import Principal


def check_advertiser(caller: Principal, advertiser: str) -> None:
    """Raise Forbidden unless the caller acts for this advertiser; an admin acts for any."""
    acts_for = caller.advertiser if caller.has("advertiser") else None
    if not caller.has("admin") and acts_for != advertiser:
        raise Forbidden("This belongs to another advertiser")

"""Rights on the nodes of a site."""

from chalicelib.comments.store import Viewer
from chalicelib.identity import Principal


def moderates(principal: Principal, site: str) -> bool:
    """Return whether the caller moderates the site; a token that names no sites has all."""
    if "admin" in principal.roles:
        return True
    own = principal.sites is None or site in principal.sites
    return "moderator" in principal.roles and own


def manages(principal: Principal, site: str) -> bool:
    """Return whether the caller is a publisher or a moderator of the site."""
    return principal.owns(site) or moderates(principal, site)


def viewer(caller: Principal | None, site: str) -> Viewer:
    """Return the caller as a viewer of the site's discussions."""
    if caller is None:
        return Viewer()
    return Viewer(user_id=caller.id, moderator=moderates(caller, site))

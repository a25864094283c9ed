"""Who may do what to the nodes of a site."""

from chalicelib.comments.store import Viewer
from chalicelib.identity import DEFAULT_SITE, Principal


def moderates(principal: Principal, site: str) -> bool:
    """Tell whether the caller moderates the site; without named sites, a moderator has all."""
    if "admin" in principal.roles:
        return True
    return "moderator" in principal.roles and (not principal.sites or site in principal.sites)


def viewer(caller: Principal | None, site: str) -> Viewer:
    """Return what the caller is to a discussion of the site."""
    if caller is None:
        return Viewer()
    return Viewer(user_id=caller.id, moderator=moderates(caller, site))


def default_site(principal: Principal) -> str:
    """Return the site of a node that names none: the caller's only one, or `default`."""
    return next(iter(principal.sites)) if len(principal.sites) == 1 else DEFAULT_SITE

"""Rights within a site: of its publishers, editors and moderators; admins have all of them."""

from chalicelib.errors import Forbidden
from chalicelib.identity import Principal
from chalicelib.sites.ids import DEFAULT_SITE


def owns(caller: Principal, site: str) -> bool:
    """Return whether the caller is the site's publisher; an admin owns every site.

    A publisher's token without `sites` has the site `default` alone.
    """
    own_sites = {DEFAULT_SITE} if caller.sites is None else caller.sites
    return "admin" in caller.roles or ("publisher" in caller.roles and site in own_sites)


def edits(caller: Principal, site: str) -> bool:
    """Return whether the caller may write the site's pages: as its publisher, or as an editor."""
    own_sites = {DEFAULT_SITE} if caller.sites is None else caller.sites
    return owns(caller, site) or ("editor" in caller.roles and site in own_sites)


def moderates(caller: Principal, site: str) -> bool:
    """Return whether the caller moderates the site: as its moderator, or as its publisher."""
    own_sites = moderated_sites(caller)
    return own_sites is None or site in own_sites


def moderated_sites(caller: Principal) -> frozenset[str] | None:
    """Return the sites that the caller moderates; None: every site.

    Without `sites`, a moderator's token has every site, and a publisher's token only `default`.
    """
    if "admin" in caller.roles:
        return None
    if "moderator" in caller.roles:
        return caller.sites
    if "publisher" in caller.roles:
        return frozenset({DEFAULT_SITE}) if caller.sites is None else caller.sites
    return frozenset()


def check_publisher(caller: Principal, site: str) -> None:
    """Raise Forbidden unless the caller owns this site; an admin owns every site."""
    if not owns(caller, site):
        raise Forbidden("This site belongs to another publisher")


def check_moderator(caller: Principal, site: str) -> None:
    """Raise Forbidden unless the caller moderates the site: as its moderator, or its publisher."""
    if not moderates(caller, site):
        raise Forbidden(f"You do not moderate the site {site}")


def check_editor(caller: Principal, site: str) -> None:
    """Raise Forbidden unless the caller may write the site's pages."""
    if not edits(caller, site):
        raise Forbidden("You do not write for this site")

"""Settings as calls read them, and the readers of reports: the publisher, or the public."""

from pymongo.database import Database

from chalicelib.analytics import settings
from chalicelib.analytics.errors import UnknownSite
from chalicelib.analytics.settings import SiteAnalytics
from chalicelib.database import Document
from chalicelib.errors import Forbidden, Unauthenticated
from chalicelib.identity import Principal
from chalicelib.memory import remember
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import owns


def of_reader(database: Database[Document], site: str, caller: Principal | None) -> SiteAnalytics:
    """Return the settings of a site whose reports the caller may read.

    Raises UnknownSite. For private reports, raises Unauthenticated without a caller, and Forbidden
    for any caller but the publisher.
    """
    found = of_site(database, site)
    if not found["public"]:
        if caller is None:
            raise Unauthenticated
        if not owns(caller, site):
            raise Forbidden("This site's publisher keeps its reports private")
    return found


def of_site(database: Database[Document], site: str) -> SiteAnalytics:
    """Return the settings of a site; raises UnknownSite."""
    found = settings.find(database, site)
    if found is None:
        raise UnknownSite
    return found


# Most beacons read nothing else.
@remember(seconds=60)
def recall(runtime: Runtime, site: str) -> SiteAnalytics:
    """Return a site's settings, at most a minute old.

    Raises UnknownSite, which no container remembers: the site may begin with analytics now.
    """
    return of_site(runtime.database, site)

"""The settings of sites as a container remembers them: a beacon asks the database for no more."""

from datetime import datetime, timedelta

from pymongo.database import Database

from chalicelib.analytics import settings
from chalicelib.analytics.settings import SiteAnalytics
from chalicelib.database import Document

REMEMBERED = timedelta(seconds=60)


class RememberedSites:
    """Settings, and that a site is unknown, each for a minute."""

    def __init__(self, database: Database[Document], most: int) -> None:
        self._database = database
        self._most = most
        self._held: dict[str, tuple[datetime, SiteAnalytics | None]] = {}

    def find(self, site: str, now: datetime) -> SiteAnalytics | None:
        """Return a site's settings of the last minute; None where there are none."""
        held = self._held.get(site)
        if held is not None and now < held[0]:
            return held[1]
        found = settings.find(self._database, site)
        if len(self._held) >= self._most:
            self._held.clear()
        self._held[site] = (now + REMEMBERED, found)
        return found

    def forget(self, site: str) -> None:
        """Ask for a site's settings again, since this container has changed them."""
        self._held.pop(site, None)

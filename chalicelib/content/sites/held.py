"""The settings of sites as a container holds them: what is read often asks for them rarely."""

from datetime import datetime, timedelta

from pymongo.database import Database

from chalicelib.content.shapes import ContentSite
from chalicelib.content.sites import settings
from chalicelib.database import Document

# How long a container goes by a site's settings as it read them.
_HELD = timedelta(seconds=10)
_MOST_HELD = 1_000


class HeldSettings:
    """The settings of sites that this container serves, for ten seconds each."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[datetime, ContentSite]] = {}

    def of(self, database: Database[Document], site: str, now: datetime) -> ContentSite:
        """Return a site's settings; raises UnknownContentSite."""
        until, held = self._held.get(site, (None, None))
        if held is not None and until is not None and until > now:
            return held
        found = settings.find(database, site)
        if len(self._held) >= _MOST_HELD:
            self._held.clear()
        self._held[site] = (now + _HELD, found)
        return found

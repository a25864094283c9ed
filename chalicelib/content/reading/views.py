"""What readers are told of how often pages were read; analytics are another feature.

The roof hands in how they count.
"""

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit

from chalicelib.content.settings import HeldSettings, url_of
from chalicelib.runtime import Runtime


class Views(Protocol):
    """How often pages of a site were read, by their paths."""

    def counts(self, runtime: Runtime, site: str, paths: Sequence[str]) -> dict[str, int] | None:
        """Return the views of each path; None where a site does not count, or keeps it private."""
        ...


class Viewed:
    """The views of pages by their addresses; a container holds the settings of sites."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._settings = HeldSettings()

    def of(self, runtime: Runtime, site: str, slugs: Sequence[str]) -> dict[str, int | None]:
        """Return how often the page at each address was read, in one round trip."""
        if not slugs:
            return {}
        told = self._settings.of(runtime.database, site, runtime.now())
        paths = {slug: urlsplit(url_of(told, slug)).path for slug in slugs}
        counted = self._views.counts(runtime, site, list(paths.values()))
        return {slug: counted[path] if counted else None for slug, path in paths.items()}

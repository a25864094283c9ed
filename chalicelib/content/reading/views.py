"""The views of pages, by a port to analytics, which are another feature.

`wiring` implements the port.
"""

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit

from chalicelib.content import settings
from chalicelib.runtime import Runtime


class Views(Protocol):
    """The counts of views of a site's pages, by their paths."""

    def counts(self, runtime: Runtime, site: str, paths: Sequence[str]) -> dict[str, int] | None:
        """Return the views of each path. None: no counting, or the counts are private."""
        ...


class Viewed:
    """The views of pages by their addresses."""

    def __init__(self, views: Views) -> None:
        self._views = views

    def of(self, runtime: Runtime, site: str, slugs: Sequence[str]) -> dict[str, int | None]:
        """Return the views of each slug's page, in one call. None: no counting, or private."""
        if not slugs:
            return {}
        found = settings.recall(runtime, site)
        paths = {slug: urlsplit(settings.url_of(found, slug)).path for slug in slugs}
        counted = self._views.counts(runtime, site, list(paths.values()))
        return {slug: counted[path] if counted else None for slug, path in paths.items()}

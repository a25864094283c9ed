"""Hits for the bench: paths as readers choose them, few often and many seldom."""

import itertools
import random
from datetime import datetime, timedelta
from typing import Any

from chalicelib.analytics import settings
from chalicelib.analytics.hits import Hits, PageHit, StoredHit, rows_of
from chalicelib.analytics.settings import LayoutName, LogName, SiteAnalytics
from chalicelib.runtime import Runtime

PATHS = 2_000
VISITORS = 400


class Source:
    """Makes hits: paths as readers choose them, few often and many seldom."""

    def __init__(self, site: str, start: datetime, seconds: int, pages: int = PATHS) -> None:
        self._site, self._start, self._seconds = site, start, seconds
        self._random = random.Random(site)  # noqa: S311 - the same data every time
        self._numbers = itertools.count()
        self._weights = list(itertools.accumulate(1 / (n + 1) for n in range(pages)))
        self._pages = pages

    def messages(self, number: int) -> list[Hits]:
        """Return messages of one hit each."""
        paths = self._random.choices(range(self._pages), cum_weights=self._weights, k=number)
        return [self._message(path) for path in paths]

    def rows(self, number: int) -> list[StoredHit]:
        """Return hits as a log keeps them."""
        return [row for message in self.messages(number) for row in rows_of(message)]

    def _message(self, path: int) -> Hits:
        seconds = self._random.randrange(self._seconds)
        hit = PageHit(
            id=f"{next(self._numbers):016}",
            ts=self._start + timedelta(seconds=seconds),
            path=f"/articles/{path}",
            visitor=f"v{self._random.randrange(VISITORS):011}",
            ref="news.example",
        )
        return Hits(site=self._site, kind="view", hits=(hit,), device="desktop", country="DE")


def site(
    runtime: Runtime, name: str, log: LogName = "expiring", layout: LayoutName = "hierarchical"
) -> SiteAnalytics:
    """Switch a site's analytics on."""
    chosen: Any = {
        "origins": [],
        "keep_days": 90,
        "user_reports": False,
        "public": True,
        "time_zone": "UTC",
    }
    before = settings.find(runtime.database, name)
    return settings.put(runtime, before, name, chosen, (log, layout))

"""A container remembers the most read names of yesterday, and reads them once."""

from datetime import timedelta
from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from chalicelib.analytics.reports import top
from chalicelib.analytics.reports.days import Place, Subject
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import SITE, at, count, site, view

TODAY = at("2026-03-01")


class Unreachable:
    """A collection whose server has no primary."""

    def of(self, _database: Any) -> Any:
        raise AutoReconnect("No primary")


@pytest.mark.parametrize("failing", ["DAYS", "SOURCES"])
def test_a_failed_read_forgets_no_name_of_yesterday(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    site(runtime)
    count(runtime, view(1, TODAY - timedelta(hours=1), "/top", ref="top.example"))
    places = {
        Place(Subject(SITE, None, "/top"), TODAY),
        Place(Subject(SITE, "referrer", "top.example"), TODAY),
    }
    tops = top.Tops(runtime.database, runtime.bounds.analytics)

    with monkeypatch.context() as outage:
        outage.setattr(top, failing, Unreachable())
        with pytest.raises(AutoReconnect):
            tops.among(places)

    assert tops.among(places) == places

"""A browser for the session; for each test an app that is served, and pages to open."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chalice.app import Chalice
from playwright.sync_api import Browser, BrowserContext, Page

from chalicelib.ads.budgets import held_leases
from tests.support.serving import served
from tests.web.support.axe import source as axe_source
from tests.web.support.browser import Faults, take_time
from tests.web.support.site import Site, serving

OpenPage = Callable[..., Page]
HERE = Path(__file__).parent
# A browser waits for what a busy machine does; a test fails after this time.
PATIENCE_MS = 20_000
# An address that no page asks for.
NEVER = "**/never-asked-for"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where the run asks for it, run a page's test that fails once more, and name it (0182)."""
    if os.environ.get("PLAZA_TEST_PAGES_TWICE"):
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    return axe_source()


@pytest.fixture
def address(app: Chalice, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the test's app."""
    # A page shows no ad if its lease comes late, and a busy machine's leases do.
    monkeypatch.setattr(held_leases, "ACQUIRE_TIMEOUT_SECONDS", PATIENCE_MS / 1_000)
    with served(app) as started:
        yield started


@pytest.fixture
def site(address: str) -> Iterator[Site]:
    """A site on another origin, with the strictest policy."""
    with serving(Site(address)) as started:
        yield started


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[OpenPage]:
    """Opens a path of the app, or a site, in a fresh profile.

    `at` is the path of a site's page. The test fails on what no page may do, except what it
    `may_log`. `before` gets the page before it loads anything.

    Calls are intercepted from the beginning, which `caches` leaves out: Chromium then has a cache,
    and the first call after a route on a living page now and then slips past that route.
    """
    faults: list[Faults] = []
    contexts: list[BrowserContext] = []
    allowed: list[tuple[str, ...]] = []

    def opened(
        where: str | Site,
        *,
        at: str = "/",
        may_log: str | tuple[str, ...] = (),
        before: Callable[[Page], object] = lambda _page: None,
        caches: bool = False,
        **options: object,
    ) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE_MS)
        take_time(context)
        contexts.append(context)
        page = context.new_page()
        if not caches:
            context.route(NEVER, lambda route: route.abort())
        own, api = (where.address, where.api) if isinstance(where, Site) else (address, address)
        faults.append(Faults(page, api, own))
        allowed.append((may_log,) if isinstance(may_log, str) else may_log)
        before(page)
        page.goto(f"{own}{at}" if isinstance(where, Site) else f"{address}{where}")
        return page

    yield opened
    for context in contexts:
        context.close()
    found = [
        fault
        for each, expected in zip(faults, allowed, strict=True)
        for fault in each.found
        if not any(each in fault for each in expected)
    ]
    assert found == []

"""A real browser, and what a page in it must never do."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, sync_playwright

# The first has no window's own parts, and takes a quarter of the processor's time of the others.
_NAMES = (
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"),
)
_LOOKS = 1_000
_BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
# Of two lists Chromium takes the last, so that Playwright's own list comes before the rest: the
# pages of a window's address bar, which took half of the time that opens a page.
_FEATURES_OFF = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("TcpPortRandomizationWin", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
    *("PreconnectToSearch", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
)
# Scripts that run before a page's own: a browser that keeps nothing, or has no more room.
WITHOUT_STORAGE = {
    "refused": "for (const kind of ['localStorage', 'sessionStorage'])"
    " Object.defineProperty(window, kind, { get() { throw new Error('no'); } });",
    "full": "Storage.prototype.setItem = () => {"
    " throw new DOMException('no room', 'QuotaExceededError'); };",
}
# Chromium's sandbox needs rights that a container's root does not have.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    f"--disable-features={','.join(_FEATURES_OFF)}",
    # Names that are this machine and no secure context: see `plain_http`.
    "--host-resolver-rules=MAP *.test 127.0.0.1",
]


def executable(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of a browser; skips the test if there is none, and in CI fails it."""
    named = environment.get("PLAZA_BROWSER")
    found = named or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None and environment.get("CI"):
        pytest.fail("CI has no browser: .ci/run installs Debian's chromium-headless-shell")
    if found is None:
        pytest.skip("no browser was found; install chromium or name one in PLAZA_BROWSER")
    return found


@contextlib.contextmanager
def running_browser() -> Iterator[Browser]:
    """Start a browser without a window, and stop it afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=_ARGUMENTS)
        with contextlib.closing(browser):
            yield browser


class Faults:
    """What a page did that none may: errors on its console, and requests to other hosts."""

    def __init__(self, page: Page, *own: str) -> None:
        self.found: list[str] = []
        self._hosts = {urlsplit(each).netloc for each in own}
        page.on("console", lambda each: self._note(each.type, each.text))
        page.on("pageerror", lambda error: self.found.append(f"exception: {error}"))
        page.on("request", lambda request: self._look_at(request.url))

    def _note(self, kind: str, text: str) -> None:
        # A violation of the Content-Security-Policy is an error on the console, too.
        if kind in {"error", "warning"}:
            self.found.append(f"{kind}: {text}")

    def _look_at(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme in {"http", "https"} and address.netloc not in self._hosts:
            self.found.append(f"request to another host: {url}")


def until(page: Page, is_true: Callable[[], bool]) -> None:
    """Let the page go on until something is true."""
    for _ in range(_LOOKS):
        if is_true():
            return
        page.wait_for_timeout(20)
    pytest.fail("it never was")


def count_answers(page: Page) -> None:
    """Have a page count the answers whose JSON its scripts have dealt with."""
    page.add_init_script(
        """window.answersRead = 0;
        const { json } = Response.prototype;
        Response.prototype.json = async function () {
            const read = await json.call(this);
            setTimeout(() => answersRead++);
            return read;
        };"""
    )


def take_time(context: BrowserContext) -> None:
    """Let each click and key be four seconds later, to a page's scripts: as if a person did it.

    What is sent within three seconds is taken for a program's.
    """
    context.add_init_script(
        """(() => {
            let passed = 0;
            const now = performance.now.bind(performance);
            performance.now = () => now() + passed;
            const later = () => { passed += 4000; };
            for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, later, true);
        })();"""
    )


def confirm(place: Page | Locator, name: str) -> None:
    """Press a button, and press it again in the question that takes its place."""
    place.get_by_role("button", name=name).click()
    place.get_by_role("group").get_by_role("button", name=name).click()


def stop_time(page: Page) -> None:
    """Have a page's time pass by `page.clock.run_for` alone, however slow the machine is."""
    page.clock.install(time=_BEGIN)
    page.clock.pause_at(_BEGIN + timedelta(seconds=1))


@contextlib.contextmanager
def answer_read(page: Page) -> Iterator[None]:
    """Wait until a page's scripts have dealt with one more answer than before."""
    before = page.evaluate("answersRead")
    yield
    until(page, lambda: bool(page.evaluate("answersRead") > before))


def failing_once(file: str, failed: list[str]) -> Callable[[Page], object]:
    """Return what has a page's first call for a file fail; `failed` notes it."""

    def fail(route: Route) -> None:
        if failed:
            return route.fallback()
        failed.append(route.request.url)
        return route.abort()

    return lambda page: page.route(f"**/{file}*", fail)

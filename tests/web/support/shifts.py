"""How much of a page moves while a reader goes through it (Layout Instability API)."""

from playwright.sync_api import Page, Request

# The most of a page that may move: a fifth of what counts as good (0.1, Core Web Vitals).
MOST = 0.02
# Nearer than this to the view, the loader loads what an element needs: 600 px.
_STEP_PX = 500
_QUIET_LOOKS = 5
_LOOKS = 1_000
# A page waits for no answer to a beacon. The browser renews its cache by itself after it has given
# the page a stale answer; it reports the end half a minute later.
_OF_NO_PAGE = {"ping", "other"}
_OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
        if (hadRecentInput) continue;
        const moved = sources.map(({ node }) => node?.id || node?.localName || node?.nodeName);
        shifts.push({ value, moved: moved.join(" ") });
    }
}).observe({ type: "layout-shift", buffered: true });
"""
_NEXT_FRAME = "new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))"


class Reading:
    """A reader's way through a page, for a page that has not been opened yet."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._open: set[Request] = set()
        page.add_init_script(_OBSERVE)
        page.on("request", self._begun)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)

    def _begun(self, request: Request) -> None:
        self._open.add(request)

    def _ended(self, request: Request) -> None:
        self._open.discard(request)

    def to_the_end(self) -> list[str]:
        """Scroll through the page as it loads; return shifts if they add up to too much."""
        self.rest()
        at = 0
        while at < self._page.evaluate("document.documentElement.scrollHeight - innerHeight"):
            at += _STEP_PX
            self._page.evaluate("(at) => scrollTo(0, at)", at)
            self.rest()
        return self.shifted()

    def rest(self) -> None:
        """Wait until the page asks for nothing more."""
        quiet = 0
        for _ in range(_LOOKS):
            self._page.evaluate(_NEXT_FRAME)
            asked = [each for each in self._open if each.resource_type not in _OF_NO_PAGE]
            quiet = 0 if asked else quiet + 1
            if quiet == _QUIET_LOOKS:
                return
        raise AssertionError(f"it went on loading: {asked}")

    def shifted(self) -> list[str]:
        """Return each shift, if together they are more than a page may move."""
        found = self._page.evaluate("shifts")
        if sum(each["value"] for each in found) <= MOST:
            return []
        return [f"{each['value']:.3f}: {each['moved']}" for each in found]

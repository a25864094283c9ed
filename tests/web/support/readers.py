"""A reader of a discussion in a browser: acts as people do them, and what the page then shows."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import APIResponse, Error, Locator, Page, Request, Route

from tests.web.support.browser import until
from tests.web.support.site import Site
from tests.web.support.two import NODE, POLL_MS

BY_TIME = ("oldest", "newest")
ORDERS = (*BY_TIME, "best", "top", "controversial")
# A press on what has just gone is given up after this time.
_GONE_MS = 1_500
_TRIES = 5
_QUIET_LOOKS = 4
# The longest wait between two looks, and as much for a busy machine.
_MOST_TURNS = 400
_CALLS = re.compile(f"/nodes/{NODE.replace(':', '%3A')}/")
_TURN = "new Promise((done) => { const { port1, port2 } = new MessageChannel();"
_TURN += " port1.onmessage = done; port2.postMessage(0); })"
# Counts the calls of a page whose answers its scripts have not yet dealt with.
_COUNT_CALLS = """(() => {
    const call = fetch;
    const dealtWith = () => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => { calls--; };
        port2.postMessage(0);
    };
    window.calls = 0;
    window.fetch = (...given) => {
        calls++;
        return call(...given).then((answer) => {
            if (answer.status === 204) dealtWith();
            return answer;
        }, (error) => {
            dealtWith();
            throw error;
        });
    };
    // Answers of the API, and files that the loader brings.
    for (const name of ["json", "blob"]) {
        const read = Response.prototype[name];
        Response.prototype[name] = function () {
            return read.call(this).finally(dealtWith);
        };
    }
})()"""
# What a page shows, line by line: but for what it says of the last act, and how long ago it was.
_SHOWN = """() => {
    const root = document.querySelector("plaza-comments").shadowRoot;
    const said = (place, what) => place?.querySelector(what)?.textContent.trim() || "";
    const marksOf = (place) => [...place?.querySelectorAll("button[aria-pressed]") || []]
        .filter((each) => !each.closest(".choices"))
        .map((each) => [each.textContent.replace(/[^\\d▲▼\\p{Extended_Pictographic}]/gu, ""),
            each.getAttribute("aria-pressed") === "true" ? "mine" : "", each.disabled ? "off" : ""])
        // A reaction that nobody has stays where it was taken back.
        .filter(([text, mine]) => mine || /[▲▼\\d]/.test(text)).map((each) => each.join(""));
    const lineOf = (item) => {
        // An edit takes the place of the article.
        const article = item.querySelector(":scope > article, :scope > form");
        const head = article.querySelector(":scope > header");
        const buttons = [...article.querySelectorAll(":scope > footer > [data-does]")];
        const answered = head?.querySelectorAll("a[data-comment]")[1];
        return {
            id: item.id.slice(2), parent: item.parentElement.closest("li")?.id.slice(2) || "",
            author: said(head, "[part~=author]"), at: head?.querySelector("time")?.dateTime || "",
            text: said(article, article.matches(".gone") ? ":scope > p" : ":scope > .text"),
            state: article.className,
            told: [...head?.querySelectorAll("i") || []].map((each) => each.textContent).join(),
            answers: answered?.dataset.comment || "",
            does: buttons.map((each) => each.dataset.does).join(),
            marks: marksOf(article.querySelector(":scope > footer > .marks")).join(" "),
        };
    };
    const seen = (place) => !!place && !place.hidden;
    const pins = [...root.querySelectorAll(".pins:not([hidden]) > div")];
    const pinOf = (each) => `${each.querySelector("a").dataset.comment} ${said(each, ".text")}`;
    return {
        title: said(root, "#title"), order: root.querySelector("header select").value,
        page: marksOf(root.querySelector("header + .marks")).join(" "),
        pins: pins.map(pinOf),
        more: seen(root.querySelector(".more:not(.earlier)")), fresh: said(root, ".fresh button"),
        lines: [...root.querySelectorAll("li[id^=c-]")].map(lineOf),
    };
}"""
Line = dict[str, str]


def is_usable(place: Locator) -> bool:
    """Return whether a button can be pressed, or a field be written in, now."""
    read = "(all) => all.some((each) => each.checkVisibility() && !each.disabled && !each.readOnly)"
    return bool(place.evaluate_all(read))


@dataclass
class Reader:
    """A person with a page of a discussion; `rng` decides what they press, and how."""

    name: str
    site: Site
    page: Page
    rng: random.Random
    open: set[Request] = field(default_factory=set)
    held: list[tuple[Route, APIResponse | None]] = field(default_factory=list)
    fetching: int = 0
    is_holding: bool = False
    order: str = "oldest"

    def __post_init__(self) -> None:
        self.page.on("request", self._begun)
        self.page.on("requestfinished", self._ended)
        self.page.on("requestfailed", self._ended)

    def _begun(self, request: Request) -> None:
        self.open.add(request)

    def _ended(self, request: Request) -> None:
        self.open.discard(request)

    # What the page shows.

    def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate(_SHOWN)
        return found

    def lines(self, does: str) -> list[Line]:
        """Return the lines of comments that have a button."""
        return [each for each in self.shown()["lines"] if does in each["does"].split(",")]

    def rest(self) -> None:
        """Wait until the page asks for nothing, and its scripts have dealt with the answers."""
        quiet = 0

        def is_quiet() -> bool:
            nonlocal quiet
            calls = self.page.evaluate(f"{_TURN}.then(() => calls)")
            quiet = 0 if self.open or calls else quiet + 1
            return quiet >= _QUIET_LOOKS

        until(self.page, is_quiet)

    def look(self) -> None:
        """Let time pass until the page has looked for news."""
        looked: list[str] = []

        def note(request: Request) -> None:
            if request.method == "GET" and "limit=50" in request.url:
                looked.append(request.url)

        self.page.on("request", note)
        for _ in range(_MOST_TURNS):
            self.page.clock.run_for(POLL_MS)
            self.page.evaluate(_TURN)
            if looked:
                break
        else:
            raise AssertionError(f"{self.name}'s page never looked for news")
        self.page.remove_listener("request", note)

    # What a person does.

    def press(self, button: Locator) -> bool:
        """Press by pointer or keyboard; return whether the button was still there."""
        if self.rng.random() < 0.5:
            return self._tried(button, lambda: button.click(timeout=_GONE_MS))
        return self._tried(button, lambda: button.press("Enter", timeout=_GONE_MS))

    def _tried(self, place: Locator, act: Callable[[], object]) -> bool:
        """Act on a place; return False if another act has just taken it away or out of use."""
        for tries_left in reversed(range(_TRIES)):
            try:
                act()
            except Error:
                self.rest()
                if not is_usable(place):
                    return False
                # A busy machine may take longer than the place would need to go.
                if not tries_left:
                    raise
            else:
                break
        return True

    def at(self, comment: str, what: str) -> Locator:
        """Return a part of a comment's own article, or of the form in its place."""
        return self.page.locator(f"#c-{comment} > article {what}, #c-{comment} > form {what}").first

    def does(self, comment: str, act: str) -> bool:
        return self.press(self.at(comment, f"> footer [data-does={act}]"))

    def send(self, form: Locator, text: str) -> bool:
        """Write into a form, and send it by its button or the keyboard."""
        field = form.locator("textarea").first
        if not self._tried(field, lambda: field.fill(text, timeout=_GONE_MS)):
            return False
        if self.rng.random() < 0.5:
            return self.press(form.locator("button.primary"))
        return self._tried(field, lambda: field.press("Control+Enter", timeout=_GONE_MS))

    def main_form(self) -> Locator:
        return self.page.locator("plaza-comments section > div > form[part~=form]")

    def forms(self) -> Locator:
        """Return the forms at comments, in which a text is written."""
        return self.page.locator("plaza-comments li form[part~=form]:not(.flag)")

    def leave_forms(self) -> None:
        """Cancel whatever is written at comments."""
        forms = self.page.locator("plaza-comments li form")
        while forms.count():
            self.press(forms.first.get_by_role("button", name="Cancel"))
        while self.page.locator("plaza-comments .ask").count():
            self.press(self.page.locator("plaza-comments .ask button").last)

    def leave_field(self) -> None:
        """Leave what one writes in: there, news are not told."""
        self.page.locator("plaza-comments #title").click()

    def choose(self, order: str) -> None:
        self.page.locator("plaza-comments section > header select").select_option(order)
        self.order = order

    # What is on its way.

    def hold(self, is_held: Callable[[Request], bool], *, is_answered: bool = False) -> None:
        """Keep the calls of a kind, or their answers, from arriving until `let_go`."""
        self.is_holding = True

        def take(route: Route) -> None:
            if not self.is_holding or not is_held(route.request):
                return route.continue_()
            self.fetching += 1
            self.held.append((route, route.fetch() if is_answered else None))
            self.fetching -= 1
            return None

        self.page.route(_CALLS, take)

    def let_go(self) -> None:
        self.is_holding = False
        until(self.page, lambda: not self.fetching)
        while self.held:
            route, answer = self.held.pop(0)
            if answer:
                route.fulfill(response=answer)
            else:
                route.continue_()
        self.page.unroute(_CALLS)


def count_calls(page: Page) -> None:
    """Have a page count its calls, for `rest`."""
    page.add_init_script(_COUNT_CALLS)


def told(shown: dict[str, Any], *, in_order: bool = True) -> list[str]:
    """Return what a page shows as lines of text; without places where an order moves nothing."""
    lines = [_line(each) for each in shown["lines"]]
    heading = [f"{shown['title']} | order {shown['order']} | page {shown['page']}"]
    pins = [f"pinned: {each}" for each in shown["pins"]]
    return [*heading, *pins, *(lines if in_order else sorted(lines))]


def _line(line: Line) -> str:
    rest = " | ".join(
        line[each] for each in ("author", "at", "text", "state", "told", "answers", "does", "marks")
    )
    return f"{line['id'][-6:]} below {line['parent'][-6:] or '-'}: {rest}"


def ids_of(shown: dict[str, Any]) -> Sequence[str]:
    return [each["id"] for each in shown["lines"]]

"""Push messages of a browser: switched on and off beside a bell's list, and shown by the worker."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Worker, expect

from chalicelib.notifications.push_rows import SUBSCRIPTIONS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.push.support.browser import BrowserStandIn
from tests.push.support.keys import KEYS
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.bell import IDENTITY, PHONE, WIDER, bell, host, panel, talk
from tests.web.support.browser import until
from tests.web.support.site import Site
from tests.web.support.two import Discussion

__all__ = ["host", "talk"]  # fixtures

expect.set_options(timeout=PATIENCE_MS)
ENDPOINT = "https://fcm.googleapis.com/fcm/send/one"
FAILED = ("Failed to load resource", "net::ERR")
# A browser without a window reaches no push service, and shows no notification: its reader's answer
# and its subscription are made up.
SUBSCRIBED = """({ endpoint, keys, refuses, answer }) => {
  if (location.protocol === "about:") return;
  const kept = () => localStorage.getItem("subscribed");
  const renewed = localStorage.getItem("renewed") || endpoint;
  const made = { endpoint: renewed,
    toJSON: () => ({ endpoint: renewed, expirationTime: null, keys }),
    unsubscribe: async () => { localStorage.removeItem("subscribed"); return true; } };
  const isAllowed = kept() || localStorage.getItem("allowed");
  let permission = isAllowed ? "granted" : answer === "denied" ? answer : "default";
  Object.defineProperty(Notification, "permission", { get: () => permission });
  Notification.requestPermission = async () => (permission = answer);
  PushManager.prototype.getSubscription = async () => kept() ? made : null;
  PushManager.prototype.subscribe = async (options) => {
    if (refuses) throw new DOMException("no push service", "AbortError");
    localStorage.setItem("subscribed", JSON.stringify(options));
    return made;
  };
}"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update=KEYS)


@pytest.fixture
def served(host: Site) -> Site:
    """A page with a bell and a service worker, which Ben reads."""
    host.body = '<plaza-bell worker="/plaza-worker.js"></plaza-bell>'
    host.worker = f'importScripts("{host.api}/web/v1/worker.js");'
    return host


def opened(
    open_page: OpenPage,
    site: Site,
    *,
    answer: str = "granted",
    refuses: bool = False,
    **options: Any,
) -> Page:
    """Open the page in a browser whose reader answers so, and the list of its bell."""
    made_up = {"endpoint": ENDPOINT, "keys": BrowserStandIn(ENDPOINT).keys, "refuses": refuses}
    given = json.dumps({**made_up, "answer": answer})
    page = open_page(
        site, before=lambda page: page.add_init_script(f"({SUBSCRIBED})({given})"), **options
    )
    bell(page).click()
    return page


def open_form(page: Page) -> None:
    panel(page).get_by_role("button", name="In this browser").click()


def test_a_reader_switches_push_messages_on_and_off(
    served: Site, open_page: OpenPage, runtime: Runtime
) -> None:
    rows = SUBSCRIPTIONS.of(runtime.database)
    page = opened(open_page, served, timezone_id="Asia/Tokyo")
    open_form(page)
    expect(panel(page)).to_contain_text("only while a page is open")

    panel(page).get_by_role("button", name="Switch on").click()

    expect(panel(page)).to_contain_text("while no page is open")
    (row,) = rows.find()
    assert (row["user_id"], row["endpoint"]) == ("ben", ENDPOINT)
    assert (row["language"], row["time_zone"]) == ("en", "Asia/Tokyo")
    options = json.loads(page.evaluate("localStorage.getItem('subscribed')"))
    assert options == {"userVisibleOnly": True, "applicationServerKey": KEYS["vapid_public_key"]}

    page.reload()
    bell(page).click()
    open_form(page)
    panel(page).get_by_role("button", name="Switch off").click()

    expect(panel(page)).to_contain_text("only while a page is open")
    assert rows.count_documents({}) == 0
    assert page.evaluate("localStorage.getItem('subscribed')") is None

    panel(page).get_by_role("button", name="Back").click()
    expect(panel(page).get_by_role("button", name="In this browser")).to_be_focused()


def test_a_browser_of_the_reader_before_is_off_for_the_next(
    talk: Discussion, served: Site, open_page: OpenPage, runtime: Runtime
) -> None:
    page = opened(open_page, served)
    open_form(page)
    panel(page).get_by_role("button", name="Switch on").click()
    expect(panel(page).get_by_role("button", name="Switch off")).to_be_visible()
    served.token = lambda: talk.client.token("cleo", name="Cleo")
    page.reload()
    bell(page).click()
    open_form(page)

    panel(page).get_by_role("button", name="Switch on").click()

    expect(panel(page).get_by_role("button", name="Switch off")).to_be_visible()
    (row,) = SUBSCRIPTIONS.of(runtime.database).find()
    assert row["user_id"] == "cleo"


def switched_on(page: Page) -> None:
    """Switch push messages on, and close the list."""
    open_form(page)
    panel(page).get_by_role("button", name="Switch on").click()
    expect(panel(page).get_by_role("button", name="Switch off")).to_be_visible()
    page.keyboard.press("Escape")


def is_subscribed(page: Page) -> bool:
    return page.evaluate("localStorage.getItem('subscribed')") is not None


def test_the_next_reader_of_a_browser_gets_nothing_of_the_reader_before(
    talk: Discussion, served: Site, open_page: OpenPage
) -> None:
    page = opened(open_page, served)
    switched_on(page)
    served.token = lambda: talk.client.token("cleo", name="Cleo")
    page.reload()

    until(page, lambda: not is_subscribed(page))
    assert page.evaluate("localStorage.getItem('plaza:push')") == "null"


def test_a_reader_who_signs_out_in_a_page_gets_nothing_in_this_browser(
    served: Site, open_page: OpenPage
) -> None:
    page = opened(open_page, served)
    switched_on(page)
    served.token = lambda: ""
    page.evaluate(IDENTITY)

    until(page, lambda: not is_subscribed(page))


def test_a_page_that_opens_without_a_reader_changes_nothing(
    talk: Discussion, served: Site, open_page: OpenPage, runtime: Runtime
) -> None:
    page = opened(open_page, served)
    switched_on(page)
    served.token = lambda: ""
    page.reload()
    # The page's policy lets no wait of Playwright's look a second time.
    is_loaded = "Boolean(document.querySelector('plaza-bell').shadowRoot)"
    until(page, lambda: bool(page.evaluate(is_loaded)))
    # The next reader of the same browser is the one before.
    served.token = lambda: talk.client.token("ben", name="Ben")
    page.evaluate(IDENTITY)
    expect(bell(page)).to_be_visible()

    assert is_subscribed(page)
    assert SUBSCRIPTIONS.of(runtime.database).count_documents({"user_id": "ben"}) == 1


@pytest.mark.parametrize("before", ["{zone: 'Europe/Berlin'}", "{zone: undefined}"])
def test_a_browser_in_another_time_zone_is_renewed(
    served: Site, open_page: OpenPage, runtime: Runtime, before: str
) -> None:
    rows = SUBSCRIPTIONS.of(runtime.database)
    page = opened(open_page, served, timezone_id="Asia/Tokyo")
    switched_on(page)
    rows.update_one({}, {"$set": {"time_zone": "Europe/Berlin"}})
    former = f"{{...JSON.parse(localStorage.getItem('plaza:push')), ...{before}}}"
    page.evaluate(f"localStorage.setItem('plaza:push', JSON.stringify({former}))")
    page.reload()

    until(page, lambda: rows.count_documents({"time_zone": "Asia/Tokyo"}) == 1)
    # The page notes it once it has the answer.
    until(page, lambda: "Asia/Tokyo" in page.evaluate("localStorage.getItem('plaza:push')"))


@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_subscription_that_the_browser_has_changed_is_renewed(
    served: Site, open_page: OpenPage, runtime: Runtime, *, is_dropped: bool
) -> None:
    rows = SUBSCRIPTIONS.of(runtime.database)
    page = opened(open_page, served)
    switched_on(page)
    page.evaluate("url => localStorage.setItem('renewed', url)", f"{ENDPOINT}/two")
    if is_dropped:
        page.evaluate("localStorage.removeItem('subscribed'); localStorage.setItem('allowed', '1')")
    page.reload()

    until(page, lambda: rows.count_documents({"endpoint": f"{ENDPOINT}/two"}) == 1)
    until(page, lambda: "/two" in page.evaluate("localStorage.getItem('plaza:push')"))
    assert is_subscribed(page)


def test_a_browser_that_takes_its_leave_back_is_not_asked_again(
    served: Site, open_page: OpenPage
) -> None:
    page = opened(open_page, served)
    switched_on(page)
    page.evaluate("localStorage.removeItem('subscribed')")
    page.reload()

    until(page, lambda: page.evaluate("localStorage.getItem('plaza:push')") == "null")
    assert not is_subscribed(page)


def test_who_has_blocked_the_page_is_told_where_to_allow_it(
    served: Site, open_page: OpenPage
) -> None:
    page = opened(open_page, served, answer="denied")
    open_form(page)

    expect(panel(page)).to_contain_text("You have blocked notifications of this page.")
    expect(panel(page).get_by_role("button", name="Switch on")).to_be_hidden()


def test_a_reader_who_closes_the_browsers_question_is_not_subscribed(
    served: Site, open_page: OpenPage, runtime: Runtime
) -> None:
    page = opened(open_page, served, answer="default")
    open_form(page)
    panel(page).get_by_role("button", name="Switch on").click()

    expect(panel(page)).to_contain_text("only while a page is open")
    assert SUBSCRIPTIONS.of(runtime.database).count_documents({}) == 0


def test_what_the_browser_and_the_api_refuse_is_said_and_leaves_nothing(
    served: Site, open_page: OpenPage, runtime: Runtime
) -> None:
    page = opened(open_page, served, refuses=True)
    open_form(page)
    panel(page).get_by_role("button", name="Switch on").click()
    expect(panel(page).get_by_role("alert")).to_have_text("The browser refused: no push service")

    other = opened(open_page, served, may_log=FAILED)
    open_form(other)
    other.route(re.compile(r"/notifications/push$"), lambda route: route.abort())
    panel(other).get_by_role("button", name="Switch on").click()
    expect(panel(other).get_by_role("alert")).to_contain_text("cannot be reached")
    assert other.evaluate("localStorage.getItem('subscribed')") is None
    assert SUBSCRIPTIONS.of(runtime.database).count_documents({}) == 0


def test_without_a_worker_of_the_page_nothing_is_offered(host: Site, open_page: OpenPage) -> None:
    page = opened(open_page, host)

    expect(panel(page).get_by_role("button", name="By e-mail")).to_be_visible()
    expect(panel(page).get_by_role("button", name="In this browser")).to_be_hidden()


def test_the_form_fits_a_phone_and_reads_well(served: Site, open_page: OpenPage, axe: str) -> None:
    page = opened(open_page, served, **PHONE)
    open_form(page)
    expect(panel(page).get_by_role("button", name="Switch on")).to_be_focused()

    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []


def working(page: Page) -> Worker:
    """Have the page's own worker at work."""
    page.evaluate(
        """async () => {
          const types = trustedTypes.createPolicy("plaza-push", { createScriptURL: (url) => url });
          await navigator.serviceWorker.register(types.createScriptURL("/plaza-worker.js"));
          await navigator.serviceWorker.ready;
        }"""
    )
    until(page, lambda: bool(page.context.service_workers))
    worker = page.context.service_workers[0]
    worker.evaluate(SHOWS)
    return worker


def deliver(page: Page, data: str) -> None:
    """Deliver a push message to the page's worker, as the browser does."""
    session = page.context.new_cdp_session(page)
    found: list[Any] = []
    # Playwright puts a mark on a handler, which no built-in method takes.
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda each: found.append(each),  # noqa: PLW0108
    )
    session.send("ServiceWorker.enable")
    until(page, lambda: bool(found))
    (registration,) = found[0]["registrations"]
    given = {"registrationId": registration["registrationId"], "data": data}
    session.send("ServiceWorker.deliverPushMessage", {"origin": page.url.rstrip("/"), **given})


# What a worker shows, in place of the browser.
SHOWS = """() => {
  self.shown = [];
  registration.showNotification = async (title, options) => { shown.push({ title, ...options }); };
}"""
# A press on the last notification; a browser takes it from its reader alone.
PRESS = """async () => {
  const [notification] = shown.slice(-1);
  notification.close = () => { self.closed = true; };
  Object.defineProperty(clients, "openWindow", { value: (url) => { self.opened = url; } });
  let done;
  const event = Object.assign(new Event("notificationclick"), { notification });
  event.waitUntil = (promise) => { done = promise; };
  dispatchEvent(event);
  await done;
  return [self.closed, self.opened];
}"""
MESSAGE = {
    "kind": "comment.reply",
    "title": "Ann replied to you",
    "body": "The moon is up.",
    "url": "https://a.example/moon#plaza-one",
    "tag": "a" * 32,
    "lang": "en",
    "dir": "ltr",
}


def test_the_worker_shows_messages_and_leaves_those_of_the_site(
    served: Site, open_page: OpenPage
) -> None:
    page = opened(open_page, served)
    worker = working(page)

    for own in ("no JSON", json.dumps({"title": "Of the site"}), "null"):
        deliver(page, own)
    deliver(page, json.dumps(MESSAGE))

    until(page, lambda: worker.evaluate("shown.length") == 1)
    told = {name: MESSAGE[name] for name in ("title", "body", "tag", "lang", "dir")}
    assert worker.evaluate("shown") == [{**told, "data": {"plaza": MESSAGE["url"]}}]


@pytest.mark.parametrize("url", [MESSAGE["url"], "javascript:alert(1)", "data:text/html,x", ""])
def test_a_press_opens_the_page_of_a_notification_and_no_script(
    served: Site, open_page: OpenPage, url: str
) -> None:
    page = opened(open_page, served)
    worker = working(page)
    deliver(page, json.dumps({**MESSAGE, "url": url}))
    until(page, lambda: worker.evaluate("shown.length") == 1)

    opens = url if url == MESSAGE["url"] else f"{served.address}/"
    # Where the page itself is open, it comes to the front.
    page.goto("about:blank")

    assert worker.evaluate(PRESS) == [True, opens]

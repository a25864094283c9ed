"""A page that cannot always say who reads: only a guest that it names is one."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.shop.support.buying import OTHER, SKU, stocked
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.shop import CART, buy
from tests.web.support.site import Site
from tests.web.support.town import Town, write
from tests.web.support.two import POLL_MS

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
FAILED = "Failed to load resource"
WARNED = "The page's token"
MAY_LOG = (FAILED, WARNED)
UNKNOWN = "Your sign-in cannot be checked right now."
FIELD = "Write a comment"
# A page whose function gives each of `answers` once, and the last one from then on.
FUNCTION = """
window.asked = 0;
window.plaza = { token() {
    window.asked++;
    const [next] = window.answers.length > 1 ? window.answers.splice(0, 1) : window.answers;
    if (next === "throw") throw new Error("no session");
    if (next === "reject") return Promise.reject(new Error("no session"));
    if (next === "hang") return new Promise((answer) => { window.late = answer; });
    return next;
} };
"""
FAILURES = ("throw", "reject", "<html>502 Bad Gateway</html>", "a.b.c", {"error": "no session"}, 7)


@pytest.fixture(autouse=True)
def node(client: Client, site: Site) -> Client:
    """A node with a comment of Ben's; its page is the site's."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    posted = client.as_("ben", name="Ben").post(f"/nodes/{NODE}/comments", text="It is up.")
    assert posted.status == 201
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    return client


@pytest.fixture
def ann(client: Client, clock: Clock) -> Callable[..., str]:
    """Ann's tokens, good for an hour."""
    return lambda minutes=60: client.token(
        "ann", name="Ann", exp=clock() + timedelta(minutes=minutes)
    )


@pytest.fixture
def opened(site: Site, open_page: OpenPage) -> Callable[[Callable[[Page], None]], Page]:
    """Opens the site's page, once it is prepared; its calls and its function may fail."""
    return lambda prepare: open_page(site, may_log=MAY_LOG, before=prepare)


@pytest.fixture
def town(client: Client, workers: Workers, clock: Clock) -> Town:
    """People who follow each other, and a post."""
    made = Town(client, workers, clock)
    made.settle()
    made.post("A flamingo.")
    return made


def saying(*answers: object) -> Callable[[Page], None]:
    """Return what makes a page's function answer so."""

    def prepare(page: Page) -> None:
        page.add_init_script(f"window.answers = {json.dumps(answers)};{FUNCTION}")

    return prepare


def says(page: Page, *answers: object) -> None:
    """Let the page's function answer so from now on."""
    page.evaluate("(answers) => { window.answers = answers; }", list(answers))


def timed(clock: Clock, prepare: Callable[[Page], None]) -> Callable[[Page], None]:
    """Return what prepares a page, whose time is the server's and passes by `run_for` alone."""

    def prepared(page: Page) -> None:
        page.clock.install(time=clock())
        prepare(page)

    return prepared


def texts(client: Client) -> list[str]:
    return [each["text"] for each in client.get(f"/nodes/{NODE}/comments").json["comments"]]


def is_unknown(page: Page) -> None:
    """Expect the comments, and a button where a form or an invitation would be."""
    expect(page.get_by_text("It is up.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text(UNKNOWN)
    expect(page.get_by_role("button", name="Sign in to comment")).to_have_count(0)


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_a_first_failure_makes_no_guest_and_is_tried_again(
    site: Site, open_page: OpenPage, ann: Callable[..., str], failure: object
) -> None:
    page = open_page(site, may_log=MAY_LOG, before=saying(failure))
    is_unknown(page)

    says(page, ann())
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("textbox", name=FIELD)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_page_that_does_not_answer_has_failed_after_a_while(
    site: Site, open_page: OpenPage, ann: Callable[..., str], clock: Clock
) -> None:
    page = open_page(site, may_log=MAY_LOG, before=timed(clock, saying("hang")))
    until(page, lambda: bool(page.evaluate("window.asked === 1")))
    page.clock.run_for(11_000)
    is_unknown(page)

    says(page, ann())
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("textbox", name=FIELD)).to_be_visible()


def test_an_answer_that_comes_late_counts(
    site: Site, open_page: OpenPage, ann: Callable[..., str], clock: Clock
) -> None:
    page = open_page(site, may_log=MAY_LOG, before=timed(clock, saying("hang", "reject")))
    until(page, lambda: bool(page.evaluate("window.asked === 1")))
    page.clock.run_for(11_000)
    is_unknown(page)
    page.evaluate("(token) => window.late(token)", ann())

    page.clock.run_for(POLL_MS)

    expect(page.get_by_role("textbox", name=FIELD)).to_be_visible()


def test_a_late_answer_for_the_last_reader_is_not_the_next_ones(
    site: Site, open_page: OpenPage, ann: Callable[..., str], clock: Clock
) -> None:
    page = open_page(site, may_log=MAY_LOG, before=timed(clock, saying("hang", None)))
    until(page, lambda: bool(page.evaluate("window.asked === 1")))
    page.clock.run_for(11_000)
    is_unknown(page)
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()

    page.evaluate("(token) => window.late(token)", ann())
    with page.expect_request("**/comments?limit=50*") as looked:
        page.clock.run_for(POLL_MS)

    assert "authorization" not in looked.value.all_headers()


def test_a_failure_is_forgotten_by_the_next_look(
    site: Site, open_page: OpenPage, ann: Callable[..., str], clock: Clock
) -> None:
    page = open_page(site, may_log=MAY_LOG, before=timed(clock, saying("reject", ann())))
    is_unknown(page)

    page.clock.run_for(POLL_MS)

    expect(page.get_by_role("textbox", name=FIELD)).to_be_visible()


@pytest.mark.parametrize("said", [None, "", "204"])
def test_a_guest_that_the_page_names_is_asked_for_once(
    site: Site, open_page: OpenPage, clock: Clock, said: str | None
) -> None:
    asked: list[str] = []

    def prepare(page: Page) -> None:
        page.on("request", lambda each: asked.append(each.url))
        if said != "204":
            saying(said)(page)

    page = open_page(site, before=timed(clock, prepare))
    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()
    with page.expect_response("**/comments?limit=50*"):
        page.clock.run_for(POLL_MS)

    tokens = [url for url in asked if url.endswith("/token")]
    assert (len(tokens) if said == "204" else page.evaluate("window.asked")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 500, "body": "Internal Server Error"},
        {"status": 401, "json": {"error": "no session"}},
        {"status": 200, "body": "<html>Sign in</html>", "content_type": "text/html"},
        {"status": 200, "json": {"token": "no token"}},
    ],
    ids=["500", "401", "html", "garbage"],
)
def test_an_address_that_fails_makes_no_guest(
    site: Site, open_page: OpenPage, ann: Callable[..., str], answer: dict[str, Any]
) -> None:
    site.token = ann
    page = open_page(
        site,
        may_log=MAY_LOG,
        before=lambda page: page.route("**/token", lambda route: route.fulfill(**answer)),
    )
    is_unknown(page)

    page.unroute("**/token")
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("textbox", name=FIELD)).to_be_visible()


@pytest.mark.parametrize("failure", ["reject", "throw"])
def test_the_last_token_is_kept_where_a_new_one_fails(
    node: Client,
    opened: Callable[..., Page],
    ann: Callable[..., str],
    clock: Clock,
    failure: str,
) -> None:
    """A minute before its end the page is asked for another token, which is no end of the first."""
    page = opened(timed(clock, saying(ann(2), failure)))
    page.get_by_role("textbox", name=FIELD).fill("Still me.")
    page.clock.run_for(70_000)

    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("status")).to_have_text("Posted.")
    assert page.evaluate("window.asked") > 1
    assert texts(node) == ["It is up.", "Still me."]


@pytest.mark.parametrize("failure", FAILURES[:3])
def test_a_text_outlives_a_token_that_ends_and_goes_once_there_is_another(
    node: Client,
    opened: Callable[..., Page],
    ann: Callable[..., str],
    clock: Clock,
    failure: str,
) -> None:
    page = opened(saying(ann(), failure))
    field = page.get_by_role("textbox", name=FIELD)
    field.fill("Written for hours.")
    clock.advance(hours=3)
    page.get_by_role("button", name="Post").click()
    expect(page.get_by_role("alert")).to_have_text(f"{UNKNOWN} Your text is kept here.")
    expect(field).to_have_value("Written for hours.")

    says(page, ann())
    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("status")).to_have_text("Posted.")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert texts(node) == ["It is up.", "Written for hours."]


def test_a_look_while_the_page_fails_takes_nothing_from_who_writes(
    node: Client, site: Site, open_page: OpenPage, ann: Callable[..., str], clock: Clock
) -> None:
    """The API refuses the old token, so that the look is a guest's."""
    page = open_page(site, may_log=MAY_LOG, before=timed(clock, saying(ann(), "reject")))
    page.locator("[data-does=reply]").click()
    reply = page.get_by_role("textbox", name="Reply to Ben")
    reply.fill("Half a thought")
    clock.advance(hours=3)
    with page.expect_response(lambda answer: answer.status == 200 and "comments?" in answer.url):
        page.clock.run_for(POLL_MS)

    says(page, ann())
    expect(reply).to_have_value("Half a thought")
    expect(page.get_by_role("textbox", name=FIELD)).to_be_visible()
    write(page, "Reply to Ben", "A whole one.")

    expect(page.get_by_text("A whole one.")).to_be_visible()
    assert texts(node) == ["It is up.", "A whole one."]


def test_a_session_that_ends_elsewhere_closes_no_form_with_a_text(
    site: Site, open_page: OpenPage, ann: Callable[..., str], clock: Clock
) -> None:
    page = open_page(site, may_log=FAILED, before=timed(clock, saying(ann(), None)))
    page.locator("[data-does=reply]").click()
    reply = page.get_by_role("textbox", name="Reply to Ben")
    reply.fill("Half a thought")
    clock.advance(hours=3)
    with page.expect_response(lambda answer: answer.status == 200 and "comments?" in answer.url):
        page.clock.run_for(POLL_MS)
    page.wait_for_timeout(50)
    expect(reply).to_have_value("Half a thought")

    reply.fill("")
    with page.expect_response(lambda answer: answer.status == 200 and "comments?" in answer.url):
        page.clock.run_for(2 * POLL_MS)

    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()


def test_a_token_that_the_api_refuses_is_read_without(
    site: Site, open_page: OpenPage, ann: Callable[..., str]
) -> None:
    """Also if each that the page gives is another one."""
    ended = [ann(-5 - number) for number in range(4)]
    page = open_page(site, may_log=FAILED, before=saying(*ended))

    expect(page.get_by_text("It is up.")).to_be_visible()
    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()


@pytest.mark.usefixtures("town")
def test_a_feed_is_tried_again(
    site: Site, opened: Callable[..., Page], ann: Callable[..., str]
) -> None:
    site.body = "<plaza-feed></plaza-feed>"
    page = opened(saying("reject"))
    expect(page.get_by_role("alert")).to_have_text(UNKNOWN)

    says(page, ann())
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_text("A flamingo.")).to_be_visible()


def test_a_press_before_the_page_says_who_reads_goes_into_the_readers_own_cart(
    client: Client, site: Site, open_page: OpenPage, ann: Callable[..., str]
) -> None:
    stocked(client, 3)
    site.body = CART
    page = open_page(site, before=saying(ann()))
    buy(page, OTHER)
    kept = page.evaluate("Object.values(localStorage)")

    page.add_init_script('window.answers = ["hang"]; sessionStorage.clear()')
    page.reload()
    until(page, lambda: bool(page.evaluate("Boolean(window.late)")))
    page.get_by_role("button", name="Buy A whale").click()
    says(page, ann())
    page.evaluate("(token) => window.late(token)", ann())

    expect(page.get_by_role("listitem")).to_have_count(2)
    assert page.evaluate("Object.values(localStorage)") == kept


def test_a_cart_of_a_reader_who_is_unknown_is_no_guests(
    client: Client, site: Site, open_page: OpenPage, ann: Callable[..., str]
) -> None:
    stocked(client)
    site.body = CART
    page = open_page(site, may_log=WARNED, before=saying("reject"))
    expect(page.get_by_role("alert")).to_have_text(UNKNOWN)

    says(page, ann())
    page.get_by_role("button", name="Try again").click()
    buy(page, SKU)

    assert ":ann" in page.evaluate("Object.keys(localStorage)[0]")


def test_a_press_of_one_reader_never_goes_into_another_readers_cart(
    client: Client, site: Site, open_page: OpenPage, ann: Callable[..., str], clock: Clock
) -> None:
    stocked(client, 3)
    site.body = CART
    ben = client.token("ben", name="Ben", exp=clock() + timedelta(hours=9))
    page = open_page(site, may_log=MAY_LOG, before=timed(clock, saying(ann(), ben)))
    buy(page, SKU)
    kept = page.evaluate("Object.entries(localStorage)")
    clock.advance(hours=3)

    page.get_by_role("button", name="Buy A whale").click()

    expect(page.get_by_text(UNKNOWN).first).to_be_visible()
    assert page.evaluate("Object.entries(localStorage)") == kept
    assert len(kept) == 1


@pytest.mark.parametrize("is_refused", [True, False], ids=["refused", "ending"])
def test_what_one_reader_wrote_is_never_sent_as_another(
    node: Client,
    opened: Callable[..., Page],
    ann: Callable[..., str],
    clock: Clock,
    *,
    is_refused: bool,
) -> None:
    """Also not where the API refuses the first one's token, and the page gives the next one's."""
    ben = node.token("ben", name="Ben", exp=clock() + timedelta(hours=9))
    page = opened(timed(clock, saying(ann(60 if is_refused else 2), ben)))
    field = page.get_by_role("textbox", name=FIELD)
    field.fill("Mine alone.")
    if is_refused:
        clock.advance(hours=3)
    else:
        page.clock.run_for(70_000)

    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("alert")).to_have_text(f"{UNKNOWN} Your text is kept here.")
    expect(field).to_have_value("Mine alone.")
    assert texts(node) == ["It is up."]


def test_a_post_is_never_sent_as_another_reader(
    town: Town, site: Site, opened: Callable[..., Page], ann: Callable[..., str], clock: Clock
) -> None:
    site.body = "<plaza-feed></plaza-feed>"
    ben = town.client.token("ben", name="Ben", exp=clock() + timedelta(hours=9))
    page = opened(saying(ann(), ben))
    expect(page.get_by_role("textbox", name="What is new?")).to_be_visible()
    clock.advance(hours=3)

    write(page, "What is new?", "Mine alone.")

    expect(page.get_by_role("alert")).to_have_text(f"{UNKNOWN} Your text is kept here.")
    assert "Mine alone." not in json.dumps(town.wall("ben"))

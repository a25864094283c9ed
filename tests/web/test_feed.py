"""A feed on somebody else's page, under the strictest policy: read, and told of what is new."""

import re

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import answer_read, count_answers, stop_time, until
from tests.web.support.site import Site
from tests.web.support.town import Town

expect.set_options(timeout=PATIENCE_MS)
FAILED = "Failed to load resource"
FEED = "document.querySelector('plaza-feed').shadowRoot"


@pytest.fixture(autouse=True)
def town(client: Client, workers: Workers, clock: Clock, site: Site) -> Town:
    """People who follow each other; the site's page shows its reader's news."""
    town = Town(client, workers, clock)
    town.settle()
    site.body = "<plaza-feed><p>What people say</p></plaza-feed>"
    return town


@pytest.fixture
def ann(site: Site, client: Client) -> None:
    """Ann reads the site."""
    site.token = lambda: client.token("ann", name="Ann")


def of_every_type(town: Town) -> None:
    town.post("A flamingo.\nIn November.")
    link = {"url": "https://a.example/page", "title": "The lighthouse", "text": "Page 14."}
    town.post(type="link", detail=link)
    town.post(type="photo", detail={"url": "https://photos.example/soup.jpg"})
    town.post(type="checkin", detail={"place": "The harbour wall"})
    town.post(type="poll", detail={"question": "Which way?", "options": ["Woods", "Wall"]})


@pytest.mark.usefixtures("ann")
def test_news_show_posts_of_every_type_and_load_nothing_from_elsewhere(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    of_every_type(town)
    page = open_page(site)

    posts = page.get_by_role("article", name="Ben")
    expect(posts).to_have_count(5)
    expect(posts.nth(4)).to_contain_text("A flamingo.\nIn November.", use_inner_text=True)
    link = posts.nth(3).get_by_role("link")
    expect(link).to_have_text("The lighthousea.example")
    assert link.get_attribute("rel") == "nofollow ugc noopener noreferrer"
    expect(posts.nth(2).get_by_role("link")).to_contain_text("Picture by Ben")
    expect(posts.nth(1)).to_contain_text("The harbour wall")
    expect(posts.nth(0).get_by_role("listitem")).to_have_text(["Woods0", "Wall0"])
    assert page.locator("img").count() == 0


@pytest.mark.usefixtures("ann")
def test_a_page_that_wants_pictures_gets_them(town: Town, site: Site, open_page: OpenPage) -> None:
    town.post(type="photo", detail={"url": "https://photos.example/soup.svg"})
    site.body = "<plaza-feed images></plaza-feed>"

    def picture(route: Route) -> None:
        body = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
        route.fulfill(content_type="image/svg+xml", body=body)

    page = open_page(
        site,
        may_log="request to another host: https://photos.example/",
        before=lambda page: page.route("https://photos.example/*", picture),
    )

    image = page.get_by_role("img", name="Picture by Ben")
    expect(image).to_be_visible()
    assert image.get_attribute("referrerpolicy") == "no-referrer"


def test_a_guest_is_asked_to_sign_in_and_no_call_is_made_in_vain(
    site: Site, open_page: OpenPage
) -> None:
    asked: list[str] = []
    page = open_page(site, before=lambda page: page.on("request", lambda r: asked.append(r.url)))

    expect(page.get_by_role("button", name="Sign in to read your news")).to_be_visible()
    expect(page.get_by_text("What people say")).to_be_visible()
    assert not [url for url in asked if "/users/" in url]


def test_anybody_reads_what_somebody_posted_for_everybody(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    town.circle("ben", "close", "ann")
    town.post("For all.")
    town.post("For few.", circle="close")
    site.body = '<plaza-feed user="ben"></plaza-feed>'

    page = open_page(site)

    expect(page.get_by_role("heading", name="Posts of Ben")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("button", name="Comment")).to_have_count(0)


@pytest.mark.parametrize(
    ("user", "told"),
    [("ann", "Nothing has been posted here yet."), ("erased", "There is nobody of this name")],
)
def test_what_is_not_there_is_said(site: Site, open_page: OpenPage, user: str, told: str) -> None:
    site.body = f'<plaza-feed user="{user}"></plaza-feed>'

    page = open_page(site, may_log=FAILED)

    expect(page.get_by_text(told)).to_be_visible()


@pytest.mark.usefixtures("ann")
def test_whom_a_reader_has_blocked_is_not_shown(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    town.post("Unwanted.")
    assert town.as_("ann").put("/users/me/blocked/ben").status == 204

    page = open_page(site)

    expect(page.get_by_role("status").first).to_be_attached()
    expect(page.get_by_text("Nothing has been posted here yet.")).to_be_visible()


@pytest.mark.usefixtures("ann")
def test_further_pages_come_when_they_are_asked_for(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    site.body = '<plaza-feed limit="2"></plaza-feed>'
    for number in range(3):
        town.post(f"Post {number}")
    page = open_page(site)
    expect(page.get_by_role("article")).to_have_count(2)

    page.get_by_role("button", name="Show more").click()

    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    focused = page.evaluate(f"{FEED}.activeElement.textContent")
    assert "Post 0" in focused


@pytest.mark.usefixtures("ann")
def test_new_posts_are_told_and_move_nothing(town: Town, site: Site, open_page: OpenPage) -> None:
    town.post("The first.")
    page = open_page(site, before=lambda page: page.clock.install())
    expect(page.get_by_role("article")).to_have_count(1)
    first = page.get_by_role("article").bounding_box()
    town.post("The second.")

    page.clock.fast_forward(31_000)
    button = page.get_by_role("button", name="1 new post")
    expect(button).to_be_visible()
    assert page.get_by_role("article").bounding_box() == first
    button.click()

    expect(page.get_by_role("article")).to_have_count(2)
    expect(button).to_have_count(0)
    assert "The second." in page.evaluate(f"{FEED}.activeElement.textContent")


@pytest.mark.usefixtures("ann")
def test_new_posts_are_told_once_and_the_button_keeps_the_focus(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    page = open_page(site, before=lambda page: page.clock.install())
    expect(page.get_by_role("status").first).to_be_attached()
    town.post("The first.")
    page.clock.fast_forward(31_000)
    button = page.get_by_role("button", name="1 new post")
    button.focus()
    changed = "new MutationObserver(() => { window.told = true; }).observe("
    page.evaluate(f"{changed}{FEED}.querySelector('.fresh'), {{ childList: true, subtree: true }})")

    with page.expect_response("**/news*"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    page.evaluate("new Promise((done) => setTimeout(done))")
    expect(button).to_be_focused()
    assert not page.evaluate("Boolean(window.told)")
    town.post("The second.")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_role("button", name="2 new posts")).to_be_focused()


def is_news(request: Request) -> bool:
    return request.method == "GET" and "/news" in request.url


@pytest.mark.usefixtures("ann")
def test_a_quiet_feed_is_asked_for_less_often(site: Site, open_page: OpenPage) -> None:
    asked: list[str] = []
    page = open_page(site, before=stop_time)
    expect(page.get_by_text("Nothing has been posted here yet.")).to_be_visible()
    page.on("requestfinished", lambda each: asked.append(each.url) if is_news(each) else None)

    for count, seconds in enumerate((30, 60, 120, 240, 300, 300), 1):
        page.clock.run_for(1_000 * (seconds - 1))
        assert len(asked) < count
        with page.expect_event("requestfinished", is_news):
            page.clock.run_for(1_000)


@pytest.mark.usefixtures("ann")
def test_an_answer_for_the_last_reader_is_not_shown_to_the_next(
    town: Town, site: Site, client: Client, open_page: OpenPage
) -> None:
    town.post("For Ann.")
    town.circle("ben", "mine", "ann")
    town.post("From Ann.", sub="ann")
    page = open_page(site, before=count_answers)
    expect(page.get_by_text("For Ann.")).to_be_visible()
    held: list[Route] = []
    page.route("**/news*", lambda route: held.append(route) if not held else route.continue_())

    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    until(page, lambda: bool(held))
    site.token = lambda: client.token("ben", name="Ben")
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    expect(page.get_by_text("From Ann.")).to_be_visible()
    with answer_read(page):
        held[0].continue_()

    expect(page.get_by_text("From Ann.")).to_be_visible()
    expect(page.get_by_text("For Ann.")).to_have_count(0)


@pytest.mark.usefixtures("ann")
def test_a_further_page_for_the_last_reader_is_not_shown_to_the_next(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    town.circle("ben", "close", "ann")
    town.post("For Ann alone.", circle="close")
    town.post("For all.")
    site.body = '<plaza-feed user="ben" limit="1"></plaza-feed>'
    page = open_page(site, before=count_answers)
    expect(page.get_by_role("button", name="Show more")).to_be_visible()
    held: list[Route] = []
    page.route("**/wall*", lambda route: route.continue_() if held else held.append(route))
    page.get_by_role("button", name="Show more").click()
    until(page, lambda: bool(held))
    site.token = lambda: None
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    expect(page.get_by_role("button", name="Comment")).to_have_count(0)

    with answer_read(page):
        held[0].continue_()

    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_text("For Ann alone.")).to_have_count(0)


@pytest.mark.usefixtures("ann")
def test_a_feed_that_came_late_comes_by_the_button(site: Site, open_page: OpenPage) -> None:
    down = [True]

    def answer(route: Route) -> None:
        if down:
            route.abort()
        else:
            route.continue_()

    page = open_page(site, may_log=FAILED, before=lambda page: page.route("**/news*", answer))
    expect(page.get_by_role("alert")).to_have_text("Plaza cannot be reached.")
    expect(page.get_by_text("What people say")).to_be_visible()
    down.clear()
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("heading", name="News")).to_be_visible()


@pytest.mark.usefixtures("ann")
def test_what_colleagues_did_is_told_by_its_type_or_in_the_words_of_the_page(
    town: Town, site: Site, client: Client, open_page: OpenPage
) -> None:
    town.act()
    site.body = '<plaza-feed view="activity"></plaza-feed>'
    own = "window.plaza = { words: { did_application_rating: '{rater_name}: {rating_score}!' } }"

    page = open_page(site)
    expect(page.get_by_role("article")).to_contain_text("application rating")
    expect(page.get_by_role("article")).to_contain_text("Sees what others walk past.")
    expect(page.get_by_role("heading", name="Activity")).to_be_visible()
    page = open_page(site, before=lambda page: page.add_init_script(own))

    expect(page.get_by_role("article")).to_contain_text(re.compile(".Ben.: 4.5!"))
    assert client.as_("ann").get("/feed/unread").json == {"unread": 0}


@pytest.mark.usefixtures("ann")
@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("de", "dark"), ("ar", "dark")])
def test_it_fits_on_a_phone_in_every_direction(
    town: Town, site: Site, open_page: OpenPage, language: str, scheme: str
) -> None:
    post = town.post(f"{'long ' * 20} {'x' * 200}")
    town.comment(post, "y" * 200)
    url = f"https://a.example/{'z' * 200}"
    town.post(type="link", detail={"url": url})
    site.language = language
    site.body = "<plaza-feed></plaza-feed>"

    page: Page = open_page(site, color_scheme=scheme, viewport={"width": 320, "height": 700})

    expect(page.get_by_role("article")).to_have_count(2)
    page.locator("[data-does=comment]").first.click()
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
    direction = page.evaluate(f"{FEED}.querySelector('section').dir")
    assert direction == ("rtl" if language == "ar" else "ltr")

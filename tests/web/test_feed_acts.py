"""What a reader of a feed does with what others posted: votes, reacts, takes it off a wall."""

import jwt
import pytest
from playwright.sync_api import Request, Route, expect

from chalicelib.runtime import Runtime
from chalicelib.social.posts import posts
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import confirm, until
from tests.web.support.site import Site
from tests.web.support.town import Town, write

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(autouse=True)
def town(client: Client, workers: Workers, clock: Clock, site: Site) -> Town:
    """People who follow each other; Ann reads her news on the site's page."""
    town = Town(client, workers, clock)
    town.settle()
    site.body = "<plaza-feed></plaza-feed>"
    site.token = lambda: client.token("ann", name="Ann")
    return town


def test_what_others_wrote_is_taken_off_the_own_wall(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    site.body = '<plaza-feed view="wall"></plaza-feed>'
    town.post(type="status", detail={"text": "To Ann."}, wall_owner_id="ann")
    page = open_page(site)
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)

    confirm(page, "Take off my wall")

    expect(page.get_by_role("article")).to_have_count(0)
    assert town.wall("ann") == []


def test_a_vote_is_given_changed_and_taken_back(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    post = town.post(type="poll", detail={"question": "Which way?", "options": ["Woods", "Wall"]})
    assert town.as_("ben").put(f"/posts/{post}/vote", option="Wall").status == 200
    page = open_page(site)
    options = page.get_by_role("article").get_by_role("listitem")
    woods = page.get_by_role("button", name="Woods")
    expect(options).to_have_text(["Woods0", "Wall1"])

    woods.click()
    expect(options).to_have_text(["Woods1", "Wall1"])
    expect(woods).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Wall").click()
    expect(options).to_have_text(["Woods0", "Wall2"])
    expect(woods).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Wall").click()

    expect(options).to_have_text(["Woods0", "Wall1"])
    assert town.as_("ann").get(f"/posts/{post}").json["poll"]["own_vote"] is None


def test_the_last_of_two_quick_votes_holds(town: Town, site: Site, open_page: OpenPage) -> None:
    post = town.post(type="poll", detail={"question": "Which way?", "options": ["Woods", "Wall"]})
    page = open_page(site)
    options = page.get_by_role("article").get_by_role("listitem")
    held: list[Route] = []
    # Playwright takes no method of a list.
    page.route("**/vote", lambda each: held.append(each))  # noqa: PLW0108

    page.get_by_role("button", name="Woods").click()
    page.get_by_role("button", name="Wall").click()
    # The first call to go on is the last that was made.
    for _ in range(2):
        until(page, lambda: bool(held))
        held.pop().continue_()

    expect(options).to_have_text(["Woods0", "Wall1"])
    assert town.as_("ann").get(f"/posts/{post}").json["poll"]["own_vote"] == "Wall"


def test_a_second_press_takes_a_reaction_back_that_is_on_its_way(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    action = town.act()
    site.body = '<plaza-feed view="activity"></plaza-feed>'
    page = open_page(site)
    methods: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/reaction"):
            methods.append(request.method)

    page.on("request", note)
    page.get_by_role("button", name="Like").dblclick()

    until(page, lambda: "DELETE" in methods)
    expect(page.get_by_role("button", name="Like", exact=True)).to_be_visible()
    assert methods == ["PUT", "DELETE"]
    assert town.as_("ben").get(f"/actions/{action}").json["reaction_count"] == 0


def test_a_reaction_is_counted_once_and_an_action_commented_on(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    action = town.act()
    site.body = '<plaza-feed view="activity"></plaza-feed>'
    page = open_page(site)

    page.get_by_role("button", name="Like").click()
    expect(page.get_by_role("button", name="Like", pressed=True)).to_be_visible()
    page.get_by_role("button", name="Celebrate").click()
    expect(page.get_by_role("button", name="Celebrate", pressed=True)).to_be_visible()
    expect(page.get_by_role("button", name="Like", pressed=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Celebrate 1")).to_be_visible()
    page.get_by_role("button", name="Celebrate 1").click()
    expect(page.get_by_role("button", name="Celebrate", exact=True)).to_be_visible()
    page.get_by_role("button", name="Support").click()
    expect(page.get_by_role("button", name="Support 1", pressed=True)).to_be_visible()
    page.get_by_role("button", name="Comment").click()
    write(page, "Reply to Ben", "So she does.")

    expect(page.locator(".comments li")).to_contain_text("So she does.")
    told = town.as_("ben").get(f"/actions/{action}").json
    assert (told["reaction_count"], told["comment_count"]) == (1, 1)


def test_who_is_refused_reads_as_a_guest(town: Town, site: Site, open_page: OpenPage) -> None:
    town.post("For those who follow Ben.")
    forged = jwt.encode({"sub": "ben", "exp": 4_102_444_800}, "a secret of another site" * 2)
    site.token = lambda: forged

    page = open_page(site, may_log="Failed to load resource")

    expect(page.get_by_role("button", name="Sign in to read your news")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)


def test_a_picture_that_plaza_keeps_is_shown_at_once(
    town: Town, runtime: Runtime, site: Site, open_page: OpenPage
) -> None:
    photo = {"type": "photo", "detail": {"url": "https://photos.example/soup.jpg"}}
    assert town.as_("ann").post("/posts", circles=["*public*"], **photo).status == 201
    kept = "/assets/0123456789abcdef"
    posts.POSTS.of(runtime.database).update_many({}, {"$set": {"detail.url": kept}})
    town.workers.drain()
    site.body = '<plaza-feed user="ann"></plaza-feed>'

    page = open_page(site, may_log="Failed to load resource")

    picture = page.get_by_role("img", name="Picture by Ann")
    expect(picture).to_have_attribute("src", f"{site.api}{kept}")

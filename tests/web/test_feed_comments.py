"""Comments in a feed are edited and deleted by whoever may, and go from others' screens."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import confirm, until
from tests.web.support.site import Site
from tests.web.support.town import Town, write
from tests.web.test_late_answers import Late

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(autouse=True)
def town(client: Client, workers: Workers, clock: Clock, site: Site) -> Town:
    """Ann, who reads her news on the site's page, and Ben, at the time of the browser."""
    clock.time = datetime.now(UTC).replace(microsecond=0)
    town = Town(client, workers, clock)
    town.settle()
    site.body = "<plaza-feed></plaza-feed>"
    site.token = lambda: client.token("ann", name="Ann")
    return town


def turned_away_and_back(page: Page) -> bool:
    """Turn to the feed anew, by the pointer."""
    page.mouse.move(0, 0)
    page.get_by_role("article").first.hover()
    return True


def test_an_own_comment_is_edited_and_deleted(town: Town, site: Site, open_page: OpenPage) -> None:
    post = town.post("What is new?")
    town.comment(post, "By Ben")
    town.clock.advance(seconds=1)
    town.comment(post, "By Ann", "ann")
    page = open_page(site)
    listed = page.locator(".comments > li")
    expect(listed).to_have_count(2)
    expect(listed.first.get_by_role("button")).to_have_count(0)

    listed.last.get_by_role("button", name="Edit").click()
    write(page, "Edit", "By Ann, again", button="Save")
    expect(listed.last).to_contain_text("By Ann, again")
    expect(listed.last).to_contain_text("edited")
    stored = town.as_("ben").get(f"/posts/{post}").json["comments"][-1]
    assert stored["text"] == "By Ann, again"

    confirm(listed.last, "Delete")
    expect(page.get_by_role("status")).to_have_text("This comment was deleted.")
    expect(listed).to_have_count(1)
    assert town.as_("ben").get(f"/posts/{post}").json["comment_count"] == 1


def test_the_posts_author_deletes_what_others_wrote(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    post = town.post("What is new?", "ann")
    town.comment(post, "By Ben")
    site.body = '<plaza-feed view="wall"></plaza-feed>'
    page = open_page(site)
    listed = page.locator(".comments > li")
    expect(listed.get_by_role("button", name="Edit")).to_have_count(0)

    confirm(listed, "Delete")

    expect(listed).to_have_count(0)
    assert town.as_("ben").get(f"/posts/{post}").json["comments"] == []


def test_a_moderator_deletes_a_comment(
    town: Town, client: Client, site: Site, open_page: OpenPage
) -> None:
    post = town.post("What is new?")
    town.comment(post, "By Ben")
    site.token = lambda: client.token("ann", name="Ann", roles=["social_moderator"])
    page = open_page(site)

    page.get_by_role("article").hover()
    confirm(page.locator(".comments > li"), "Delete")

    expect(page.locator(".comments > li")).to_have_count(0)
    assert town.as_("ben").get(f"/posts/{post}").json["comments"] == []


def test_a_moderator_who_begins_to_write_goes_on(
    town: Town, client: Client, site: Site, open_page: OpenPage
) -> None:
    """The feed learns of the role while they write."""
    town.comment(town.post("What is new?"), "By Ben")
    site.token = lambda: client.token("ann", name="Ann", roles=["social_moderator"])
    page = open_page(site)
    field = page.get_by_role("textbox", name="What is new?")

    field.focus()
    page.keyboard.type("The moon")
    expect(page.locator(".comments > li").get_by_role("button", name="Delete")).to_be_visible()
    page.keyboard.type(" is up.")

    expect(field).to_be_focused()
    expect(field).to_have_value("The moon is up.")


def test_a_moderator_has_their_buttons_once_a_question_that_failed_is_asked_again(
    town: Town, client: Client, site: Site, open_page: OpenPage
) -> None:
    town.comment(town.post("What is new?"), "By Ben")
    site.token = lambda: client.token("ann", name="Ann", roles=["social_moderator"])
    page = open_page(site, may_log="net::ERR")
    failed: list[Route] = []

    def fail_once(route: Route) -> None:
        if failed:
            route.continue_()
        else:
            failed.append(route)
            route.abort()

    page.route("**/me", fail_once)
    page.get_by_role("article").hover()
    until(page, lambda: bool(failed))
    button = page.locator(".comments > li").get_by_role("button", name="Delete")
    until(page, lambda: turned_away_and_back(page) and button.is_visible())


def test_a_moderator_has_their_buttons_in_a_feed_that_began_anew_meanwhile(
    town: Town, client: Client, site: Site, open_page: OpenPage
) -> None:
    town.comment(town.post("What is new?"), "By Ben")
    site.token = lambda: client.token("ann", name="Ann", roles=["social_moderator"])
    page = open_page(site, may_log="net::ERR")
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/me", hold_first)
    page.get_by_role("article").hover()
    until(page, lambda: bool(held))

    with page.expect_response("**/news*"):
        page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    button = page.locator(".comments > li").get_by_role("button", name="Delete")
    until(page, lambda: turned_away_and_back(page) and button.is_visible())

    held[0].abort()
    page.evaluate("new Promise((done) => setTimeout(done))")
    expect(button).to_be_visible()


def test_a_comment_that_is_written_during_a_look_stays(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    town.post("What is new?")
    page = open_page(site)
    page.get_by_role("button", name="Comment", exact=True).click()
    answered: list[tuple[Route, object]] = []
    page.route("**/news*", lambda route: answered.append((route, route.fetch())))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    until(page, lambda: bool(answered))
    write(page, "Reply to Ben", "Mine.")
    listed = page.locator(".comments > li")
    expect(listed).to_have_count(1)

    with page.expect_response("**/news*"):
        for route, answer in answered:
            route.fulfill(response=answer)  # type: ignore[arg-type]
    page.evaluate("new Promise((done) => setTimeout(done))")

    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("Mine.")


def test_a_comment_that_is_deleted_elsewhere_goes_when_the_feed_looks_again(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    post = town.post("What is new?")
    town.comment(post, "Abuse")
    town.clock.advance(seconds=1)
    town.comment(post, "First")
    page = open_page(site)
    listed = page.locator(".comments > li")
    expect(listed).to_have_count(2)
    abuse, kept = town.as_("ben").get(f"/posts/{post}/comments").json["comments"]
    assert town.as_("ben").delete(f"/posts/{post}/comments/{abuse['id']}").status == 204
    path = f"/posts/{post}/comments/{kept['id']}"
    assert town.as_("ben").patch(path, text="Second").status == 200
    town.workers.drain()

    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("Second")


def test_a_post_that_is_deleted_or_edited_elsewhere_follows_when_the_feed_looks_again(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    edited, kept, abuse = town.post("Before."), town.post("Kind."), town.post("Abuse.")
    page = open_page(site)
    posts = page.locator("plaza-feed [part=post]")
    expect(posts).to_have_count(3)
    ben = town.as_("ben")
    assert ben.delete(f"/posts/{abuse}").status == 204
    assert ben.patch(f"/posts/{edited}", detail={"text": "After."}).status == 200
    town.workers.drain()

    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    expect(posts).to_have_count(2)
    expect(page.locator(f"[id='{kept}']")).to_contain_text("Kind.")
    expect(page.locator(f"[id='{edited}']")).to_contain_text("After.")


def test_a_look_leaves_a_post_that_its_reader_answers(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    abuse = town.post("Abuse.")
    page = open_page(site)
    page.get_by_role("button", name="Comment").click()
    page.keyboard.type("This is no")
    assert town.as_("ben").delete(f"/posts/{abuse}").status == 204
    town.post("Another.")

    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    # The button is hidden while its reader writes.
    expect(page.locator(".fresh button")).to_have_text("1 new post")
    expect(page.get_by_role("textbox", name="Reply to Ben")).to_have_value("This is no")


def test_further_pages_of_comments_stand_above_what_the_reader_wrote_meanwhile(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    post = town.post("What is new?")
    for number in range(60):
        reply = town.as_("ben").post(f"/posts/{post}/comments", text=f"number {number}")
        assert reply.status == 201
        town.clock.advance(seconds=1)
    town.workers.drain()
    page = open_page(site)
    page.get_by_role("button", name="60 comments").click()
    listed = page.locator(".comments > li")
    expect(listed).to_have_count(50)
    page.get_by_role("button", name="Comment", exact=True).click()
    write(page, "Reply to Ben", "Mine.")
    expect(listed.last).to_contain_text("Mine.")

    page.locator(".comments").locator("xpath=..").get_by_role("button", name="Show more").click()

    expect(listed).to_have_count(61)
    expect(listed.nth(50)).to_contain_text("number 50")
    expect(listed.last).to_contain_text("Mine.")


def test_show_more_leaves_a_reader_who_writes_a_post_by_now(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    for number in range(14):
        town.post(f"Post {number}")
    page = open_page(site)
    late = Late(page, "GET", re.compile("/news.*cursor"))
    page.get_by_role("button", name="Show more").click()
    late.wait()
    composer = page.get_by_role("textbox").first
    composer.click()
    page.keyboard.type("Good mor")

    late.let_go()
    expect(page.get_by_role("article")).to_have_count(14)
    page.keyboard.type("ning all")

    expect(composer).to_have_value("Good morning all")

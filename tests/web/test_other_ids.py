"""Readers whom the API knows by another id than their token: what is theirs is shown as theirs."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.issuing import ISS, SECRET
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import confirm, until
from tests.web.support.site import Site
from tests.web.support.town import Town, write
from tests.web.support.two import NODE, Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
# The number of an account at the site, as its own issuer says it.
NUMBER = "42"
# The API has its keyed hash in the place of a subject that is no id.
SUBJECT = "zoe@harbour.example"


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion at a site with an issuer of its own: a comment of Ann's."""
    with discussing(client, clock, address) as made:
        accounts = {"iss": ISS, "secret": SECRET}
        assert made.admin.put("/sites/harbour/issuers/accounts", **accounts).status == 200
        made.posted("The moon is up.")
        yield made


@pytest.fixture
def zoe(talk: Discussion) -> Site:
    """The page as Zoe reads it, a person of the site's own accounts."""
    site = talk.site_of("")
    expires = talk.clock() + timedelta(days=365)
    said = {"iss": ISS, "aud": "plaza:harbour", "sub": NUMBER, "name": "Zoe", "exp": expires}
    site.token = lambda: jwt.encode(said, SECRET, "HS256")
    return site


def member_of(talk: Discussion, zoe: Site) -> Client:
    bearer = {**talk.client.headers, "Authorization": f"Bearer {zoe.token()}"}
    return Client(talk.client.app, talk.client.token, bearer)


@pytest.fixture
def own(talk: Discussion, zoe: Site) -> str:
    """A comment of Zoe's; its id."""
    member = member_of(talk, zoe)
    assert member.get("/me").json["id"].startswith("s_")
    reply = member.post(f"/nodes/{NODE}/comments", text="It is full.")
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def button(place: Page | Locator, name: str) -> Locator:
    return place.get_by_role("button", name=name, exact=True)


def test_the_own_comment_of_a_person_of_a_site_has_no_report_and_no_vote(
    zoe: Site, own: str, open_page: OpenPage
) -> None:
    page = open_page(zoe)
    votes = page.locator(f"#c-{own}").get_by_role("button", name="Vote for this comment")

    expect(button(page, "Report")).to_have_count(1)
    expect(votes).to_be_disabled()
    expect(page.locator(f"#c-{own}").get_by_role("button", name="Report")).to_have_count(0)


@pytest.mark.usefixtures("own")
def test_a_person_of_a_site_blocks_others_alone_and_takes_a_block_back(
    zoe: Site, open_page: OpenPage
) -> None:
    page = open_page(zoe)
    button(page, "Ann").click()
    button(page, "Block").click()
    expect(page.get_by_role("article", name="You blocked Ann.")).to_be_visible()

    button(page, "Zoe").click()
    card = page.get_by_role("group", name="Zoe", exact=True)
    expect(button(card, "Block")).to_have_count(0)
    card.get_by_text("People you have blocked").click()
    card.get_by_role("button", name="Unblock: Ann").click()

    expect(page.get_by_text("The moon is up.")).to_be_visible()


@pytest.mark.usefixtures("own")
def test_all_whom_a_reader_has_blocked_are_listed(
    talk: Discussion, zoe: Site, open_page: OpenPage
) -> None:
    for number in range(21):
        assert member_of(talk, zoe).put(f"/sites/harbour/blocked/troll-{number}").status == 204

    page = open_page(zoe)
    button(page, "Zoe").click()
    card = page.get_by_role("group", name="Zoe", exact=True)
    card.get_by_text("People you have blocked").click()

    expect(card.get_by_role("button", name="Unblock:")).to_have_count(21)


@pytest.fixture
def town(client: Client, workers: Workers, clock: Clock, site: Site) -> Town:
    """Zoe, who follows Ben and reads her news, at the time of the browser."""
    clock.time = datetime.now(UTC).replace(microsecond=0)
    town = Town(client, workers, clock)
    for sub in (SUBJECT, "ben"):
        assert town.as_(sub).put("/users/me").status == 200
    town.circle(SUBJECT, "friends", "ben")
    site.body = "<plaza-feed></plaza-feed>"
    site.token = lambda: client.token(SUBJECT, name="Zoe")
    return town


def test_who_has_no_id_for_a_subject_edits_and_deletes_their_comments_in_a_feed(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    post = town.post("What is new?")
    town.comment(post, "By Ben")
    town.clock.advance(seconds=1)
    town.comment(post, "By Zoe", SUBJECT)
    page = open_page(site)
    page.get_by_role("article").hover()
    listed = page.locator(".comments > li")

    button(listed.last, "Edit").click()
    write(page, "Edit", "By Zoe, again", button="Save")
    expect(listed.last).to_contain_text("By Zoe, again")
    expect(listed.first.get_by_role("button")).to_have_count(0)
    confirm(listed.last, "Delete")

    expect(listed).to_have_count(1)


@pytest.mark.parametrize("is_named", [False, True], ids=["own wall", "by id"])
def test_who_has_no_id_for_a_subject_is_at_home_on_their_wall(
    town: Town, site: Site, open_page: OpenPage, *, is_named: bool
) -> None:
    zoe = str(town.as_(SUBJECT).get("/me").json["id"])
    town.post(type="status", detail={"text": "To Zoe."}, wall_owner_id=zoe)
    site.body = f'<plaza-feed user="{zoe}"></plaza-feed>'
    if not is_named:
        site.body = '<plaza-feed view="wall"></plaza-feed>'
    page = open_page(site)
    page.get_by_role("article").hover()
    expect(page.get_by_role("textbox", name="What is new?")).to_be_visible()

    confirm(page, "Take off my wall")

    expect(page.get_by_role("article")).to_have_count(0)
    until(page, lambda: town.wall(SUBJECT) == [])


def test_a_form_stays_though_its_reader_turns_out_to_be_at_home(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    zoe = str(town.as_(SUBJECT).get("/me").json["id"])
    town.post(type="status", detail={"text": "To Zoe."}, wall_owner_id=zoe)
    site.body = f'<plaza-feed user="{zoe}"></plaza-feed>'
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = open_page(site, before=lambda page: page.route("**/me", hold))
    button(page.get_by_role("article"), "Comment").click()
    page.get_by_role("article").get_by_role("textbox").fill("Half a thought")
    until(page, lambda: bool(held))

    with page.expect_response("**/me"):
        held[0].continue_()
    page.evaluate("new Promise((done) => setTimeout(done))")

    expect(page.get_by_role("article").get_by_role("textbox")).to_have_value("Half a thought")
    expect(page.get_by_role("article").get_by_role("textbox")).to_be_focused()

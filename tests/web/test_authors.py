"""Who wrote a comment: a face, badges and role, whatever they are called."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.site import Site, serving
from tests.web.support.two import NODE, Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
PHONE = {"width": 320, "height": 640}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HOSTILE = "<img src=x onerror=alert(1)>" + "W" * 60


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[])
        yield made


def give_badges(talk: Discussion, *badges: str, to: str = "ann") -> None:
    path = f"/sites/harbour/people/{to}"
    assert talk.admin.patch(path, badges=list(badges)).status == 200


def post_as(talk: Discussion, sub: str, text: str = "The moon is up.", **claims: object) -> None:
    author = talk.client.as_(sub, **{"name": sub.title(), **claims})
    assert author.post(f"/nodes/{NODE}/comments", text=text).status == 201


def face(page: Page) -> Locator:
    return page.get_by_role("article").locator(".face")


def test_the_badges_and_the_role_that_an_author_had_stand_beside_the_name(
    talk: Discussion, open_page: OpenPage
) -> None:
    give_badges(talk, "Captain", "Regular")
    post_as(talk, "ann")
    post_as(talk, "mo", "Well said.", roles=["moderator"])
    page = open_page(talk.site_of("ben"))

    first, second = (page.get_by_role("article").nth(at).locator("header") for at in (0, 1))
    expect(first.locator("[part=badge]")).to_have_text(["Captain", "Regular"])
    expect(second.locator("[part=badge]")).to_have_text(["moderator"])


def test_a_face_is_drawn_by_the_api_and_moves_nothing(
    talk: Discussion, open_page: OpenPage
) -> None:
    post_as(talk, "ann")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = open_page(
        talk.site_of("ben"),
        before=lambda each: each.route("**/avatar", hold),
    )
    with page.expect_request("**/sites/harbour/people/ann/avatar") as asked:
        expect(face(page)).to_have_text("A")
    before = [page.get_by_role("article").bounding_box(), face(page).bounding_box()]

    held[0].continue_()
    expect(face(page).locator("img")).to_have_js_property("complete", value=True)

    assert face(page).locator("img").evaluate("img => img.decode().then(() => img.naturalWidth)")
    assert [page.get_by_role("article").bounding_box(), face(page).bounding_box()] == before
    assert "referer" not in asked.value.all_headers()


def test_a_face_that_cannot_be_loaded_leaves_the_initial(
    talk: Discussion, open_page: OpenPage
) -> None:
    post_as(talk, "ann")
    page = open_page(
        talk.site_of("ben"),
        may_log="Failed to load resource",
        before=lambda each: each.route("**/avatar", lambda route: route.abort()),
    )

    expect(face(page)).to_have_text("A")
    expect(face(page).locator("img")).to_have_count(0)


class Strict(Site):
    """A site that allows no pictures."""

    @property
    def policy(self) -> str:
        return super().policy.replace(f"img-src {self.api} https:", "img-src 'none'")


def test_a_picture_that_the_page_does_not_allow_leaves_the_initial(
    talk: Discussion, open_page: OpenPage
) -> None:
    post_as(talk, "ann")
    plain = talk.site_of("ben")
    site = talk.stack.enter_context(serving(Strict(talk.address, plain.token, plain.body)))
    page = open_page(site, may_log="Content Security Policy")

    expect(face(page)).to_have_text("A")
    expect(face(page).locator("img")).to_have_count(0)


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_hostile_name_stays_a_text_and_within_a_phone(
    talk: Discussion, open_page: OpenPage, axe: str, language: str
) -> None:
    give_badges(talk, "W" * 20, "<b>bold</b>", "\u202eegdab\u202c", "four", "five")
    post_as(talk, "ann", name=HOSTILE)
    site = talk.site_of("ben")
    site.language = language
    page = open_page(site, viewport=PHONE)

    expect(page.locator("article [part=author]")).to_have_text(HOSTILE)
    expect(page.locator("article [part=badge]")).to_have_count(5)
    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []

"""A page whose discussion nobody has made: its first visit makes it where the site allows that."""

import pytest
from playwright.sync_api import expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:2026:moon"
# The first answer, before there is a discussion.
ASKED = "Failed to load resource"


@pytest.fixture
def admin(client: Client, site: Site) -> Client:
    """The publisher, whose site's pages make their discussions."""
    admin = client.as_("admin", roles=["admin"])
    prefixes = [f"{site.address}/news/"]
    assert admin.put("/sites/harbour/comments/settings", first_visits=prefixes).status == 200
    return admin


def body(site: Site, path: str) -> str:
    canonical = f'<link rel="canonical" href="{site.address}{path}">'
    return f'{canonical}<plaza-comments node="{NODE}"></plaza-comments>'


def test_the_first_visit_makes_the_discussion_of_a_page(
    admin: Client, site: Site, open_page: OpenPage
) -> None:
    site.body = body(site, "/news/2026/moon")

    first = open_page(site, may_log=ASKED)
    expect(first.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()
    second = open_page(site)
    expect(second.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()

    node = admin.get(f"/nodes/{NODE}").json
    assert (node["title"], node["url"]) == ("The page of a site", f"{site.address}/news/2026/moon")


@pytest.mark.parametrize("path", ["/news/2026/sun", "/about", "/news/2026/moon?page=2"])
def test_another_page_makes_none_and_tells_its_publisher_what_to_do(
    admin: Client, site: Site, open_page: OpenPage, path: str
) -> None:
    site.body = body(site, path)
    said: list[str] = []

    page = open_page(
        site,
        may_log=ASKED,
        before=lambda page: page.on("console", lambda each: said.append(each.text)),
    )

    expect(page.get_by_role("alert")).to_have_text("There is no discussion here.")
    assert any("PUT /nodes/harbour:2026:moon" in each and "first_visits" in each for each in said)
    assert admin.get(f"/nodes/{NODE}").status == 404

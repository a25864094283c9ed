"""A reader's way through another origin's page of plain http: arrive, sign in, write, and look."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import SCHEMES, violations
from tests.web.support.plain_http import at_name
from tests.web.support.site import Site
from tests.web.support.two import look
from tests.web.test_tokens import MAY_LOG, UNKNOWN, saying, says

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
COMMENTS = f"/nodes/{NODE}/comments"
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def paper(client: Client, site: Site, address: str) -> Site:
    """A page of plain http with an article of twenty screens above its discussion."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.api = at_name(address, "plaza.test")
    site.address = at_name(site.address, "paper.test")
    site.body = f'<div class="article"></div><plaza-comments node="{NODE}"></plaza-comments>'
    site.css = "html { background: #fff; color: #222; } .article { block-size: 16000px; }"
    return site


def post(client: Client, text: str) -> str:
    reply = client.as_("ben", name="Ben").post(COMMENTS, text=text)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


@pytest.mark.parametrize("system", SCHEMES)
def test_a_reader_arrives_writes_and_sees_a_comment_go(
    client: Client, paper: Site, open_page: OpenPage, axe: str, system: str
) -> None:
    ids = [post(client, f"Comment {number}.") for number in range(59)] + [post(client, "* " * 50)]
    linked = ids[55]

    def prepare(page: Page) -> None:
        page.clock.install()
        saying("reject")(page)

    page = open_page(
        paper,
        at=f"/#plaza-{linked}",
        may_log=MAY_LOG,
        before=prepare,
        color_scheme=system,
        viewport={"width": 390, "height": 800},
    )
    # The link leads to the second page of the list, for a reader who is unknown yet.
    assert page.evaluate("isSecureContext") is False
    expect(page.locator(f"#c-{linked}")).to_have_class("target")
    expect(page.locator(f"#c-{linked}")).to_be_in_viewport()
    expect(page.locator("plaza-comments")).to_have_css("color-scheme", "light")
    expect(page.get_by_role("alert")).to_have_text(UNKNOWN)

    # The page knows its reader again: they write, and still stand at the link.
    says(page, client.token("ann", name="Ann"))
    with page.expect_response("**/comments?*around=*"):
        page.get_by_role("button", name="Try again").click()
    # The first page was shown again until the linked one came.
    expect(page.get_by_role("button", name="Show earlier")).to_be_visible()
    expect(page.locator(f"#c-{linked}")).to_have_class("target")
    page.get_by_role("textbox", name="Write a comment").fill("Written at last.")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_text("Posted.")).to_be_visible()
    page.locator(f"#c-{linked} [data-does=reply]").click()
    page.get_by_role("textbox", name="Reply to Ben").fill("Half a thought")

    # What is hidden goes, but for where they write.
    admin = client.as_("admin", roles=["admin"])
    for comment in (linked, ids[56]):
        assert admin.post(f"{COMMENTS}/{comment}/state", state="hidden").status == 200
    look(page)
    expect(page.locator(f"#c-{ids[56]}")).to_have_count(0)
    expect(page.locator(f"#c-{linked} .lost")).to_be_visible()
    expect(page.get_by_role("textbox", name="Reply to Ben")).to_have_value("Half a thought")
    expect(page.get_by_role("heading", name="59 comments", exact=True)).to_be_visible()

    assert page.evaluate(SIDEWAYS) == 0
    assert violations(page, axe, "plaza-comments") == []
    listed = client.get(f"{COMMENTS}?limit=100").json["comments"]
    assert "Written at last." in json.dumps(listed)

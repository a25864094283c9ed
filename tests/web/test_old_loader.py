"""A page that was opened before a release, and asks for the elements' files after it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.site import Site
from tests.web.test_files import LOADERS

NODE = "harbour:moon"


@pytest.mark.parametrize("loader", LOADERS, ids=lambda each: each.stem)
def test_its_elements_come_in_the_pages_language(
    loader: Path, client: Client, site: Site, open_page: OpenPage
) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    client.as_("ann").post(f"/nodes/{NODE}/comments", text="Is it made of cheese?")
    site.language = "de"
    site.body = f'<plaza-count node="{NODE}"></plaza-count><plaza-comments node="{NODE}">'

    def with_old_loader(page: Page) -> None:
        headers = {"Access-Control-Allow-Origin": "*"}
        page.route(
            "**/web/v1/plaza.js",
            lambda route: route.fulfill(
                body=loader.read_text(), content_type="text/javascript", headers=headers
            ),
        )

    page = open_page(site, before=with_old_loader)

    expect(page.get_by_text("Is it made of cheese?")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("heading", name="1 Kommentar")).to_be_visible()
    expect(page.locator("plaza-count")).to_have_text("1 Kommentar")

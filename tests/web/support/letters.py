"""Letters of a test's app: files of a folder, with links to the served app."""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from chalice.app import Chalice
from playwright.sync_api import Locator, Page, expect

from chalicelib.runtime import Runtime
from local.gateway import Gateway, wsgi_application
from local.site import Site, with_site
from tests.support.serving import served_application
from tests.web.support.bell import bell, panel
from tests.web.support.two import Discussion

# A newspaper without data has neither ads nor feeds.
EMPTY = "status of 404"
CHOICE = re.compile(r"/notifications/mail$")
BEN = "ben@plaza.example"


def with_mail(runtime: Runtime, address: str, folder: Path) -> None:
    """Send letters into a folder, with links to the served app."""
    given = {"public_url": address, "mail_from": "", "mail_folder": str(folder)}
    for name, value in given.items():
        object.__setattr__(runtime.settings, name, value)


def links_in(folder: Path) -> list[str]:
    """Return the links in the texts of all letters."""
    texts = (
        message_from_bytes(file.read_bytes(), policy=default).get_body(("plain",))
        for file in sorted(folder.glob("*.eml"))
    )
    return [
        link for each in texts if each for link in re.findall(r"https?:\S+", each.get_content())
    ]


def link_in(folder: Path) -> str:
    """Return the link of the only letter."""
    (found,) = links_in(folder)
    return found


@pytest.fixture
def address(app: Chalice, runtime: Runtime, tmp_path: Path) -> Iterator[str]:
    """The address of the app, with the newspaper and its mailbox before it."""
    with_mail(runtime, "", tmp_path)
    site = Site(runtime.settings, runtime.now)
    with served_application(with_site(site, wsgi_application(Gateway(app)))) as started:
        with_mail(runtime, started, tmp_path)
        yield started


def open_form(page: Page) -> None:
    bell(page).click()
    panel(page).get_by_role("button", name="By e-mail").click()
    expect(when(page)).to_be_focused()


def when(page: Page) -> Locator:
    return panel(page).get_by_role("combobox", name="When")


def said(page: Page) -> Locator:
    return panel(page).get_by_role("status")


def save(page: Page) -> None:
    panel(page).get_by_role("button", name="Save").click()


def state_of(talk: Discussion) -> object:
    return talk.client.as_("ben").get("/notifications/mail").json["state"]

"""Pages of imported people whom an account has claimed for their comments: they become its own."""

import io
from typing import Any

import pytest

from chalicelib.comments.people import claims
from chalicelib.comments.people.rows import PEOPLE, new_person
from chalicelib.content.editing.revisions import REVISIONS
from chalicelib.content.importing import pages, wordpress
from chalicelib.content.nodes import NODES
from chalicelib.content.personal_data import imported_writers
from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from chalicelib.wiring.pages import DISCUSSIONS
from tests.comments.support.guest_fixtures import settings, site
from tests.comments.support.guests import GuestSite
from tests.comments.support.joining import ANN, JOINED, account, address_key
from tests.content.support.factories import BASE
from tests.content.support.wordpress import item, wxr
from tests.support.workers import Workers

__all__ = ["settings", "site"]

ADDRESS = "mara@mail.example"
TO = {"id": ANN, "name": "Ann"}
pytestmark = pytest.mark.usefixtures("both_sites")


@pytest.fixture
def both_sites(site: GuestSite) -> None:
    """Two sites with pages of one file; the comments of one site know their writer."""
    paula = site.client.as_("paula", roles=["publisher"], sites=["blog", "shop"])
    for name in ("blog", "shop"):
        paula.put(f"/content/{name}/settings", title="The Harbour", base_url=BASE)
        bring(site, name, 1)
    (writer,) = imported_writers(site.runtime.database, "blog")
    row: Any = new_person("blog", writer, "Mara Lindqvist")
    row["email_key"] = address_key(site, ADDRESS)
    PEOPLE.of(site.runtime.database).insert_one(row)


def bring(site: GuestSite, name: str, number: int) -> None:
    found = wordpress.parse(io.BytesIO(wxr(item(number))))
    done = pages.run(site.runtime, DISCUSSIONS, name, found, lambda _: None)
    assert done.counts["imported"] == 1


def names(site: GuestSite, name: str) -> list[Any]:
    """Return each person whom a page, a draft or a revision of a site names."""
    nodes = list(NODES.of(site.runtime.database).find({"site": name}))
    ids = [each["_id"] for each in nodes]
    kept = REVISIONS.of(site.runtime.database).find({"_id.node": {"$in": ids}})
    drafts = [each["draft"]["by"] for each in nodes if each["draft"]]
    return [*(each["author"] for each in nodes), *drafts, *(each["by"] for each in kept)]


def sweep(site: GuestSite, workers: Workers) -> None:
    outbox.sweep(site.runtime, JOB)
    workers.drain()


def test_pages_of_a_claimed_person_are_the_accounts_at_this_site_alone(
    site: GuestSite, workers: Workers
) -> None:
    (page,) = NODES.of(site.runtime.database).find({"site": "blog"})
    before, edition = names(site, "shop"), page["edition"]
    assert len(names(site, "blog")) == len(before) == 3

    assert account(site, email=ADDRESS).post(JOINED).status == 202
    workers.drain()

    assert names(site, "blog") == [TO, TO, TO]
    assert names(site, "shop") == before
    (page,) = NODES.of(site.runtime.database).find({"site": "blog"})
    assert page["edition"] == edition + 1, "readers see another author"


def test_an_erasure_takes_the_name_off_pages_of_before(site: GuestSite, workers: Workers) -> None:
    """It may begin before the job that gives the pages has run."""
    ann = account(site, email=ADDRESS)
    assert ann.post(JOINED).status == 202

    assert ann.delete("/users/me").status == 202
    workers.drain()
    sweep(site, workers)

    assert names(site, "blog") == [None, None, None]
    assert {each["name"] for each in names(site, "shop")} == {"Mara Lindqvist"}


def test_pages_of_a_later_import_follow(site: GuestSite, workers: Workers) -> None:
    assert account(site, email=ADDRESS).post(JOINED).status == 202
    workers.drain()

    bring(site, "blog", 2)
    claims.follow(site.runtime, "blog", imported_writers(site.runtime.database, "blog"))
    sweep(site, workers)

    assert names(site, "blog") == [TO] * 6

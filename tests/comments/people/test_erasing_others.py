"""Guests and authors of imported comments are erased by the publisher of their site."""

from typing import Any

import pytest

from chalicelib.people import jobs
from chalicelib.wiring.people import PEOPLE as EVERYBODY
from tests.comments.support.guest_fixtures import laid_out, settings, site
from tests.comments.support.guests import COMMENTS, PAGE, SITE, GuestSite
from tests.comments.support.importing import author, bring, comment, thread
from tests.comments.support.joining import authors, posted
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

__all__ = ["laid_out", "settings", "site"]


def publisher(site: GuestSite, *sites: str) -> Client:
    return site.client.as_("paula", roles=["publisher"], sites=list(sites))


def erase(site: GuestSite, user: str, *sites: str) -> Reply:
    return publisher(site, *sites).delete(f"{SITE}/people/{user}")


def traces(site: GuestSite, user: str) -> int:
    return jobs.count_remaining(site.runtime.database, EVERYBODY, user)


def imported(site: GuestSite, *sites: str) -> str:
    """Import a comment of one person into pages of these sites; return the person's id."""
    for each in sites:
        old = comment("1", 9, author=author("Old Ann", account="ann"))
        bring(site.runtime, [thread(url=PAGE), old], site=each)
    entries = site.runtime.database["comments.entry"]
    (user,) = {each["author_id"] for each in entries.find({"site": {"$in": sites}})}
    return str(user)


def test_a_guest_without_a_token_is_erased_by_the_publisher(
    laid_out: GuestSite, workers: Workers
) -> None:
    site = laid_out
    guest = site.guest("Passenger")
    mine = posted(guest, "Mine")
    posted(site.client.as_("bob", name="Bob"), "His")
    (entry,) = site.runtime.database["comments.entry"].find({"author_id": {"$regex": "^g_"}})
    user = entry["author_id"]

    answer = erase(site, user, "blog")
    assert answer.status == 202, (user, answer.body)
    assert answer.json["remaining"] > 0
    workers.drain()

    assert traces(site, user) == 0
    assert [name for _, name in authors(site)] == ["Bob"]
    assert mine not in str(site.admin.get(COMMENTS).json)
    assert erase(site, user, "blog").json["remaining"] <= 1


def test_an_author_of_imported_comments_is_erased_by_the_publisher(
    site: GuestSite, workers: Workers
) -> None:
    user = imported(site, "blog")

    assert erase(site, user, "blog").status == 202
    workers.drain()

    assert traces(site, user) == 0
    assert authors(site) == []


def test_nobody_erases_who_was_at_another_publisher_s_site(
    site: GuestSite, workers: Workers
) -> None:
    user = imported(site, "blog", "elsewhere")
    before = traces(site, user)

    assert erase(site, user, "blog").code == "forbidden"
    assert erase(site, user, "elsewhere").code == "forbidden"
    workers.drain()
    assert traces(site, user) == before

    assert erase(site, user, "blog", "elsewhere").status == 202


@pytest.mark.parametrize("user", ["ann", "s_" + "x" * 22, "p_" + "x" * 22, "g_short"])
def test_people_who_can_sign_in_erase_themselves(site: GuestSite, user: str) -> None:
    refused: Any = erase(site, user, "blog")

    assert (refused.status, refused.code) == (422, "invalid_request")

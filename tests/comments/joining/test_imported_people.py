"""Imported people are claimed by the account whose verified address their file has."""

from typing import Any

import pytest

from chalicelib.comments.importing import settling
from chalicelib.comments.people import claims
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.guests import COMMENTS, NODE, PAGE, SITE, GuestSite
from tests.comments.support.importing import author, bring, comment, thread
from tests.comments.support.joining import ANN, JOINED, account, authors, posted
from tests.support.workers import Workers

OLD = author("Old Ann", email="Ann@mail.example")


def brought(site: GuestSite, *comments: Any, **wanted: Any) -> None:
    """Import comments into the page of the site."""
    found = bring(site.runtime, [thread(url=PAGE), *comments], site="blog", **wanted)
    assert found["status"] == "done"


def imported(site: GuestSite) -> list[Any]:
    return list(PEOPLE.of(site.runtime.database).find({"user_id": {"$regex": "^i_"}}))


def test_an_account_claims_its_comments_of_before(laid_out: GuestSite, workers: Workers) -> None:
    site = laid_out
    posted(site.client.as_("bob", name="Bob"), "New")
    bobs = author("Bob", email="bob@mail.example")
    brought(
        site, comment("1", 9, author=OLD), comment("2", 8, author=bobs), comment("3", 7, author=OLD)
    )
    ann = account(site, email="ann@mail.example")

    assert [each["name"] for each in ann.get(JOINED).json["people"]] == ["Old Ann"]
    assert ann.post(JOINED).status == 202
    workers.drain()

    names = [name for _, name in authors(site)]
    assert names == ["Ann", "Bob", "Ann", "Bob"]
    assert [user for user, _ in authors(site)].count(ANN) == 2
    assert ["delete" in each["can"] for each in ann.get(COMMENTS).json["comments"]].count(True) == 2
    assert site.admin.get(f"{SITE}/people/{ANN}").json["counts"]["visible"] == 2


@pytest.mark.parametrize("email", ["", "eve@mail.example"])
def test_another_address_claims_nothing(site: GuestSite, email: str) -> None:
    brought(site, comment("1", 9, author=OLD))

    assert account(site, email=email).post(JOINED).json == {"people": []}
    assert [name for _, name in authors(site)] == ["Old Ann"]


def test_an_import_keeps_a_hash_and_no_address(site: GuestSite) -> None:
    brought(site, comment("1", 9, author=OLD), comment("2", 8, author=author("Nobody")))

    (row,) = imported(site)
    assert (row["name"], row["taken_key"]) == ("Old Ann", "")
    assert "mail.example" not in str(row)


def test_a_guest_may_have_the_name_of_somebody_imported(site: GuestSite) -> None:
    brought(site, comment("1", 9, author=OLD))

    assert site.begin("Old Ann").status == 201


def test_nobody_mentions_somebody_imported(site: GuestSite) -> None:
    brought(site, comment("1", 9, author=OLD))

    found = site.client.as_("bob", name="Bob").get(f"{NODE}/people?q=old")

    assert found.json == {"people": []}


def sweep(site: GuestSite, workers: Workers) -> None:
    """Let the jobs that are noted run."""
    outbox.sweep(site.runtime, JOB)
    workers.drain()


# The second file names the account of before and no address.
KNOWN = author("Old Ann", account="7", email="ann@mail.example")
UNADDRESSED = author("Old Ann", account="7")


@pytest.mark.parametrize(("first", "later"), [(OLD, OLD), (KNOWN, UNADDRESSED)])
def test_a_later_import_follows_to_the_account(
    site: GuestSite, workers: Workers, first: Any, later: Any
) -> None:
    brought(site, comment("1", 9, author=first))
    assert account(site, email="ann@mail.example").post(JOINED).status == 202
    workers.drain()

    brought(site, comment("1", 9, author=first), comment("2", 8, author=later), digest="of another")
    sweep(site, workers)
    sweep(site, workers)

    assert authors(site) == [(ANN, "Ann"), (ANN, "Ann")]


def test_the_votes_of_a_later_import_follow_to_the_account(
    site: GuestSite, workers: Workers
) -> None:
    brought(site, comment("1", 9, author=KNOWN))
    assert account(site, email="ann@mail.example").post(JOINED).status == 202
    workers.drain()

    bobs = comment("2", 8, author=author("Bob"), ups=1, votes=(("7", 1),))
    brought(site, bobs, digest="of another")
    sweep(site, workers)

    assert [row["user_id"] for row in site.runtime.database["mark"].find()] == [ANN]


@pytest.mark.parametrize(
    ("place", "step"),
    [(settling, "_know_authors"), (settling, "insert_missing"), (claims, "follow")],
)
def test_an_import_that_ends_early_and_begins_again_leaves_nobody_out(
    site: GuestSite, monkeypatch: pytest.MonkeyPatch, workers: Workers, place: Any, step: str
) -> None:
    brought(site, comment("1", 9, author=OLD))
    assert account(site, email="ann@mail.example").post(JOINED).status == 202
    workers.drain()
    bobs = author("Bob", email="bob@mail.example")
    more = (comment("2", 8, author=OLD), comment("3", 7, author=bobs))
    with monkeypatch.context() as patched:
        patched.setattr(place, step, crash)
        with pytest.raises(Crash):
            brought(site, *more, digest="of another")
    # The lease of who has crashed ends.
    site.clock.advance(hours=1)

    brought(site, *more, digest="of another")
    sweep(site, workers)

    assert [name for _, name in authors(site)].count("Ann") == 2
    assert [each["name"] for each in imported(site) if "joined" not in each] == ["Bob"]


def test_a_repeated_import_leaves_who_is_claimed_as_they_are(
    site: GuestSite, workers: Workers
) -> None:
    brought(site, comment("1", 9, author=OLD))
    assert account(site, email="ann@mail.example").post(JOINED).status == 202
    workers.drain()
    before = imported(site)

    for digest in ("of the file", "of another"):
        brought(site, comment("1", 9, author=OLD), digest=digest)

    assert imported(site) == before
    assert authors(site) == [(ANN, "Ann")]


def test_people_of_one_address_at_another_site_stay(site: GuestSite, workers: Workers) -> None:
    elsewhere = "https://shop.example/lamp"
    for name, url in (("blog", PAGE), ("shop", elsewhere)):
        bring(
            site.runtime,
            [thread(url=url), comment("1", 9, author=OLD)],
            site=name,
            digest=f"of {name}",
        )
    account(site, email="ann@mail.example").post(JOINED)
    workers.drain()

    assert authors(site) == [(ANN, "Ann")]
    found = site.client.get(f"/nodes?site=shop&url={elsewhere}").json["id"]
    (shown,) = site.client.get(f"/nodes/{found}/comments").json["comments"]
    assert shown["author"]["name"] == "Old Ann"


def test_an_address_in_a_file_holds_nobody_back(site: GuestSite) -> None:
    brought(site, comment("1", 9, author=OLD))
    (row,) = imported(site)
    assert site.admin.patch(f"{SITE}/people/{row['user_id']}", status="banned").status == 200

    writer = site.guest()
    site.press()

    assert writer.post(COMMENTS, text="A fine evening").status == 201

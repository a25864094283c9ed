"""People who come again after their erasure, while it still looks for late writes."""

from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.providers import accounts
from chalicelib.comments.providers.asking import Profile
from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from tests.comments.support.guest_fixtures import laid_out, settings, site
from tests.comments.support.guests import COMMENTS, SITE, GuestSite
from tests.comments.support.joining import account, person, posted
from tests.support.http_client import Client
from tests.support.people import remaining
from tests.support.workers import Workers

__all__ = ["laid_out", "settings", "site"]


def erase(site: GuestSite, workers: Workers, who: Client, user_id: str) -> None:
    """Erase a person, and let two minutes pass."""
    assert who.delete("/users/me").status == 202
    workers.drain()
    assert remaining(site.runtime, user_id) == 0
    site.clock.advance(minutes=2)


def look_again(site: GuestSite, workers: Workers) -> None:
    """Have the erasure look for late writes."""
    site.clock.advance(minutes=21)
    outbox.sweep(site.runtime, JOB)
    workers.drain()


def test_a_ban_after_an_erasure_stays(site: GuestSite, workers: Workers) -> None:
    bob = site.client.as_("bob", name="Bob")
    posted(bob, "Buy pills!")
    erase(site, workers, bob, "bob")
    assert site.admin.patch(f"{SITE}/people/bob", status="banned").status == 200

    look_again(site, workers)

    assert bob.post(COMMENTS, text="Buy pills!").status == 403


def test_an_account_that_signs_in_again_keeps_what_is_known_since(
    site: GuestSite, workers: Workers
) -> None:
    profile = Profile("https://idp.example", "ann", ("Ann",), None, "ann@mail.example")

    def sign_in() -> str:
        accounts.enter(site.runtime, "blog", profile)
        (row,) = PEOPLE.of(site.runtime.database).find({"email_keys": {"$exists": True}})
        return str(row["user_id"])

    ann = account(site, sign_in())
    erase(site, workers, ann, sign_in())
    again = sign_in()

    look_again(site, workers)

    assert "email_keys" in (person(site, again) or {})


def test_a_block_of_the_person_who_came_again_stays(site: GuestSite, workers: Workers) -> None:
    ann = account(site)
    posted(ann, "Hello.")
    bob = site.client.as_("bob", name="Bob")
    posted(bob, "You again!")
    erase(site, workers, bob, "bob")
    posted(bob, "And again!")
    assert ann.put(f"{SITE}/blocked/bob").status in {200, 204}
    before = ann.get(f"{SITE}/blocked").json

    look_again(site, workers)

    assert before["people"]
    assert ann.get(f"{SITE}/blocked").json == before

"""A site's own issuers: its publisher sets them, and their people are people of the site."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.sign_in import letters
from chalicelib.people.blocks import BLOCKS
from chalicelib.runtime import Runtime
from chalicelib.sites.issuers import ISSUERS, MAX_ISSUERS
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.issuing import COMMENTS, ISS, SECRET, SITE, IssuingSite
from tests.support.workers import Workers

OTHER_SECRET = "the-next-secret-of-the-blogs-accounts"
URL = "https://accounts.blog.example/jwks.json"
EMBED = Path(__file__).parents[2] / "docs" / "embed.md"


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> IssuingSite:
    made = IssuingSite(client, runtime, clock)
    made.settle()
    return made


# Settings.


def test_a_publisher_sets_issuers_whose_secret_nobody_reads(
    site: IssuingSite, runtime: Runtime
) -> None:
    publisher = site.client.as_("paula", roles=["publisher"], sites=["blog"])
    keys = {"iss": ISS, "jwks_url": URL, "trust_email": True}
    assert publisher.put(f"{SITE}/issuers/keys", **keys).status == 200

    listed = publisher.get(f"{SITE}/issuers")

    audience = {"audience": "plaza:blog"}
    assert listed.json == {
        "issuers": [
            {
                "key": "accounts",
                "iss": ISS,
                **audience,
                "jwks_url": None,
                "has_secret": True,
                "trust_email": False,
            },
            {"key": "keys", **keys, **audience, "has_secret": False},
        ]
    }
    assert SECRET not in listed.body.decode()
    assert ISSUERS.of(runtime.database).count_documents({}) == 1


def test_an_issuer_replaces_the_issuer_under_its_key_and_there_are_three(
    site: IssuingSite,
) -> None:
    for key in ("two", "three", "two"):
        site.accept(key, secret=OTHER_SECRET)

    fourth = site.admin.put(f"{SITE}/issuers/four", iss=ISS, secret=SECRET)
    assert (fourth.status, fourth.code) == (409, "too_many_issuers")
    site.accept("accounts", secret=OTHER_SECRET)
    kept = [each["key"] for each in site.admin.get(f"{SITE}/issuers").json["issuers"]]
    assert sorted(kept) == ["accounts", "three", "two"]
    assert len(kept) == MAX_ISSUERS

    assert site.admin.delete(f"{SITE}/issuers/two").status == 204
    assert site.admin.delete(f"{SITE}/issuers/two").status == 204
    site.accept("four", secret=SECRET)


@pytest.mark.parametrize(
    "issuer",
    [
        {},
        {"secret": SECRET, "jwks_url": URL},
        {"secret": "x" * 31},
        {"secret": "x" * 513},
        {"secret": f"{SECRET}\n"},
        {"secret": "\u00e9" * 32},
        {"jwks_url": "http://accounts.blog.example/jwks.json"},
        {"jwks_url": "https://ann:secret@accounts.blog.example/jwks.json"},
        {"jwks_url": "https://accounts.blog.example\\@evil.example/"},
        {"jwks_url": "https://accounts.blog.example:99999/"},
        {"jwks_url": "https://"},
        {"jwks_url": f"https://a.example/{'x' * 500}"},
        {"secret": SECRET, "iss": ""},
        {"secret": SECRET, "iss": "x" * 256},
        {"secret": SECRET, "iss": "with a blank"},
        {"secret": SECRET, "audience": "mine"},
        {"secret": SECRET, "trust_email": "yes"},
    ],
    ids=str,
)
def test_an_issuer_without_usable_keys_is_refused(
    site: IssuingSite, issuer: dict[str, Any]
) -> None:
    refused = site.admin.put(f"{SITE}/issuers/mine", **{"iss": ISS, **issuer})

    assert (refused.status, refused.code) == (422, "invalid_request")
    assert [each["key"] for each in site.admin.get(f"{SITE}/issuers").json["issuers"]] == [
        "accounts"
    ]


# People.


def test_a_person_writes_under_the_name_of_their_token_and_is_known_by_one_id(
    site: IssuingSite,
) -> None:
    person = site.person(picture="https://pictures.example/ann.png")

    posted = person.post(COMMENTS, text="A fine evening")

    assert posted.status == 201
    assert posted.json["author"] == {"id": site.id_of(), "name": "Ann"}
    assert re.fullmatch(r"s_[A-Za-z0-9_-]{22}", site.id_of())
    page = person.get(COMMENTS).json
    assert page["viewer"] == {"id": site.id_of(), "name": "Ann", "can": ["post"]}
    assert page["comments"][0]["can"] == ["reply", "edit", "delete"]
    avatar = site.client.request(
        "GET", f"{SITE}/people/{site.id_of()}/avatar", headers={"Sec-Fetch-Dest": "image"}
    )
    assert avatar.headers["Location"] == "https://pictures.example/ann.png"


def test_a_person_edits_votes_reports_mentions_blocks_and_deletes(site: IssuingSite) -> None:
    site.admin.put(f"{SITE}/comments/settings", votes="up_down")
    site.clock.advance(seconds=6)
    person, bob = site.person(), site.client.as_("bob", name="Bob")
    own = person.post(COMMENTS, text="A fine evening").json["id"]
    bobs = bob.post(COMMENTS, text="Is it, @Ann?", mentions=[site.id_of()])
    assert bobs.status == 201, bobs.body
    of_bob = f"{COMMENTS}/{bobs.json['id']}"

    assert person.patch(f"{COMMENTS}/{own}", text="A *fine* evening").status == 200
    assert person.put(f"{of_bob}/vote", value=1).json["votes"] == {"up": 1, "down": 0}
    assert person.put(f"{of_bob}/flag", reason="spam").status == 204
    assert person.put(f"{SITE}/blocked/bob").status == 204
    assert person.delete(f"{COMMENTS}/{own}").status == 204


def test_a_persons_blocks_are_of_the_site(site: IssuingSite, runtime: Runtime) -> None:
    site.person().post(COMMENTS, text="A fine evening")

    assert site.person().put(f"{SITE}/blocked/bob").status == 204

    assert BLOCKS.of(runtime.database).count_documents({}) == 0
    found: Any = PEOPLE.of(runtime.database).find_one({"user_id": site.id_of()})
    assert found["blocked"] == ["bob"]


def test_no_guest_takes_the_name_of_a_person(site: IssuingSite) -> None:
    site.admin.put(f"{SITE}/comments/settings", guests="name")
    site.clock.advance(seconds=6)
    site.person().post(COMMENTS, text="A fine evening")

    assert site.client.post(f"{SITE}/guests", name="\u0410nn").code == "name_taken"


@pytest.mark.parametrize("name", ["Admin", "", "\u200b", 7, "x" * 101])
def test_a_name_that_nobody_may_have_gives_way_to_the_id(site: IssuingSite, name: Any) -> None:
    assert site.person(name=name).get("/me").json["name"] == site.id_of()


def test_badges_of_moderators_go_before_those_of_the_token(site: IssuingSite) -> None:
    badges = ["Gold", "Gold", "\u200b", "x" * 21, 7, " Crew ", "a", "b", "c", "d"]
    first = site.person(badges=badges).post(COMMENTS, text="A fine evening").json["author"]
    assert first["badges"] == ["Gold", "Crew", "a", "b", "c"]

    site.admin.patch(f"{SITE}/people/{site.id_of()}", badges=["Helper", "Gold"])
    site.clock.advance(minutes=1)
    then = site.person(badges=badges).post(COMMENTS, text="Another").json["author"]
    assert then["badges"] == ["Helper", "Gold", "Crew", "a", "b"]
    site.clock.advance(minutes=1)
    plain = site.person(badges="Gold").post(COMMENTS, text="And one more").json["author"]
    assert plain["badges"] == ["Helper", "Gold"]
    assert "badges" not in site.client.as_("bob").post(COMMENTS, text="Hello").json["author"]


def test_a_person_is_exported_and_erased(site: IssuingSite, workers: Workers) -> None:
    person = site.person()
    person.post(COMMENTS, text="A fine evening")
    other = site.person("43", name="Bob")
    other.post(COMMENTS, text="A dark night")

    exported = json.dumps(person.get("/users/me/export").json)
    assert "A fine evening" in exported
    assert "A dark night" not in exported
    assert person.delete("/users/me").status == 202
    workers.drain()
    assert person.get("/users/me/erasure").json["remaining"] == 0
    assert [each["text"] for each in site.client.get(COMMENTS).json["comments"]] == ["A dark night"]


def test_the_documented_code_makes_a_token(site: IssuingSite) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", EMBED.read_text(), re.MULTILINE | re.DOTALL)
    (text,) = (block for block in blocks if "def plaza_token" in block)
    code: dict[str, Any] = {}
    exec(text, code)  # noqa: S102 - what the documentation shows
    site.accept("accounts", iss="https://harbour-post.example", secret=SECRET)

    token = code["plaza_token"](42, "Ann", SECRET, site="blog", badges=["Gold"])

    posted = site.holding(token).post(COMMENTS, text="A fine evening")
    assert posted.json["author"]["name"] == "Ann"
    assert posted.json["author"]["badges"] == ["Gold"]


# Addresses, and the life of keys.


@pytest.mark.parametrize(
    ("said", "is_trusted"),
    [
        ({"email_verified": True}, False),
        ({}, True),
        ({"email_verified": False}, True),
        ({"email_verified": "true"}, True),
        ({"email_verified": 1}, True),
        ({"email_verified": True, "email": "no address"}, True),
        ({"email_verified": True, "email": ["ann@mail.example"]}, True),
        ({"email_verified": True, "email": f"{'a' * 250}@mail.example"}, True),
    ],
    ids=str,
)
def test_an_address_counts_only_where_issuer_and_site_vouch_for_it(
    site: IssuingSite, runtime: Runtime, said: dict[str, Any], *, is_trusted: bool
) -> None:
    site.accept("accounts", secret=SECRET, trust_email=is_trusted)
    person = site.person(**{"email": "ann@mail.example", **said})

    assert person.post(COMMENTS, text="Hello").status == 201

    found: Any = PEOPLE.of(runtime.database).find_one()
    assert "email_key" not in found


def test_a_vouched_address_is_a_hash_and_brings_nobody_in_by_a_letter(
    site: IssuingSite, runtime: Runtime
) -> None:
    site.accept("accounts", secret=SECRET, trust_email=True)
    said = {"email": "Ann@mail.example", "email_verified": True}
    assert site.person(**said).post(COMMENTS, text="Hello").status == 201

    found: Any = PEOPLE.of(runtime.database).find_one()
    assert len(found["email_key"]) == 43
    assert "mail.example" not in str(found)
    assert letters.find_guest(runtime, "blog", "ann@mail.example") is None

    site.clock.advance(seconds=30)
    site.accept("accounts", secret=SECRET)
    assert site.person(**said).post(COMMENTS, text="Hello again").status == 201
    assert "email_key" not in (PEOPLE.of(runtime.database).find_one() or {})


def test_a_removed_issuer_ends_its_tokens(site: IssuingSite, clock: Clock) -> None:
    person = site.person()
    assert person.get("/me").status == 200

    assert site.admin.delete(f"{SITE}/issuers/accounts").status == 204

    assert person.get("/me").code == "unauthenticated"
    site.accept("accounts", secret=SECRET)
    assert person.get("/me").status == 200
    site.accept_unasked(
        "blog",
        {
            "key": "accounts",
            "iss": ISS,
            "jwks_url": None,
            "secret": OTHER_SECRET,
            "trust_email": False,
        },
    )
    clock.advance(seconds=6)
    assert person.get("/me").code == "unauthenticated"


def test_an_old_and_a_new_secret_are_good_at_once_for_one_person(site: IssuingSite) -> None:
    new = OTHER_SECRET
    before = site.id_of()
    site.accept("next", secret=new)

    assert site.id_of() == site.id_of(secret=new) == before

    site.admin.delete(f"{SITE}/issuers/accounts")
    assert site.person().get("/me").code == "unauthenticated"
    assert site.id_of(secret=new) == before


def test_a_ban_holds_for_every_token_of_a_person(site: IssuingSite) -> None:
    site.person().post(COMMENTS, text="Hello")
    banned = site.admin.patch(f"{SITE}/people/{site.id_of()}", status="banned")
    assert banned.status == 200

    site.clock.advance(minutes=1)

    assert site.person(name="Another").post(COMMENTS, text="Again").code == "banned"

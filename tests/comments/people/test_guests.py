"""Guests write at one site, under a name that nobody there has, while the site lets them."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.people import guests
from chalicelib.comments.people.rows import (
    MAX_BLOCKED,
    NO_COUNTS,
    PEOPLE,
    new_person,
    trust_expression,
    trust_of,
)
from chalicelib.guest_tokens import LIFETIME
from chalicelib.people.ids import GUEST_ID
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

SITE = "/sites/blog"
NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
ELSEWHERE = "/nodes/shop:lamp"


@pytest.fixture
def admin(client: Client) -> Client:
    return client.as_("root", roles=["admin"])


@pytest.fixture
def site(client: Client, admin: Client, clock: Clock) -> Client:
    """A site with guests, and another beside it."""
    for node in (NODE, ELSEWHERE):
        assert admin.put(node, title="Moon", url="https://blog.example/").status == 201
    for each in ("blog", "shop"):
        welcome(admin, clock, each)
    return client


def welcome(admin: Client, clock: Clock, site: str = "blog", **settings: Any) -> None:
    """Set a site's settings, and let the former be forgotten."""
    given = {"guests": "name", "votes": "up_down", **settings}
    assert admin.put(f"/sites/{site}/comments/settings", **given).status == 200
    clock.advance(seconds=6)


def begun(client: Client, name: str = "Passenger") -> Reply:
    return client.post(f"{SITE}/guests", name=name)


def with_token(client: Client, token: str) -> Client:
    return Client(client.app, client.token, {**client.headers, "Authorization": f"Bearer {token}"})


def guest(client: Client, name: str = "Passenger") -> Client:
    reply = begun(client, name)
    assert reply.status == 201, reply.body
    return with_token(client, reply.json["token"])


def test_a_guest_writes_and_is_shown_under_their_name(site: Client, clock: Clock) -> None:
    reply = begun(site)
    made = reply.json
    writer = with_token(site, made["token"])

    posted = writer.post(COMMENTS, text="A fine evening")

    assert posted.status == 201
    assert posted.json["author"]["id"] == made["id"]
    assert posted.json["author"]["name"] == made["name"] == "Passenger"
    assert GUEST_ID.fullmatch(made["id"])
    assert made["expires_at"] == (clock() + LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ")
    page = writer.get(COMMENTS).json
    assert page["node"]["guests"] == "name"
    assert page["viewer"] == {"id": made["id"], "name": "Passenger", "can": ["post"]}
    assert page["comments"][0]["can"] == ["reply", "edit", "delete"]
    assert writer.get("/me").json["id"] == made["id"]


def test_a_guest_edits_votes_reports_blocks_and_deletes(site: Client) -> None:
    writer, other = guest(site), site.as_("bob")
    own = writer.post(COMMENTS, text="A fine evening").json["id"]
    bobs = other.post(COMMENTS, text="Is it?").json["id"]

    assert writer.patch(f"{COMMENTS}/{own}", text="A *fine* evening").status == 200
    assert writer.put(f"{COMMENTS}/{bobs}/vote", value=1).json["votes"] == {"up": 1, "down": 0}
    assert writer.put(f"{COMMENTS}/{bobs}/flag", reason="spam").status == 204
    assert writer.put(f"{SITE}/blocked/bob").status == 204
    assert writer.post("/preview", node="blog:moon", text="*a*").status == 200
    assert writer.delete(f"{COMMENTS}/{own}").status == 204


def test_guests_neither_vote_nor_react_where_accounts_alone_do(
    site: Client, admin: Client, clock: Clock
) -> None:
    hearts = [{"key": "heart", "emoji": "\u2764"}]
    comment = f"{COMMENTS}/{site.as_('bob').post(COMMENTS, text='Is it?').json['id']}"
    passenger = guest(site)
    assert passenger.put(f"{comment}/vote", value=1).status == 200

    welcome(admin, clock, guests_vote=False, reactions=hearts)

    assert passenger.put(f"{comment}/vote", value=-1).code == "not_enabled"
    assert passenger.put(f"{comment}/reactions/heart").code == "not_enabled"
    assert passenger.put(f"{comment}/flag", reason="spam").status == 204
    assert site.as_("ann").put(f"{comment}/vote", value=1).json["votes"]["up"] == 2
    assert passenger.put(f"{comment}/vote", value=0).json["votes"]["up"] == 1


def test_a_site_has_no_guests_unless_it_says_so(client: Client, admin: Client) -> None:
    admin.put(NODE, title="Moon", url="https://blog.example/")

    assert (begun(client).status, begun(client).code) == (403, "guests_off")
    assert client.get(COMMENTS).json["node"]["guests"] == "off"
    assert admin.get(f"{SITE}/comments/settings").json["guests"] == "off"


def test_a_guest_blocks_as_many_people_as_one_may(site: Client, runtime: Runtime) -> None:
    writer = guest(site)
    own = writer.post(COMMENTS, text="A fine evening").json["author"]["id"]
    assert writer.put(f"{SITE}/blocked/bob").status == 204
    most = ["bob", *(f"p{number}" for number in range(MAX_BLOCKED - 1))]
    PEOPLE.of(runtime.database).update_one({"_id": f"blog/{own}"}, {"$set": {"blocked": most}})

    refused = writer.put(f"{SITE}/blocked/cat")
    assert (refused.status, refused.code) == (409, "too_many_blocked")
    assert writer.put(f"{SITE}/blocked/bob").status == 204


def test_a_site_where_nobody_comments_has_no_people(site: Client, runtime: Runtime) -> None:
    assert guest(site).put(f"{SITE}/blocked/bob").status == 204

    assert PEOPLE.of(runtime.database).count_documents({}) == 0


def test_a_site_that_ends_its_guests_ends_their_rights_but_not_their_erasure(
    site: Client, admin: Client, clock: Clock, workers: Workers
) -> None:
    writer = guest(site)
    writer.post(COMMENTS, text="A fine evening")
    welcome(admin, clock, guests="off")

    assert writer.post(COMMENTS, text="Another").code == "unauthenticated"
    assert writer.get(COMMENTS).json["viewer"] is None
    assert "A fine evening" in json.dumps(writer.get("/users/me/export").json)
    assert writer.delete("/users/me").status == 202
    workers.drain()
    assert writer.get("/users/me/erasure").json["remaining"] == 0
    assert [each["author"] for each in site.get(COMMENTS).json["comments"]] in ([], [None])


def test_a_guest_of_one_site_is_a_stranger_at_another(site: Client) -> None:
    writer = guest(site)

    assert writer.post(f"{ELSEWHERE}/comments", text="Hello").code == "unauthenticated"
    assert writer.get(f"{ELSEWHERE}/comments").json["viewer"] is None
    assert writer.put("/sites/shop/blocked/bob").code == "unauthenticated"


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
@pytest.mark.parametrize("path", ["/users/me", "/posts", "/users/me/following/bob", "/circles"])
def test_a_guest_is_a_stranger_to_other_features(site: Client, method: str, path: str) -> None:
    headers = {"Content-Type": "application/json"}

    def ask(client: Client) -> tuple[int, bytes]:
        reply = client.request(method, path, body=b"{}", headers=headers)
        return reply.status, reply.body

    assert ask(guest(site)) == ask(site)


@pytest.mark.parametrize(
    "name",
    [
        "Bob",
        "bob",
        "BOB",
        "b o b",
        "Böb",
        "B\N{CYRILLIC SMALL LETTER O}b",
        "8ob",
        "\N{FULLWIDTH LATIN SMALL LETTER B}ob",
    ],
)
def test_no_guest_has_the_name_of_a_person_there_in_any_spelling(site: Client, name: str) -> None:
    site.as_("bob", name="Bob").post(COMMENTS, text="Mine")

    assert (begun(site, name).status, begun(site, name).code) == (409, "name_taken")
    # Elsewhere nobody has it.
    assert site.post("/sites/shop/guests", name=name).status == 201


@pytest.mark.parametrize(
    ("taken", "free"),
    [
        ("\u0930\u093e\u092e", "\u0930\u0940\u092e\u093e"),  # Ram and Rima, in Devanagari
        ("\u30cf\u30cf", "\u30d1\u30d1"),  # haha and papa, in Katakana
    ],
)
def test_a_name_that_differs_by_its_vowels_is_free(site: Client, taken: str, free: str) -> None:
    site.as_("bob", name=taken).post(COMMENTS, text="Mine")

    assert begun(site, free).status == 201
    assert begun(site, taken).code == "name_taken"


def test_a_name_follows_its_person_and_guests_may_share_one(site: Client, workers: Workers) -> None:
    bob = site.as_("bob", name="Bob")
    bob.post(COMMENTS, text="Mine")
    bob.put("/users/me", name="Robert")
    workers.drain()

    assert begun(site, "Robert").code == "name_taken"
    assert begun(site, "Bob").status == 201
    guest(site, "Ann").post(COMMENTS, text="Mine")
    assert begun(site, "Ann").status == 201


def test_people_of_the_last_release_keep_their_names(site: Client, runtime: Runtime) -> None:
    site.as_("bob", name="Bob").post(COMMENTS, text="Mine")
    guest(site, "Cat").post(COMMENTS, text="Mine")
    PEOPLE.of(runtime.database).update_many({}, {"$unset": {"taken_key": 1}})
    assert begun(site, "Bob").status == 201

    assert guests.add_missing_keys(runtime) == 2

    assert begun(site, "Bob").code == "name_taken"
    assert begun(site, "Cat").status == 201
    assert guests.add_missing_keys(runtime) == 0


@pytest.mark.parametrize("name", ["Admin", "moderator", "Plaza", "\N{GRINNING FACE}", "…"])
def test_reserved_names_and_names_without_letters_are_refused(site: Client, name: str) -> None:
    reply = begun(site, name)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert reply.json["errors"][0]["field"] == "name"


def test_a_guest_is_never_trusted_by_either_form_of_the_rule(runtime: Runtime) -> None:
    now = runtime.now()
    known = {**NO_COUNTS, "visible": 50}
    of_guest = {**new_person("blog", f"g_{'a' * 22}", "Ann"), "counts": known}
    of_person = {**new_person("blog", f"g_{'a' * 21}", "Ann"), "counts": known}
    rows: Any = [{**each, "first_at": now - timedelta(days=9)} for each in (of_guest, of_person)]
    PEOPLE.of(runtime.database).insert_many(rows)

    stages: list[Any] = [{"$sort": {"_id": 1}}, {"$set": {"trust": trust_expression(now)}}]
    found: Any = PEOPLE.of(runtime.database).aggregate(stages)

    # Sorted by their ids, the shorter comes first.
    assert [each["trust"] for each in found] == [2, 0]
    assert [trust_of(each, now) for each in rows] == [0, 2]


def test_a_token_ends_after_ninety_days(site: Client, clock: Clock) -> None:
    writer = guest(site)
    clock.advance(days=90, seconds=-10)
    assert writer.get("/me").status == 200

    clock.advance(seconds=11)

    assert writer.get("/me").code == "unauthenticated"


def changed(token: str, **claims: Any) -> str:
    """Return a token with other claims under its own signature."""
    prefix, payload, tag = token.split(".")
    read = json.loads(base64.urlsafe_b64decode(payload + "=="))
    other = base64.urlsafe_b64encode(json.dumps(read | claims).encode()).decode().rstrip("=")
    return f"{prefix}.{other}.{tag}"


@pytest.mark.parametrize(
    "forge",
    [
        lambda token: changed(token, site="shop"),
        lambda token: changed(token, sub="bob"),
        lambda token: changed(token, exp=4_000_000_000),
        lambda token: token[:-1],
        lambda token: token.rpartition(".")[0] + ".",
        lambda token: token.replace("guest.", "guest..", 1),
        lambda _token: "guest.",
        lambda _token: "guest.e30.AAAA",
        lambda token: token + "\u00e9",
    ],
)
def test_a_token_that_plaza_has_not_made_is_refused(site: Client, forge: Any) -> None:
    token = begun(site).json["token"]

    assert with_token(site, forge(token)).get("/me").code == "unauthenticated"


def test_no_account_has_the_id_of_a_guest(site: Client) -> None:
    made = begun(site).json["id"]

    assert site.as_(made).get("/me").json["id"].startswith("hashed|")


class TestLimits:
    """Guests under the limits that a deployment has."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"limits": 1.0})

    def test_a_guest_stays_new_however_much_they_write(
        self, site: Client, admin: Client, clock: Clock
    ) -> None:
        welcome(
            admin,
            clock,
            limits={
                "posts": [{"burst": 1, "every_seconds": 60}]
                + 2 * [{"burst": 9, "every_seconds": 1}]
            },
        )
        writer = guest(site)
        for number in range(4):
            clock.advance(minutes=2)
            assert writer.post(COMMENTS, text=f"Comment {number}").status == 201
        clock.advance(days=2)
        assert writer.post(COMMENTS, text="One more").status == 201

        assert writer.post(COMMENTS, text="And another").code == "too_fast"
        person = writer.get("/me").json["id"]
        found = admin.get(f"{SITE}/people/{person}").json
        assert (found["trust"], found["counts"]["visible"]) == (0, 5)

    def test_new_guests_are_bounded_by_their_network(self, site: Client, runtime: Runtime) -> None:
        replies = [begun(site, f"Passenger {number}") for number in range(11)]

        assert [each.status for each in replies] == [201] * 10 + [429]
        assert PEOPLE.of(runtime.database).count_documents({}) == 0

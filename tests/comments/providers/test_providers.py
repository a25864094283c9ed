"""The providers of a site, and the people who sign in by them."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.people.rows import PEOPLE, Person, new_person
from chalicelib.comments.providers import stored
from chalicelib.comments.sites import settings as site_settings
from chalicelib.errors import Problem
from chalicelib.mail import addressing
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.signing_in import (
    CLIENT_ID,
    COMMENTS,
    LOCAL_URL,
    ORIGIN,
    SITE,
    SigningIn,
    code_of,
    elliptic_key,
    published,
    signing_in,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.signing_keys import rotate_keys
from tests.support.workers import Workers


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": LOCAL_URL})


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> Iterator[SigningIn]:
    with signing_in(client, runtime, clock) as made:
        yield made


BODY = {"name": "Other", "kind": "github", "client_id": "a", "client_secret": "b"}


def page(site: SigningIn, held: str = "") -> Reply:
    return site.client.request("GET", COMMENTS, headers={"If-None-Match": held})


def offered(site: SigningIn) -> list[str]:
    return [each["key"] for each in page(site).json["node"]["providers"]]


def test_a_publisher_reads_a_provider_with_the_address_to_register(site: SigningIn) -> None:
    (answer,) = site.admin.get(f"{SITE}/providers").json["providers"]

    assert answer == {
        "site": "blog",
        "key": "own",
        "name": "Own accounts",
        "kind": "oidc",
        "issuer": site.provider.url,
        "client_id": CLIENT_ID,
        "redirect_uri": f"{LOCAL_URL}/sites/blog/providers/own/callback",
    }


def test_readers_are_offered_names_alone(site: SigningIn) -> None:
    node = page(site).json["node"]

    assert node["guests"] == "accounts"
    assert node["providers"] == [{"key": "own", "name": "Own accounts"}]


def test_a_page_is_read_anew_after_a_change_of_the_providers(site: SigningIn) -> None:
    tag = page(site).headers["ETag"]
    assert page(site, tag).status == 304

    site.offer("own", name="Renamed")
    renamed = page(site, tag)
    assert renamed.json["node"]["providers"] == [{"key": "own", "name": "Renamed"}]
    site.admin.delete(f"{SITE}/providers/own")
    taken = page(site, renamed.headers["ETag"])
    assert taken.json["node"]["providers"] == []


def test_a_provider_is_replaced_in_its_place_and_taken_away(site: SigningIn) -> None:
    site.offer("second")
    site.offer("own", name="Renamed")

    assert offered(site) == ["own", "second"]
    assert page(site).json["node"]["providers"][0]["name"] == "Renamed"
    assert [site.admin.delete(f"{SITE}/providers/own").status for _ in range(2)] == [204, 204]
    assert offered(site) == ["second"]
    assert site.browser().begin().status == 404
    asked = site.client.get(f"{SITE}/providers/own/sign-in?return_to={ORIGIN}/")
    assert (asked.status, asked.code) == (404, "unknown_provider")


def test_other_settings_and_providers_leave_each_other_alone(site: SigningIn) -> None:
    before = site.admin.get(f"{SITE}/comments/settings").json
    assert before["origins"] == [ORIGIN]
    site.admin.put(f"{SITE}/comments/settings", guests="name")
    assert offered(site) == ["own"]
    site.admin.patch(f"{SITE}/comments/settings", votes="up")
    assert offered(site) == ["own"]


def test_a_site_has_five_providers_at_most(site: SigningIn) -> None:
    for number in range(4):
        site.offer(f"more-{number}")

    assert site.admin.put(f"{SITE}/providers/sixth", **BODY).code == "too_many_providers"
    assert site.admin.put(f"{SITE}/providers/own", **BODY).status == 200


def test_writers_at_once_make_no_sixth_provider(site: SigningIn) -> None:
    ends: list[str] = []
    barrier = threading.Barrier(8)

    def put(number: int) -> None:
        barrier.wait()
        made: Any = {"key": f"more-{number}", "client_secret": "", "issuer": "", **BODY}
        try:
            stored.put(runtime, "new", made, "secret")
            ends.append("stored")
        except Problem as problem:
            ends.append(problem.code)

    runtime = site.runtime
    callers = [threading.Thread(target=put, args=[number]) for number in range(8)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()

    assert sorted(ends) == 5 * ["stored"] + 3 * ["too_many_providers"]
    assert len(stored.read(runtime, "new")) == 5
    assert site_settings.of(runtime, "new")["votes"] == "off"


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "oidc"},
        {"kind": "github", "issuer": "https://accounts.example"},
        {"kind": "saml"},
        {"name": ""},
        {"name": "a" * 51},
        {"client_id": ""},
        {"client_secret": "\N{SNOWMAN}"},
        {"issuer": "accounts.example", "kind": "oidc"},
        {"admin": True},
    ],
)
def test_a_provider_that_cannot_work_is_refused(site: SigningIn, wrong: dict[str, Any]) -> None:
    assert site.admin.put(f"{SITE}/providers/own", **{**BODY, **wrong}).code == "invalid_request"


def test_a_deployment_without_an_address_offers_no_provider(site: SigningIn) -> None:
    tag = page(site).headers["ETag"]
    object.__setattr__(site.runtime.settings, "public_url", "")

    assert page(site, tag).json["node"]["providers"] == []
    (kept,) = site.admin.get(f"{SITE}/providers").json["providers"]
    assert kept["key"] == "own"


# People of providers.


def test_a_reader_signs_in_and_writes_with_the_rights_of_an_account(site: SigningIn) -> None:
    entered = site.enter()

    reader = site.holding(entered["token"])
    posted = reader.post(COMMENTS, text="Hello").json
    assert (posted["author"]["name"], posted["state"]) == ("Ann", "visible")
    assert posted["author"]["id"] == entered["id"]
    assert reader.get("/me").json["id"] == entered["id"]
    (person,) = PEOPLE.of(site.runtime.database).find()
    keys = addressing.address_keys("ann@mail.example", site.runtime.settings.signing_keys)
    assert person.get("email_key") == keys[0]


def test_an_address_that_the_provider_has_not_verified_is_forgotten(site: SigningIn) -> None:
    site.enter(email_verified=False)

    (person,) = PEOPLE.of(site.runtime.database).find()
    assert "email_key" not in person


def test_an_address_that_a_person_no_longer_has_is_forgotten(site: SigningIn) -> None:
    site.enter()
    site.enter(email_verified=False)

    (person,) = PEOPLE.of(site.runtime.database).find()
    assert {"email_key", "email_keys"}.isdisjoint(person)


def test_an_address_of_a_banned_person_is_kept(site: SigningIn) -> None:
    """A second account with it is banned, too."""
    site.enter()
    PEOPLE.of(site.runtime.database).update_one({}, {"$set": {"status": "banned"}})
    site.enter(email_verified=False)

    (person,) = PEOPLE.of(site.runtime.database).find()
    assert "email_key" in person


def test_a_ban_without_end_gets_none_from_a_guest_of_another_address(
    site: SigningIn, clock: Clock
) -> None:
    site.enter()
    people = PEOPLE.of(site.runtime.database)
    people.update_one({}, {"$set": {"status": "banned", "until": None}})
    (account,) = people.find()
    row = new_person("blog", f"g_{'a' * 22}", "Passenger")
    (key, *_) = addressing.address_keys("bo@mail.example", site.runtime.settings.signing_keys)
    until = clock() + timedelta(days=1)
    people.insert_one({**row, "status": "banned", "until": until, "email_key": key})

    site.enter(email="bo@mail.example")

    now = people.find_one({"_id": account["_id"]})
    assert now is not None
    assert (now["status"], now["until"]) == ("banned", None)


def test_who_has_signed_in_writes_where_there_are_no_guests(site: SigningIn) -> None:
    reader = site.holding(site.enter()["token"])
    assert site.client.post(f"{SITE}/guests", name="Passenger").code == "guests_off"
    site.admin.put(f"{SITE}/comments/settings", guests="off", origins=[ORIGIN])
    site.clock.advance(seconds=6)

    assert reader.post(COMMENTS, text="Hello").status == 201


def test_no_guest_takes_the_name_of_who_has_signed_in(site: SigningIn) -> None:
    site.admin.put(f"{SITE}/comments/settings", guests="name", origins=[ORIGIN])
    site.clock.advance(seconds=6)
    site.enter()

    assert site.client.post(f"{SITE}/guests", name="Ann").code == "name_taken"


@pytest.mark.parametrize(("days", "status"), [(89, 201), (90, 401)])
def test_a_token_ends_after_ninety_days(site: SigningIn, days: int, status: int) -> None:
    reader = site.holding(site.enter()["token"])

    site.clock.advance(days=days)

    assert reader.post(COMMENTS, text="Hello").status == status


@pytest.mark.parametrize(("seconds", "status"), [(-1, 200), (0, 404)])
def test_a_code_ends_after_two_minutes(site: SigningIn, seconds: int, status: int) -> None:
    code = code_of(site.sign_in())

    site.clock.advance(minutes=2, seconds=seconds)

    assert site.exchange(code).status == status


def test_a_code_works_once_and_at_its_site_alone(site: SigningIn) -> None:
    code = code_of(site.sign_in())

    assert site.exchange(code, "/sites/shop").code == "unknown_link"
    assert site.client.post(f"{SITE}/sign-in/token", code=code).code == "guests_off"
    confirmed = site.client.request("POST", f"{SITE}/guests/confirmation?token={code}")
    assert confirmed.code == "unknown_link"
    assert site.exchange(code).status == 200
    assert site.exchange(code).code == "unknown_link"


def test_who_is_erased_is_nobody_until_they_sign_in_again(
    site: SigningIn, workers: Workers
) -> None:
    entered = site.enter()
    code = code_of(site.sign_in())
    reader = site.holding(entered["token"])
    reader.post(COMMENTS, text="Hello")
    kinds = {each["kind"] for each in reader.get("/users/me/export").json["entries"]}
    assert {"comment", "person_at_site"} <= kinds

    assert reader.delete("/users/me").status == 202
    workers.drain()

    assert site.exchange(code).code == "unknown_link"
    assert site.is_empty()
    assert site.enter()["id"] == entered["id"]


def test_a_retired_signing_key_ends_what_it_has_sealed(site: SigningIn) -> None:
    object.__setattr__(
        site.runtime.settings, "signing_keys", site.runtime.settings.signing_keys[:0]
    )

    assert stored.secret_of(site.runtime, "blog", stored.find(site.runtime, "blog", "own")) == ""


@pytest.mark.parametrize("status", ["ok", "banned"])
def test_a_new_signing_key_leaves_the_guests_of_an_address_to_its_account(
    site: SigningIn, status: Any
) -> None:
    row = new_person("blog", f"g_{'a' * 22}", "Passenger")
    keys = addressing.address_keys("ann@mail.example", site.runtime.settings.signing_keys)
    held: Person = {**row, "status": status, "email_key": keys[0]}
    PEOPLE.of(site.runtime.database).insert_one(held)
    rotate_keys(site.runtime)

    reader = site.holding(site.enter()["token"])

    assert reader.post(COMMENTS, text="Hello").status == (201 if status == "ok" else 403)
    joined = reader.post(f"{SITE}/people/me/joined")
    assert joined.json["people"] == [{"id": held["user_id"], "name": "Passenger"}]


def test_the_cookie_of_a_deployment_is_its_hosts_alone(site: SigningIn) -> None:
    local = site.browser().begin().headers["Set-Cookie"]
    assert local.startswith("plaza-sign-in=")
    assert "; Max-Age=600; Path=/; HttpOnly; SameSite=Lax" in local
    object.__setattr__(site.runtime.settings, "public_url", "https://plaza.example")

    cookie = site.browser().begin().headers["Set-Cookie"]

    assert cookie.startswith("__Host-plaza-sign-in=")
    assert "; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure" in cookie
    assert "Domain" not in cookie


def test_new_keys_of_a_provider_are_found(site: SigningIn) -> None:
    site.enter()
    provider = site.provider
    provider.answers["/jwks"] = {"keys": [published(elliptic_key("new"), "new")]}
    browser = site.browser()
    asked = browser.go()
    provider.give(provider.sign(provider.claims(asked["nonce"]), key="new", kid="new"))

    site.clock.advance(seconds=31)

    assert code_of(browser.come_back(code="new", state=asked["state"]))


@pytest.mark.parametrize(
    ("methods", "is_basic"),
    [
        (None, True),
        (["client_secret_basic"], True),
        (["client_secret_post"], False),
        (["private_key_jwt", "client_secret_post", "client_secret_basic"], True),
    ],
)
def test_the_secret_goes_where_the_provider_wants_it(
    site: SigningIn, methods: list[str] | None, *, is_basic: bool
) -> None:
    members = {"token_endpoint_auth_methods_supported": methods} if methods else {}
    document = site.provider.discovery(**members)
    site.provider.answers["/.well-known/openid-configuration"] = document

    site.enter()

    _, headers, form = next(each for each in site.provider.asked if each[0] == "/token")
    assert ("Authorization" in headers, "client_secret" in form) == (is_basic, not is_basic)


def test_a_provider_that_takes_no_secret_signs_nobody_in(site: SigningIn) -> None:
    document = site.provider.discovery(token_endpoint_auth_methods_supported=["private_key_jwt"])
    site.provider.answers["/.well-known/openid-configuration"] = document

    assert site.sign_in().headers["Location"].endswith("#plaza-sign-in=provider_failed")


def test_names_come_from_the_user_info_where_the_token_has_none(site: SigningIn) -> None:
    provider = site.provider
    document = provider.discovery(userinfo_endpoint=f"{provider.url}/me?of=all")
    provider.answers["/.well-known/openid-configuration"] = document
    provider.answers["/me?of=all"] = {"sub": "ann", "name": "Ann of the harbour"}
    browser = site.browser()
    asked = browser.go()
    claims = provider.claims(asked["nonce"])
    del claims["name"]
    provider.give(provider.sign(claims))

    led = browser.come_back(code="code", state=asked["state"])

    assert site.exchange(code_of(led)).json["name"] == "Ann of the harbour"

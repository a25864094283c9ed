import io
import math
import urllib.request
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from pydantic import SecretStr

from chalicelib import identity
from chalicelib.errors import Misconfigured, Unauthenticated, Unavailable
from chalicelib.identity import Principal, identify
from chalicelib.settings import Settings
from tests.conftest import JWT_SECRET, START, Clock

SETTINGS = Settings(jwt_secret=SecretStr(JWT_SECRET))
CLAIMS = {"sub": "ann", "name": "Ann", "exp": START + timedelta(hours=1)}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def signed(**changes: Any) -> dict[str, str]:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return bearer(jwt.encode(claims, JWT_SECRET, "HS256"))


def test_no_header_is_nobody() -> None:
    assert identify({}, SETTINGS, START) is None


def test_a_token_gives_its_principal() -> None:
    headers = signed(roles=["publisher"], sites=["blog"], advertiser="acme")

    assert identify(headers, SETTINGS, START) == Principal(
        id="ann",
        name="Ann",
        roles=frozenset({"publisher"}),
        advertiser="acme",
        sites=frozenset({"blog"}),
    )


def test_a_token_without_a_name_is_shown_by_its_id() -> None:
    principal = identify(signed(name=None), SETTINGS, START)

    assert principal is not None
    assert principal.name == "ann"


def test_an_admin_bears_every_role() -> None:
    assert Principal("ann", "Ann", frozenset({"admin"})).has("moderator")
    assert not Principal("ann", "Ann", frozenset({"publisher"})).has("moderator")


def test_who_was_taken_off_the_last_site_owns_none() -> None:
    principal = identify(signed(roles=["publisher"], sites=[]), SETTINGS, START)

    assert principal is not None
    assert not principal.owns("default")


def test_a_publisher_owns_the_sites_of_the_token() -> None:
    publisher = Principal("ann", "Ann", frozenset({"publisher"}), sites=frozenset({"blog"}))

    assert publisher.owns("blog")
    assert not publisher.owns("default")


def test_a_publisher_whose_token_names_no_site_owns_the_default_one() -> None:
    publisher = Principal("ann", "Ann", frozenset({"publisher"}))

    assert publisher.owns("default")
    assert not publisher.owns("blog")


def test_sites_alone_make_no_publisher_and_an_admin_owns_every_site() -> None:
    moderator = Principal("ann", "Ann", frozenset({"moderator"}), sites=frozenset({"blog"}))

    assert not moderator.owns("blog")
    assert Principal("ann", "Ann", frozenset({"admin"})).owns("blog")


def test_control_characters_of_a_tokens_name_are_dropped() -> None:
    principal = identify(signed(name="An\0n\n"), SETTINGS, START)

    assert principal is not None
    assert principal.name == "Ann"


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "a.b"},
        {"sub": "$where"},
        {"sub": "ann\n"},
        {"sub": "x" * 65},
        {"name": ""},
        {"name": "x" * 101},
        {"roles": "admin"},
    ],
)
def test_a_token_with_unusable_claims_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        identify(signed(**changes), SETTINGS, START)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic abc", "Bearer a.b.c", "Bearer é.é.é"]
)
def test_a_header_that_is_no_bearer_token_is_refused(header: str) -> None:
    with pytest.raises(Unauthenticated):
        identify({"authorization": header}, SETTINGS, START)


def test_a_token_is_good_until_the_second_it_expires(clock: Clock) -> None:
    headers = signed(exp=clock() + timedelta(seconds=10))

    clock.advance(seconds=9.999)
    assert identify(headers, SETTINGS, clock())
    clock.advance(seconds=0.001)
    with pytest.raises(Unauthenticated):
        identify(headers, SETTINGS, clock())


def test_a_token_may_tell_its_times_to_a_fraction_of_a_second() -> None:
    begins = START.timestamp() - 0.5

    assert identify(signed(nbf=begins, exp=begins + 1.25), SETTINGS, START)
    with pytest.raises(Unauthenticated):
        identify(signed(nbf=begins, exp=begins + 0.25), SETTINGS, START)


@pytest.mark.parametrize("forever", [math.inf, math.nan])
def test_a_token_that_never_expires_is_refused(forever: float) -> None:
    with pytest.raises(Unauthenticated):
        identify(signed(exp=forever), SETTINGS, START)


def test_a_token_is_refused_before_its_time() -> None:
    with pytest.raises(Unauthenticated):
        identify(signed(nbf=START + timedelta(seconds=1)), SETTINGS, START)


@pytest.mark.parametrize("algorithm", ["none", "HS512"])
def test_another_algorithm_is_refused(algorithm: str) -> None:
    key = "" if algorithm == "none" else JWT_SECRET * 2
    with pytest.raises(Unauthenticated):
        identify(bearer(jwt.encode(CLAIMS, key, algorithm)), SETTINGS, START)


def test_issuer_and_audience_are_held_to_where_they_are_set() -> None:
    strict = SETTINGS.model_copy(update={"jwt_issuer": "town", "jwt_audience": "plaza"})

    assert identify(signed(iss="town", aud="plaza"), strict, START)
    for wrong in ({"iss": "town"}, {"iss": "city", "aud": "plaza"}, {"iss": "town", "aud": "x"}):
        with pytest.raises(Unauthenticated):
            identify(signed(**wrong), strict, START)


def test_an_audience_is_no_fault_where_none_is_asked_for() -> None:
    assert identify(signed(aud="anyone"), SETTINGS, START)


def test_without_any_key_a_token_is_a_fault_of_the_deployment() -> None:
    with pytest.raises(Misconfigured):
        identify(signed(), Settings(), START)


@pytest.fixture
def key_set(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Settings]:
    """Return a function that publishes a key at a URL, and gives settings that read it."""

    def publish(key: Any, algorithm: str) -> Settings:
        jwk = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
        document = {"keys": [{**jwk, "kid": "k1", "use": "sig", "alg": algorithm}]}
        identity._key_set.cache_clear()
        monkeypatch.setattr(jwt.PyJWKClient, "fetch_data", lambda _: document)
        return Settings(jwks_url="https://keys.example/jwks.json")

    return publish  # type: ignore[return-value]


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_published_key_verifies_its_tokens(key_set: Any, algorithm: str) -> None:
    key: Any = (
        rsa.generate_private_key(65537, 2048)
        if algorithm == "RS256"
        else ec.generate_private_key(ec.SECP256R1())
    )
    settings = key_set(key, algorithm)
    headers = bearer(jwt.encode(CLAIMS, key, algorithm, headers={"kid": "k1"}))

    principal = identify(headers, settings, START)

    assert principal is not None
    assert principal.id == "ann"


def test_a_shared_secret_never_stands_for_a_published_key(key_set: Any) -> None:
    settings = key_set(rsa.generate_private_key(65537, 2048), "RS256")

    with pytest.raises(Unauthenticated):
        identify(signed(), settings, START)


@pytest.mark.parametrize(("published", "claimed"), [("RS256", "ES256"), ("ES256", "RS256")])
def test_a_key_of_one_kind_never_stands_for_another(
    key_set: Any, published: str, claimed: str
) -> None:
    keys: dict[str, Any] = {
        "RS256": rsa.generate_private_key(65537, 2048),
        "ES256": ec.generate_private_key(ec.SECP256R1()),
    }
    settings = key_set(keys[published], published)
    headers = bearer(jwt.encode(CLAIMS, keys[claimed], claimed, headers={"kid": "k1"}))

    with pytest.raises(Unauthenticated):
        identify(headers, settings, START)


def test_a_withdrawn_key_is_refused_once_the_key_set_is_read_again(key_set: Any) -> None:
    withdrawn = rsa.generate_private_key(65537, 2048)
    settings = key_set(withdrawn, "RS256")
    headers = bearer(jwt.encode(CLAIMS, withdrawn, "RS256", headers={"kid": "k1"}))
    client = identity._key_set(settings.jwks_url)
    assert identify(headers, settings, START)

    document = client.fetch_data()
    document["keys"][0]["kid"] = "k2"
    client.get_jwk_set(refresh=True)

    with pytest.raises(Unauthenticated):
        identify(headers, settings, START)


def test_an_identity_provider_that_answers_without_json_is_a_503(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def maintenance(*_: object, **__: object) -> object:
        return io.BytesIO(b"<p>Back in a minute</p>")

    identity._key_set.cache_clear()
    monkeypatch.setattr(urllib.request.OpenerDirector, "open", maintenance)
    key = rsa.generate_private_key(65537, 2048)
    headers = bearer(jwt.encode(CLAIMS, key, "RS256", headers={"kid": "k1"}))

    with pytest.raises(Unavailable):
        identify(headers, Settings(jwks_url="https://keys.example/jwks.json"), START)


def test_an_identity_provider_that_cannot_be_reached_is_a_503(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(_: object) -> object:
        raise jwt.PyJWKClientConnectionError("down")

    identity._key_set.cache_clear()
    monkeypatch.setattr(jwt.PyJWKClient, "fetch_data", unreachable)
    key = rsa.generate_private_key(65537, 2048)
    headers = bearer(jwt.encode(CLAIMS, key, "RS256", headers={"kid": "k1"}))

    with pytest.raises(Unavailable):
        identify(headers, Settings(jwks_url="https://keys.example/jwks.json"), START)


def test_the_clock_is_the_one_that_is_handed_in() -> None:
    long_ago = datetime.fromisoformat("2001-01-01T00:00:00+00:00")

    assert identify(signed(), SETTINGS, long_ago)

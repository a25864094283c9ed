import itertools
import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Literal

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from pydantic import SecretStr, TypeAdapter

from chalicelib import identity
from chalicelib.errors import Misconfigured, Unauthenticated
from chalicelib.identity import Principal, identify
from chalicelib.people.ids import ONE_SITE_ID, UserId
from chalicelib.settings import Settings
from tests.conftest import JWT_SECRET
from tests.support.clock import START, Clock

SETTINGS = Settings(jwt_secret=SecretStr(JWT_SECRET))
CLAIMS = {"sub": "ann", "name": "Ann", "exp": START + timedelta(hours=1)}
# What a token of a published key says beside that.
ADDRESSED = {**CLAIMS, "aud": "plaza"}


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


def test_a_token_that_names_no_site_any_more_is_not_one_that_names_none() -> None:
    none_left = identify(signed(roles=["publisher"], sites=[]), SETTINGS, START)
    silent = identify(signed(roles=["publisher"]), SETTINGS, START)

    assert none_left is not None
    assert silent is not None
    assert (none_left.sites, silent.sites) == (frozenset(), None)


@pytest.mark.parametrize("name", ["", " ", "x" * 101, 7, ["Ann"], "Admin", "\u200b", "\u0410dmin"])
def test_a_token_whose_name_nobody_may_see_goes_by_its_subject(name: Any) -> None:
    principal = identify(signed(sub="ann", name=name), SETTINGS, START)

    assert principal is not None
    assert (principal.id, principal.name) == ("ann", "ann")


def test_a_deployment_keeps_names_for_its_staff() -> None:
    settings = SETTINGS.model_copy(update={"reserved_names": ("Harbour Post",)})

    reader = identify(signed(sub="ann", name="Harbour Post"), settings, START)
    editor = identify(signed(name="Harbour Post", roles=["moderator"]), settings, START)

    assert reader is not None
    assert editor is not None
    assert (reader.name, editor.name) == ("ann", "Harbour Post")


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
        {"sub": "ann\n"},
        {"sub": "a.b\x00"},
        {"sub": "ann\x7f"},
        {"sub": "\u00e4nn@site.example"},
        {"sub": "x" * 256},
        {"roles": "admin"},
    ],
)
def test_a_token_with_unusable_claims_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        identify(signed(**changes), SETTINGS, START)


def id_of(settings: Settings = SETTINGS, **claims: Any) -> str:
    principal = identify(signed(**claims), settings, START)
    assert principal is not None
    return principal.id


# Apple's, Keycloak's, e-mail addresses, the longest of OpenID Connect, and hostile ones.
SUBJECTS = (
    *("001234.0a1b.0987", "f:uuid:bob", "ann@site.example", "ANN@site.example", "x" * 65),
    *("x" * 255, "$where", "a.b", "a b", " ", "/", 'a"b', "https://id.example/ann", "ann "),
)


@pytest.mark.parametrize("sub", SUBJECTS)
def test_a_subject_of_other_characters_has_an_id_that_every_route_takes(sub: str) -> None:
    found = id_of(sub=sub)

    assert TypeAdapter(UserId).validate_python(found) == found
    assert found == id_of(sub=sub, name="Other", roles=["editor"])
    principal = identify(signed(sub=sub, name=None), SETTINGS, START)
    # A subject may be an address of mail, which is no name to show.
    assert principal is not None
    assert principal.name == found


@pytest.mark.parametrize("sub", ["ann", "auth0|5f7c8ec7c33c6c004bbafe82", "x" * 64, "hashed|", "_"])
def test_a_subject_that_is_an_id_stays_as_it_is(sub: str) -> None:
    key = SETTINGS.model_copy(update={"subject_key": SecretStr("k" * 32)})

    assert id_of(sub=sub) == id_of(key, sub=sub, iss="https://id.example") == sub


def test_no_two_subjects_have_the_same_id() -> None:
    issuers = (None, "https://a.example", "https://b.example", 'https://a.example", "a.b')
    settings = [SETTINGS, SETTINGS.model_copy(update={"subject_key": SecretStr("k" * 32)})]

    ids = [id_of(each, sub=s, iss=i) for s in SUBJECTS for i in issuers for each in settings]

    assert len(set(ids)) == len(SUBJECTS) * len(issuers) * len(settings)


def test_nobody_gets_anothers_id_by_a_subject_that_looks_like_it() -> None:
    ids = [id_of(sub="ann@site.example")]
    for _ in range(3):
        ids.append(id_of(sub=ids[-1]))

    assert len(set(ids)) == 4


@pytest.mark.parametrize("kind", "gpsi")
def test_nobody_gets_the_id_of_a_person_of_one_site_or_of_an_import(kind: str) -> None:
    assert id_of(sub=f"{kind}_{'a' * 22}").startswith("hashed|")
    assert id_of(sub=f"{kind}_{'a' * 21}") == f"{kind}_{'a' * 21}"


def test_a_person_of_one_site_has_an_id_of_site_issuer_subject_and_key() -> None:
    keys = (None, SecretStr("k" * 32), SecretStr("o" * 32))
    sites, issuers, subjects = ("blog", "shop"), ("https://a.example", "a"), ("42", "43", "https")
    kinds: tuple[Literal["s", "p"], ...] = ("s", "p")
    named = list(itertools.product(kinds, sites, issuers, subjects, keys))

    ids = [identity.one_site_id(*each) for each in named]

    assert len(set(ids)) == len(named)
    for (kind, *_), found in zip(named, ids, strict=True):
        assert ONE_SITE_ID.fullmatch(found)
        assert found.startswith(f"{kind}_")


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic abc", "Bearer a.b.c", "Bearer é.é.é"]
)
def test_a_header_that_is_no_bearer_token_is_refused(header: str) -> None:
    with pytest.raises(Unauthenticated):
        identify({"authorization": header}, SETTINGS, START)


@pytest.mark.parametrize("name", ["", " ", "\0\n", "x" * 101, 7, True, ["Ann"], {"$gt": ""}])
def test_a_name_that_cannot_be_shown_gives_way_to_the_id(name: Any) -> None:
    principal = identify(signed(name=name), SETTINGS, START)

    assert principal is not None
    assert principal.name == "ann"


@pytest.mark.parametrize("seconds", [-3_600, 29.999])
def test_a_token_is_good_for_half_a_minute_after_it_expires(clock: Clock, seconds: float) -> None:
    """A provider's clock and a container's differ a little."""
    headers = signed(exp=clock())

    clock.advance(seconds=seconds)
    assert identify(headers, SETTINGS, clock())


@pytest.mark.parametrize("seconds", [30, 3_600])
def test_a_token_is_refused_half_a_minute_after_it_expires(clock: Clock, seconds: float) -> None:
    headers = signed(exp=clock())

    clock.advance(seconds=seconds)
    with pytest.raises(Unauthenticated):
        identify(headers, SETTINGS, clock())


def test_a_token_may_tell_its_times_to_a_fraction_of_a_second() -> None:
    now = START.timestamp()

    assert identify(signed(nbf=now + 30, exp=now - 29.75), SETTINGS, START)
    with pytest.raises(Unauthenticated):
        identify(signed(exp=now - 30.25), SETTINGS, START)
    with pytest.raises(Unauthenticated):
        identify(signed(nbf=now + 30.25, exp=now + 60), SETTINGS, START)


@pytest.mark.parametrize("forever", [math.inf, math.nan])
def test_a_token_that_never_expires_is_refused(forever: float) -> None:
    with pytest.raises(Unauthenticated):
        identify(signed(exp=forever), SETTINGS, START)


def test_a_token_is_refused_before_its_time() -> None:
    with pytest.raises(Unauthenticated):
        identify(signed(nbf=START + timedelta(seconds=31)), SETTINGS, START)


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
        return Settings(jwks_url="https://keys.example/jwks.json", jwt_audience="plaza")

    return publish  # type: ignore[return-value]


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_published_key_verifies_its_tokens(key_set: Any, algorithm: str) -> None:
    key: Any = (
        rsa.generate_private_key(65537, 2048)
        if algorithm == "RS256"
        else ec.generate_private_key(ec.SECP256R1())
    )
    settings = key_set(key, algorithm)
    headers = bearer(jwt.encode(ADDRESSED, key, algorithm, headers={"kid": "k1"}))

    principal = identify(headers, settings, START)

    assert principal is not None
    assert principal.id == "ann"


def test_a_shared_secret_never_stands_for_a_published_key(key_set: Any) -> None:
    settings = key_set(rsa.generate_private_key(65537, 2048), "RS256")

    with pytest.raises(Unauthenticated):
        identify(signed(aud="plaza"), settings, START)


@pytest.mark.parametrize(("published", "claimed"), [("RS256", "ES256"), ("ES256", "RS256")])
def test_a_key_of_one_kind_never_stands_for_another(
    key_set: Any, published: str, claimed: str
) -> None:
    keys: dict[str, Any] = {
        "RS256": rsa.generate_private_key(65537, 2048),
        "ES256": ec.generate_private_key(ec.SECP256R1()),
    }
    settings = key_set(keys[published], published)
    headers = bearer(jwt.encode(ADDRESSED, keys[claimed], claimed, headers={"kid": "k1"}))

    with pytest.raises(Unauthenticated):
        identify(headers, settings, START)


def test_a_published_keys_token_for_another_application_is_refused(key_set: Any) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    settings = key_set(key, "ES256")

    for claims in (CLAIMS, {**CLAIMS, "aud": "another-app"}):
        headers = bearer(jwt.encode(claims, key, "ES256", headers={"kid": "k1"}))
        with pytest.raises(Unauthenticated):
            identify(headers, settings, START)


def test_the_clock_is_the_one_that_is_handed_in() -> None:
    long_ago = datetime.fromisoformat("2001-01-01T00:00:00+00:00")

    assert identify(signed(), SETTINGS, long_ago)

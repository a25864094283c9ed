"""A container remembers the tokens that it has verified, each with all that verified it."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import SecretStr

from chalicelib import identity
from chalicelib.errors import Unauthenticated
from chalicelib.identity import identify
from chalicelib.key_sets import FRESH
from chalicelib.memory import MOST_REMEMBERED
from chalicelib.settings import Settings
from tests.conftest import JWT_SECRET
from tests.support.clock import Clock

SETTINGS = Settings(jwt_secret=SecretStr(JWT_SECRET))


def bearer(clock: Clock, key: Any = JWT_SECRET, algorithm: str = "HS256", **claims: Any) -> Any:
    """Return the header of an hour's token."""
    payload = {"sub": "ann", "exp": clock() + timedelta(hours=1), **claims}
    token = jwt.encode(payload, key, algorithm, headers={"kid": "k1"})
    return {"authorization": f"Bearer {token}"}


def test_a_token_is_verified_once_in_five_minutes(clock: Clock) -> None:
    headers = bearer(clock, iss="once")

    with patch("jwt.decode", wraps=jwt.decode) as decode:
        for seconds in (0, 1, 298.999, 0.001, 299.999):
            clock.advance(seconds=seconds)
            assert identify(headers, SETTINGS, clock())

    assert decode.call_count == 2


def test_a_remembered_token_expires_in_time(clock: Clock) -> None:
    headers = bearer(clock, exp=clock() + timedelta(seconds=60))

    assert identify(headers, SETTINGS, clock())
    clock.advance(seconds=89.999)
    assert identify(headers, SETTINGS, clock())
    clock.advance(seconds=0.001)
    with pytest.raises(Unauthenticated):
        identify(headers, SETTINGS, clock())


@pytest.mark.parametrize(
    "change",
    [
        {"jwt_secret": SecretStr("another secret of the tests, long enough for HS256")},
        {"jwt_issuer": "town"},
        {"jwt_audience": "plaza"},
        {"jwt_secret": None, "jwks_url": "https://keys.example/jwks.json"},
    ],
)
def test_a_remembered_token_is_refused_under_other_settings(
    clock: Clock, change: dict[str, Any]
) -> None:
    headers = bearer(clock, iss="city", aud="another")
    assert identify(headers, SETTINGS, clock())

    with pytest.raises(Unauthenticated):
        identify(headers, SETTINGS.model_copy(update=change), clock())
    assert identify(headers, SETTINGS, clock())


def test_a_key_that_is_withdrawn_takes_its_remembered_tokens_along(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    published = [own]

    def fetch(_client: Any) -> Any:
        to_jwk = jwt.get_algorithm_by_name("ES256").to_jwk
        jwks = [to_jwk(each.public_key(), as_dict=True) for each in published]
        return {"keys": [{**jwk, "kid": "k1", "use": "sig", "alg": "ES256"} for jwk in jwks]}

    identity._key_set.cache_clear()
    monkeypatch.setattr(jwt.PyJWKClient, "fetch_data", fetch)
    settings = Settings(jwks_url="https://keys.example/jwks.json", jwt_audience="plaza")
    assert identify(bearer(clock, own, "ES256", aud="plaza"), settings, clock())
    clock.advance(seconds=60)
    headers = bearer(clock, own, "ES256", aud="plaza")
    assert identify(headers, settings, clock())

    # Another key under the same id.
    published[:] = [other]
    clock.advance(seconds=FRESH.total_seconds() - 60.001)
    assert identify(headers, settings, clock())
    clock.advance(seconds=0.001)
    with pytest.raises(Unauthenticated):
        identify(headers, settings, clock())


def test_forged_tokens_are_not_remembered_in_the_place_of_valid_ones(clock: Clock) -> None:
    headers = bearer(clock, iss="beside forged ones")
    assert identify(headers, SETTINGS, clock())

    for number in range(MOST_REMEMBERED + 1):
        with pytest.raises(Unauthenticated):
            identify(
                bearer(clock, f"a forger's key, long enough for HS256: {number}"), SETTINGS, clock()
            )

    with patch("jwt.decode", wraps=jwt.decode) as decode:
        assert identify(headers, SETTINGS, clock())
    assert decode.call_count == 0

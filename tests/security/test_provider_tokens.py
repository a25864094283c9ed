"""Attacks on the ID tokens of providers: none that breaks a rule signs anybody in."""

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.signing_in import (
    CLIENT_ID,
    CLIENT_SECRET,
    LOCAL_URL,
    PAGE,
    SITE,
    FakeProvider,
    Forge,
    SigningIn,
    elliptic_key,
    published,
    rsa_key,
    signing_in,
    unsigned,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

FAILED = f"{PAGE}#plaza-sign-in=provider_failed"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": LOCAL_URL})


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> Iterator[SigningIn]:
    with signing_in(client, runtime, clock) as made:
        yield made


def public_pem() -> bytes:
    key = elliptic_key("own").public_key()
    pem: bytes = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem


def by_hmac(claims: dict[str, Any], secret: bytes) -> str:
    header = {"alg": "HS256", "kid": "own"}
    signed = unsigned(claims, header).rpartition(".")[0]
    return unsigned(claims, header, hmac.new(secret, signed.encode(), hashlib.sha256).digest())


def saying(**members: Any) -> Forge:
    return lambda of, nonce: of.sign(of.claims(nonce, **members))


def without(name: str) -> Forge:
    def forge(of: FakeProvider, nonce: str) -> str:
        return of.sign({each: value for each, value in of.claims(nonce).items() if each != name})

    return forge


FORGED: dict[str, Forge] = {
    "signed by nobody": lambda of, nonce: unsigned(of.claims(nonce), {"alg": "none"}),
    "signed by NONE": lambda of, nonce: unsigned(of.claims(nonce), {"alg": "NoNe", "kid": "own"}),
    "HS256 by the client's secret": lambda of, nonce: by_hmac(
        of.claims(nonce), CLIENT_SECRET.encode()
    ),
    "HS256 by the public key": lambda of, nonce: by_hmac(of.claims(nonce), public_pem()),
    "of another key": lambda of, nonce: of.sign(of.claims(nonce), key="other"),
    "of an unknown key": lambda of, nonce: of.sign(of.claims(nonce), key="other", kid="other"),
    "of a key in its header": lambda of, nonce: jwt.encode(
        of.claims(nonce),
        elliptic_key("other"),
        "ES256",
        headers={"kid": "own", "jwk": published(elliptic_key("other"), "own")},
    ),
    "RS256 under the id of another kind of key": lambda of, nonce: jwt.encode(
        of.claims(nonce), rsa_key(), "RS256", headers={"kid": "own"}
    ),
    "ES256 of zeros": lambda of, nonce: unsigned(
        of.claims(nonce), {"alg": "ES256", "kid": "own"}, bytes(64)
    ),
    "for another client": saying(aud="another"),
    "for nobody": without("aud"),
    "for two clients": saying(aud=[CLIENT_ID, "another"]),
    "for two clients, by the other": saying(aud=[CLIENT_ID, "another"], azp="another"),
    "by another client": saying(azp="another"),
    "of another issuer": saying(iss="https://accounts.example"),
    "of an issuer with a slash more": lambda of, nonce: of.sign(of.claims(nonce, iss=f"{of.url}/")),
    "of no issuer": without("iss"),
    "expired": lambda of, nonce: of.sign(of.claims(nonce, exp=int(of.clock().timestamp()) - 61)),
    "of the future": lambda of, nonce: of.sign(
        of.claims(nonce, iat=int(of.clock().timestamp()) + 61)
    ),
    "without an end": without("exp"),
    "without a beginning": without("iat"),
    "with an end in words": saying(exp="tomorrow"),
    "of nobody": without("sub"),
    "of the empty subject": saying(sub=""),
    "of a subject of 256 characters": saying(sub="a" * 256),
    "of a number": saying(sub=7),
    "of a subject with a newline": saying(sub="ann\n"),
    "of another sign-in": lambda of, _nonce: of.sign(of.claims("another")),
    "of no sign-in": without("nonce"),
    "no token": lambda _of, _nonce: "token",
    "no text": lambda _of, _nonce: "",
    "too long": saying(padding="a" * 20_000),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_token_signs_nobody_in(site: SigningIn, forged: str) -> None:
    browser = site.browser()
    asked = browser.go()
    site.provider.give(FORGED[forged](site.provider, asked["nonce"]))

    led = browser.come_back(code="code", state=asked["state"])

    assert (led.status, led.headers["Location"]) == (302, FAILED)
    assert site.is_empty()


@pytest.mark.parametrize(
    "members",
    [
        {"aud": [CLIENT_ID]},
        {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID},
        {"sub": "a" * 255},
        {"sub": "g_" + "a" * 22},
        {"roles": ["admin"], "sites": ["blog"]},
    ],
)
def test_a_token_by_the_rules_signs_in_a_reader_without_roles(
    site: SigningIn, members: dict[str, Any]
) -> None:
    entered = site.enter(**members)

    assert entered["id"].startswith("p_")
    reader = site.holding(entered["token"])
    assert reader.get(f"{SITE}/comments/settings").code == "forbidden"
    assert reader.put(f"{SITE}/providers/own", name="x").status in (403, 422)

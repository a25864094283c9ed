"""Bearer tokens that nobody signed, or that were signed for something else, open no door."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.conftest import JWT_SECRET
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

DOOR = "/users/me"
Claims = dict[str, Any]


@pytest.fixture
def claims(clock: Clock) -> Claims:
    """Claims that would make an admin, were they signed."""
    return {"sub": "eve", "roles": ["admin"], "exp": (clock() + timedelta(hours=1)).timestamp()}


def part(value: Any) -> str:
    """Return a part of a token: JSON, or bytes as they are, in base64url."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: Any, claims: Any, secret: str = JWT_SECRET, digest: Any = hashlib.sha256) -> str:
    """Return a token with this header, signed by HMAC whatever the header says."""
    text = f"{part(header)}.{part(claims)}"
    return f"{text}.{part(hmac.new(secret.encode(), text.encode(), digest).digest())}"


def ask(client: Client, token: str) -> Reply:
    return client.request("GET", DOOR, headers={"Authorization": f"Bearer {token}"})


HS256 = {"alg": "HS256", "typ": "JWT"}
PRIVATE = rsa.generate_private_key(65_537, 2_048)
FORGERIES: dict[str, Callable[[Claims], str]] = {
    "alg none": lambda claims: f"{part({'alg': 'none'})}.{part(claims)}.",
    "alg None": lambda claims: f"{part({'alg': 'None'})}.{part(claims)}.",
    "no alg": lambda claims: signed({"typ": "JWT"}, claims),
    "alg null": lambda claims: signed({"alg": None}, claims),
    "alg a list": lambda claims: signed({"alg": ["HS256"]}, claims),
    "alg HS384": lambda claims: signed({"alg": "HS384"}, claims, digest=hashlib.sha384),
    "alg HS512": lambda claims: signed({"alg": "HS512"}, claims, digest=hashlib.sha512),
    "alg hs256": lambda claims: signed({"alg": "hs256"}, claims),
    "alg RS256 signed by HMAC": lambda claims: signed({"alg": "RS256"}, claims),
    "alg RS256 by a key of one's own": lambda claims: jwt.encode(claims, PRIVATE, "RS256"),
    "another secret": lambda claims: signed(HS256, claims, secret="x" * 40),
    "an empty secret": lambda claims: signed(HS256, claims, secret=""),
    "no signature": lambda claims: f"{part(HS256)}.{part(claims)}.",
    "two parts": lambda claims: f"{part(HS256)}.{part(claims)}",
    "four parts": lambda claims: signed(HS256, claims) + ".x",
    "claims of another token": lambda claims: ".".join(
        [
            *signed(HS256, {**claims, "roles": []}).split(".")[:1],
            part(claims),
            signed(HS256, {**claims, "roles": []}).split(".")[2],
        ]
    ),
    "a cut signature": lambda claims: signed(HS256, claims)[:-4],
    "a header that is no JSON": lambda claims: signed(b"{", claims),
    "a header that is a list": lambda claims: signed([HS256], claims),
    "claims that are a list": lambda claims: signed(HS256, [claims]),
    "claims that are no JSON": lambda _: signed(HS256, b"{"),
    "crit": lambda claims: signed({**HS256, "crit": ["b64"], "b64": False}, claims),
    "no exp": lambda claims: signed(HS256, {k: v for k, v in claims.items() if k != "exp"}),
    "exp a text": lambda claims: signed(HS256, {**claims, "exp": "tomorrow"}),
    "exp NaN": lambda claims: signed(HS256, {**claims, "exp": float("nan")}),
    "exp infinite": lambda claims: signed(HS256, {**claims, "exp": float("inf")}),
    "exp null": lambda claims: signed(HS256, {**claims, "exp": None}),
    "exp a list": lambda claims: signed(HS256, {**claims, "exp": [claims["exp"]]}),
    "expired": lambda claims: signed(HS256, {**claims, "exp": claims["exp"] - 7_200}),
    "nbf to come": lambda claims: signed(HS256, {**claims, "nbf": claims["exp"]}),
    "nbf a text": lambda claims: signed(HS256, {**claims, "nbf": "now"}),
    "no sub": lambda claims: signed(HS256, {k: v for k, v in claims.items() if k != "sub"}),
    "sub with a letter beyond ASCII": lambda claims: signed(HS256, {**claims, "sub": "\u00e9ve"}),
    "sub with a line": lambda claims: signed(HS256, {**claims, "sub": "eve\n"}),
    "sub with a NUL": lambda claims: signed(HS256, {**claims, "sub": "eve\x00"}),
    "sub empty": lambda claims: signed(HS256, {**claims, "sub": ""}),
    "sub too long": lambda claims: signed(HS256, {**claims, "sub": "e" * 256}),
    "sub a number": lambda claims: signed(HS256, {**claims, "sub": 7}),
    "sub an operator": lambda claims: signed(HS256, {**claims, "sub": {"$ne": ""}}),
    "roles a text": lambda claims: signed(HS256, {**claims, "roles": "admin"}),
    "roles an object": lambda claims: signed(HS256, {**claims, "roles": {"admin": True}}),
    "sites a text": lambda claims: signed(HS256, {**claims, "sites": "alpha"}),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_is_refused(forgery: str, client: Client, claims: Claims) -> None:
    reply = ask(client, FORGERIES[forgery](claims))

    assert (reply.status, reply.code) == (401, "unauthenticated")


@pytest.mark.parametrize(
    "header",
    [
        {"kid": "../../../../dev/null"},
        {"kid": "' OR 1=1 --"},
        {"jku": "https://evil.example/keys"},
        {"jwk": {"kty": "oct", "k": part(b"x" * 40)}},
        {"x5u": "https://evil.example/cert"},
        {"x5c": ["AAAA"]},
        {"nested": {"a": [[[[[[[[{}]]]]]]]]}},
    ],
    ids=str,
)
def test_what_a_header_names_is_not_where_keys_come_from(
    header: Claims, client: Client, claims: Claims
) -> None:
    forged = ask(client, signed({**HS256, **header}, claims, secret="x" * 40))

    assert (forged.status, forged.code) == (401, "unauthenticated")


def test_a_token_of_the_deployments_own_secret_is_good(client: Client, claims: Claims) -> None:
    """The forgeries differ from this one in what they are named for, and in nothing else."""
    client.as_("eve").put(DOOR)

    assert ask(client, signed(HS256, claims)).status == 200


@pytest.mark.parametrize("flipped", range(0, 40, 3))
def test_no_bit_of_a_signature_is_idle(flipped: int, client: Client, claims: Claims) -> None:
    text, _, signature = signed(HS256, claims).rpartition(".")
    raw = bytearray(base64.urlsafe_b64decode(signature + "="))
    raw[flipped % len(raw)] ^= 1 << flipped % 8

    assert ask(client, f"{text}.{part(bytes(raw))}").status == 401


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "bearer", "Token x", "Bearer a b c", "Bearer \u00e9", "x" * 9_000],
)
def test_a_header_in_another_form_is_refused(header: str, client: Client) -> None:
    reply = client.request("GET", DOOR, headers={"Authorization": header})

    assert reply.status == 401

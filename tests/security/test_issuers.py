"""Attacks on sites' own issuers: by tokens, by a publisher's settings, and beyond the site."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chalicelib import site_tokens
from chalicelib.key_sets import PublicKeySet
from chalicelib.runtime import Runtime
from tests.conftest import JWT_SECRET, SIGNING_KEY
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.issuing import (
    COMMENTS,
    ELSEWHERE,
    ISS,
    SECRET,
    SITE,
    IssuingSite,
    public_document,
)

OTHER_SECRET = "the-secret-of-the-shops-own-accounts"
OTHER_ISS = "https://accounts.shop.example"
KEY = ec.generate_private_key(ec.SECP256R1())
RSA_KEY = rsa.generate_private_key(65_537, 2_048)
PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
HS256 = {"alg": "HS256", "typ": "JWT"}
Claims = dict[str, Any]


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> IssuingSite:
    made = IssuingSite(client, runtime, clock)
    made.settle()
    made.accept("accounts", "shop", iss=OTHER_ISS, secret=OTHER_SECRET)
    return made


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: Any, claims: Any, secret: Any = SECRET, digest: Any = hashlib.sha256) -> str:
    """Return a token with this header, signed by HMAC whatever the header says."""
    text = f"{part(header)}.{part(claims)}"
    key = secret if isinstance(secret, bytes) else secret.encode()
    return f"{text}.{part(hmac.new(key, text.encode(), digest).digest())}"


def by_own_key(claims: Claims, **header: Any) -> str:
    return jwt.encode(claims, KEY, "ES256", headers=header)


JWK = public_document(KEY, "ES256")["keys"][0]
FORGERIES: dict[str, Callable[[Claims], str]] = {
    "alg none": lambda said: f"{part({'alg': 'none'})}.{part(said)}.",
    "alg None": lambda said: f"{part({'alg': 'None'})}.{part(said)}.",
    "no alg": lambda said: signed({"typ": "JWT"}, said),
    "alg a list": lambda said: signed({"alg": ["HS256"]}, said),
    "alg HS384": lambda said: signed({"alg": "HS384"}, said, digest=hashlib.sha384),
    "alg HS512": lambda said: signed({"alg": "HS512"}, said, digest=hashlib.sha512),
    "alg ES256 signed by the secret": lambda said: signed({"alg": "ES256", "kid": "k1"}, said),
    "a key of one's own": lambda said: by_own_key(said, kid="k1"),
    "jwk, a key in the header": lambda said: by_own_key(said, jwk=JWK, kid="k1"),
    "jku, where the key is": lambda said: by_own_key(said, jku="https://evil.example/", kid="k1"),
    "x5u, where the key is": lambda said: by_own_key(said, x5u="https://evil.example/", kid="k1"),
    "kid of a file": lambda said: signed({**HS256, "kid": "../../../dev/null"}, said, ""),
    "kid of an address": lambda said: by_own_key(said, kid="https://evil.example/jwks.json"),
    "kid that is no text": lambda said: signed({**HS256, "kid": {"$ne": ""}}, said),
    "crit": lambda said: signed({**HS256, "crit": ["plaza"], "plaza": 1}, said),
    "an empty secret": lambda said: signed(HS256, said, ""),
    "the secret of another site": lambda said: signed(HS256, said, OTHER_SECRET),
    "the secret of the deployment": lambda said: signed(HS256, said, JWT_SECRET),
    "the key of guests' tokens": lambda said: signed(HS256, said, SIGNING_KEY),
    "no signature": lambda said: f"{part(HS256)}.{part(said)}.",
    "half a signature": lambda said: signed(HS256, said)[:-20],
    "a claim changed": lambda said: _with_payload(signed(HS256, said), {**said, "sub": "1"}),
    "claims that are a list": lambda said: signed(HS256, [said]),
    "a header so deep that a parser gives up": lambda said: (
        f"{part(b'{' + b'[' * 4_000)}.{part(said)}.{part(b'tag')}"
    ),
    "claims so deep that a parser gives up": lambda said: _with_payload(
        signed(HS256, said), b'{"aud":"plaza:blog","x":' + b"[" * 4_000
    ),
}


def _with_payload(token: str, payload: Any) -> str:
    header, _, tag = token.split(".")
    return f"{header}.{part(payload)}.{tag}"


@pytest.mark.parametrize("attack", FORGERIES)
def test_a_token_that_no_issuer_of_the_site_signed_is_refused(
    site: IssuingSite, attack: str
) -> None:
    assert site.person().get("/me").status == 200

    forged = site.holding(FORGERIES[attack](site.claims()))

    assert forged.get("/me").code == "unauthenticated"
    assert forged.post(COMMENTS, text="Hello").code == "unauthenticated"


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "plaza:shop"},
        {"aud": "plaza:shop", "iss": OTHER_ISS},
        {"aud": ["plaza:blog", "plaza:shop"]},
        {"aud": "plaza:elsewhere"},
        {"aud": "PLAZA:blog"},
        {"aud": "plaza:blog "},
        {"aud": "plaza:Blog"},
        {"aud": "plaza:"},
        {"aud": {"plaza:blog": 1}},
        {"aud": "blog"},
        {"aud": None},
        {"iss": OTHER_ISS},
        {"iss": ISS + "/"},
        {"iss": [ISS]},
        {"iss": None},
        {"sub": ""},
        {"sub": None},
        {"sub": 42},
        {"sub": "x" * 256},
        {"sub": "\u00e4nn"},
        {"exp": None},
        {"exp": 1_000_000_000},
        {"exp": 1e400},
        {"nbf": 4_000_000_000},
    ],
    ids=str,
)
def test_a_signed_token_with_wrong_claims_is_refused(
    site: IssuingSite, changes: dict[str, Any]
) -> None:
    said = {**site.claims(), **changes}
    said = {name: value for name, value in said.items() if value is not None}

    assert site.holding(signed(HS256, said)).get("/me").code == "unauthenticated"


@pytest.mark.parametrize("secret", [PEM, json.dumps(JWK).encode(), b"", SECRET.encode()])
def test_a_published_key_is_no_secret(
    site: IssuingSite, monkeypatch: pytest.MonkeyPatch, secret: bytes
) -> None:
    found = jwt.PyJWKSet.from_dict(dict(public_document(KEY, "ES256"))).keys
    monkeypatch.setattr(PublicKeySet, "_read", lambda _: found)
    site_tokens._key_set.cache_clear()
    site.accept("accounts", jwks_url="https://accounts.blog.example/jwks.json")
    good = by_own_key(site.claims(), kid="k1")
    assert site.holding(good).get("/me").status == 200

    for header in ({**HS256, "kid": "k1"}, {"alg": "ES256", "kid": "k1"}):
        forged = site.holding(signed(header, site.claims(), secret))
        assert forged.get("/me").code == "unauthenticated"
    for other in (
        by_own_key(site.claims()),
        by_own_key(site.claims(), kid="k2"),
        jwt.encode(site.claims(), RSA_KEY, "RS256", headers={"kid": "k1"}),
    ):
        assert site.holding(other).get("/me").code == "unauthenticated"


@pytest.mark.parametrize(
    "claims",
    [
        {"roles": ["admin"]},
        {"roles": ["publisher", "moderator", "editor"], "sites": ["blog", "shop"]},
        {"roles": ["advertiser"], "advertiser": "acme"},
        {"roles": ["application", "social_moderator"]},
    ],
    ids=str,
)
def test_no_claim_gives_a_role(site: IssuingSite, claims: dict[str, Any]) -> None:
    person = site.person(**claims)

    me = person.get("/me").json
    assert (me["roles"], me["sites"], me["advertiser"]) == ([], [], None)
    assert person.get("/moderation/comments?queue=pending").status in {401, 403}
    assert person.get(f"{SITE}/comments/settings").status in {401, 403}
    assert person.put(f"{SITE}/issuers/mine", iss=ISS, secret=SECRET).status in {401, 403}
    assert "moderate" not in person.get(COMMENTS).json["viewer"]["can"]


HASHED = f"hashed|{'a' * 43}"
CHOSEN = [f"{kind}_{'a' * 22}" for kind in "gspi"] + [HASHED, "ann", "root", "x" * 255, " ", "$gt"]


@pytest.mark.parametrize("subject", CHOSEN)
def test_no_subject_is_anothers_id(site: IssuingSite, subject: str) -> None:
    found = site.id_of(subject)

    assert found.startswith("s_")
    assert len(found) == 24
    assert found != subject
    assert len({found, site.id_of("42"), site.id_of(found)}) == 3
    # Nor can a person of the deployment have it.
    assert site.client.as_(found).get("/me").json["id"].startswith("hashed|")


def test_one_subject_is_another_person_at_each_site_and_of_each_issuer(site: IssuingSite) -> None:
    site.accept("other", iss=OTHER_ISS, secret=OTHER_SECRET)
    shops = {"aud": "plaza:shop", "iss": OTHER_ISS, "secret": OTHER_SECRET}

    ids = {
        site.id_of("42"),
        site.id_of("42", iss=OTHER_ISS, secret=OTHER_SECRET),
        site.id_of("42", **shops),
        site.client.as_("42").get("/me").json["id"],
    }

    assert len(ids) == 4


def test_a_person_of_one_site_is_nobody_at_another(site: IssuingSite) -> None:
    person = site.person()

    assert person.post(f"{ELSEWHERE}/comments", text="Hello").code == "unauthenticated"
    assert person.get(f"{ELSEWHERE}/comments").json["viewer"] is None
    assert person.put("/sites/shop/blocked/bob").code == "unauthenticated"


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
@pytest.mark.parametrize(
    "path",
    [
        *("/users/me", "/users/me/blocked", "/posts", "/users/me/following/bob", "/circles"),
        *("/users/me/news", "/campaigns/acme:one", "/ads/blog/banner", "/shops/blog"),
        *("/content/blog/settings", "/sites/blog", "/sites/blog/issuers", "/moderation/comments"),
    ],
)
def test_a_person_of_one_site_is_nobody_to_other_features(
    site: IssuingSite, method: str, path: str
) -> None:
    def ask(client: Client) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        reply = client.request(method, path, body=b"{}", headers=headers)
        return reply.status, reply.body

    assert ask(site.person()) == ask(site.client)


def test_the_deployments_issuer_is_no_sites(site: IssuingSite) -> None:
    strict = site.under(jwt_issuer=ISS)

    assert strict.person().get("/me").code == "unauthenticated"
    root = strict.client.as_("root", roles=["admin"], iss=ISS)
    refused = root.put(f"{SITE}/issuers/mine", iss=ISS, secret=SECRET)
    assert (refused.status, refused.json["errors"][0]["code"]) == (422, "deployment_issuer")


def test_a_token_for_the_deployment_is_its_own_whatever_site_it_names_besides(
    site: IssuingSite,
) -> None:
    strict, both = site.under(jwt_audience="plaza"), {"aud": ["plaza", "plaza:blog"]}

    assert strict.person(**both).get("/me").code == "unauthenticated"
    assert strict.person(**both, secret=JWT_SECRET).get("/me").json["id"] == "42"
    assert strict.person().get("/me").json["id"].startswith("s_")

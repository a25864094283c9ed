"""A site whose readers sign in by providers, and a provider that says whatever a test wants."""

import base64
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from chalicelib.comments.people.links import CONFIRMATIONS
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.database import Collection
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.stand_ins import answering

ORIGIN = "https://blog.example"
PAGE = f"{ORIGIN}/moon?from=feed"
SITE = "/sites/blog"
COMMENTS = "/nodes/blog:moon/comments"
# Plaza on one machine with its providers, which then need no TLS.
LOCAL_URL = "http://127.0.0.1:8000"
CLIENT_ID, CLIENT_SECRET = "plaza-blog", "a secret: of the client + more"
_LIFETIME_SECONDS = 300


@cache
def elliptic_key(name: str) -> Any:
    """Return a key for ES256, the same for a name."""
    del name
    return ec.generate_private_key(ec.SECP256R1())


@cache
def rsa_key() -> Any:
    """Return a key for RS256."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


def published(key: Any, kid: str, **members: Any) -> dict[str, Any]:
    """Return a public key as a JSON Web Key."""
    kind: Any = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig", **members}


@dataclass
class FakeProvider:
    """A provider on this machine; `answers` are JSON, or functions of a form, by their paths."""

    url: str
    clock: Clock
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str], dict[str, str]]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    is_over: threading.Event = field(default_factory=threading.Event)

    def open(self) -> None:
        """Answer as a provider that works."""
        self.answers["/.well-known/openid-configuration"] = self.discovery()
        self.answers["/jwks"] = {"keys": [published(elliptic_key("own"), "own")]}

    def discovery(self, **members: Any) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/auth",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            **members,
        }

    def claims(self, nonce: str, **members: Any) -> dict[str, Any]:
        now = int(self.clock().timestamp())
        return {
            "iss": self.url,
            "sub": "ann",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + _LIFETIME_SECONDS,
            "nonce": nonce,
            "name": "Ann",
            "email": "ann@mail.example",
            "email_verified": True,
            **members,
        }

    def sign(self, claims: Mapping[str, Any], key: str = "own", kid: str | None = "own") -> str:
        headers = {} if kid is None else {"kid": kid}
        return jwt.encode(dict(claims), elliptic_key(key), "ES256", headers=headers)

    def drip(self, _form: dict[str, str]) -> Any:
        """Stand for an answer that never ends."""
        raise NotImplementedError

    def give(self, token: str) -> None:
        """Answer a code with this ID token, once."""

        def exchange(form: dict[str, str]) -> Any:
            if form["code"] in self.used:
                return {"error": "invalid_grant"}
            self.used.add(form["code"])
            return {"access_token": "access", "token_type": "Bearer", "id_token": token}

        self.answers["/token"] = exchange


@contextlib.contextmanager
def fake_provider(clock: Clock) -> Iterator[FakeProvider]:
    """Run a provider that works until a test changes its answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    made = FakeProvider(f"http://127.0.0.1:{server.server_address[1]}", clock)
    made.open()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Keep the output of tests clean."""

        def do_GET(self) -> None:
            self.answer({})

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            self.answer(dict(parse_qsl(self.rfile.read(size).decode())))

        def drip(self) -> None:
            """Send a byte for as long as somebody reads."""
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while not made.is_over.wait(0.05):
                    self.wfile.write(b" ")

        def answer(self, form: dict[str, str]) -> None:
            made.asked.append((self.path, dict(self.headers), form))
            found = made.answers.get(self.path)
            if found == made.drip:
                self.drip()
                return
            told = found(form) if callable(found) else found
            if isinstance(told, Redirect):
                self.send_response(302)
                self.send_header("Location", told.address)
                self.end_headers()
                return
            self.send_response(404 if told is None else 200)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(told if isinstance(told, bytes) else json.dumps(told).encode())

    server.RequestHandlerClass = Handler
    with answering(server):
        try:
            yield made
        finally:
            made.is_over.set()


@dataclass(frozen=True)
class Redirect:
    """An answer that leads elsewhere."""

    address: str


@dataclass
class Browser:
    """A browser that signs in: it keeps its cookie, and sends it back."""

    client: Client
    cookie: str = ""

    def get(self, target: str) -> Reply:
        cookies = {"Cookie": self.cookie} if self.cookie else {}
        headers = {"Accept": "text/html", **cookies}
        reply = self.client.request("GET", target, headers=headers)
        if "Set-Cookie" in reply.headers:
            pair, _, rest = reply.headers["Set-Cookie"].partition(";")
            self.cookie = "" if "Max-Age=0" in rest else pair
        return reply

    def begin(self, provider: str = "own", return_to: str = PAGE, site: str = SITE) -> Reply:
        query = urlencode({"return_to": return_to})
        return self.get(f"{site}/providers/{provider}/sign-in?{query}")

    def go(self, provider: str = "own") -> dict[str, str]:
        """Begin a sign-in; return what the provider is asked."""
        reply = self.begin(provider)
        assert reply.status == 302, reply.body
        query = parse_qs(urlsplit(reply.headers["Location"]).query, strict_parsing=True)
        return {name: values[0] for name, values in query.items()}

    def come_back(self, provider: str = "own", site: str = SITE, **answer: str) -> Reply:
        return self.get(f"{site}/providers/{provider}/callback?{urlencode(answer)}")


@dataclass
class SigningIn:
    """The site `blog` with the provider `own`."""

    client: Client
    runtime: Runtime
    clock: Clock
    provider: FakeProvider

    @property
    def admin(self) -> Client:
        return self.client.as_("root", roles=["admin"])

    def settle(self) -> None:
        given = {"title": "Moon", "url": PAGE}
        assert self.admin.put("/nodes/blog:moon", **given).status in (200, 201)
        decided = {"guests": "accounts", "origins": [ORIGIN]}
        assert self.admin.put(f"{SITE}/comments/settings", **decided).status == 200
        self.offer()

    def offer(self, key: str = "own", site: str = SITE, **members: Any) -> Reply:
        """Set a provider of a site."""
        body = {
            "name": "Own accounts",
            "kind": "oidc",
            "issuer": self.provider.url,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            **members,
        }
        put = {name: value for name, value in body.items() if value is not None}
        reply = self.admin.put(f"{site}/providers/{key}", **put)
        assert reply.status == 200, reply.body
        self.clock.advance(seconds=6)
        return reply

    def browser(self) -> Browser:
        return Browser(self.client)

    def sign_in(self, browser: Browser | None = None, **claims: Any) -> Reply:
        """Sign in as whom the claims say; return where the page is led back to."""
        browser = browser or self.browser()
        asked = browser.go()
        self.provider.give(self.provider.sign(self.provider.claims(asked["nonce"], **claims)))
        return browser.come_back(code=f"code of {asked['state']}", state=asked["state"])

    def enter(self, **claims: Any) -> Any:
        """Sign in, and return the answer to the page's code."""
        return self.exchange(code_of(self.sign_in(**claims))).json

    def exchange(self, code: str, site: str = SITE) -> Reply:
        return self.client.post(f"{site}/sign-in/account", code=code)

    def holding(self, token: str) -> Client:
        return Client(self.client.app, self.client.token, {"Authorization": f"Bearer {token}"})

    def is_empty(self) -> bool:
        """Return whether nobody has signed in."""
        rows: tuple[Collection[Any], ...] = (PEOPLE, CONFIRMATIONS)
        return not any(each.of(self.runtime.database).find_one({}) for each in rows)


@contextlib.contextmanager
def signing_in(client: Client, runtime: Runtime, clock: Clock) -> Iterator[SigningIn]:
    """Run a provider, by which readers sign in at the site."""
    with fake_provider(clock) as provider:
        made = SigningIn(client, runtime, clock, provider)
        made.settle()
        yield made


def code_of(reply: Reply) -> str:
    """Return the code that a browser is led back with."""
    page, _, code = reply.headers["Location"].partition("#plaza-account=")
    assert page == PAGE, reply.headers["Location"]
    return code


def unsigned(claims: Mapping[str, Any], header: Mapping[str, Any], tag: bytes = b"") -> str:
    """Return a token with a header and a signature of a test's choice."""

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    written = (json.dumps(dict(each)).encode() for each in (header, claims))
    return ".".join((*map(part, written), part(tag)))


Forge = Callable[[FakeProvider, str], str]

"""A site with issuers of its own, and the tokens that they issue."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import jwt
from chalice.local import LocalChalice

from app import create_app
from chalicelib.runtime import Runtime
from chalicelib.sites import issuers
from chalicelib.sites.issuers import StoredIssuer
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

ISS = "https://accounts.blog.example"
SECRET = "the-secret-of-the-blogs-own-accounts"
SITE = "/sites/blog"
ISSUERS = f"{SITE}/issuers"
NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
ELSEWHERE = "/nodes/shop:lamp"


@dataclass(frozen=True)
class IssuingSite:
    """The site `blog` with an issuer of its own, and the site `shop` beside it."""

    client: Client
    runtime: Runtime
    clock: Clock

    def under(self, **settings: Any) -> "IssuingSite":
        """Return the site under other settings of the deployment."""
        changed = self.runtime.settings.model_copy(update=settings)
        runtime = replace(self.runtime, settings=changed)
        client = Client(create_app(runtime, LocalChalice), self.client.token)
        return IssuingSite(client, runtime, self.clock)

    @property
    def admin(self) -> Client:
        return self.client.as_("root", roles=["admin"])

    def settle(self) -> None:
        """Make a discussion at either site, and have the blog accept its accounts."""
        for node in (NODE, ELSEWHERE):
            made = self.admin.put(node, title="Moon", url="https://blog.example/moon")
            assert made.status == 201, made.body
        self.accept("accounts", secret=SECRET)

    def accept(self, key: str, site: str = "blog", **issuer: Any) -> Reply:
        """Have a site accept an issuer under a key."""
        reply = self.admin.put(f"/sites/{site}/issuers/{key}", **{"iss": ISS, **issuer})
        assert reply.status == 200, reply.body
        return reply

    def accept_unasked(self, site: str, issuer: StoredIssuer) -> None:
        """Store an issuer as another container does."""
        row: Any = {"_id": site, "issuers": [issuer]}
        issuers.ISSUERS.of(self.runtime.database).replace_one({"_id": site}, row, upsert=True)

    def claims(self, sub: Any = "42", **changes: Any) -> dict[str, Any]:
        """Return the claims of a person; a change to None leaves one out."""
        expires = (self.clock() + timedelta(minutes=10)).timestamp()
        said = {"iss": ISS, "aud": "plaza:blog", "sub": sub, "name": "Ann", "exp": expires}
        return {name: value for name, value in {**said, **changes}.items() if value is not None}

    def token(self, sub: Any = "42", secret: str = SECRET, **changes: Any) -> str:
        return jwt.encode(self.claims(sub, **changes), secret, "HS256")

    def holding(self, token: str) -> Client:
        """Return the client of a token's holder."""
        bearer = {"Authorization": f"Bearer {token}"}
        return Client(self.client.app, self.client.token, {**self.client.headers, **bearer})

    def person(self, sub: Any = "42", **changes: Any) -> Client:
        """Return the client of a person of the blog's own accounts."""
        return self.holding(self.token(sub, **changes))

    def id_of(self, sub: Any = "42", **changes: Any) -> str:
        reply = self.person(sub, **changes).get("/me")
        assert reply.status == 200, reply.body
        return str(reply.json["id"])


def public_document(key: Any, algorithm: str, kid: str = "k1") -> Mapping[str, Any]:
    """Return the key set that publishes a key."""
    jwk = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {"keys": [{**jwk, "kid": kid, "use": "sig", "alg": algorithm}]}

"""Calls to an app through the same gateway that the local server has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from chalice.app import Chalice

from local.gateway import Answer, Gateway
from tests.support.contract import published

# Without a User-Agent a caller counts as a program.
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"


# The declared contract, which every answer must keep.
CONTRACT = published()


@dataclass(frozen=True)
class Reply:
    """An answer with its JSON at hand."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def code(self) -> str:
        """The stable code of a problem+json answer."""
        assert self.headers["Content-Type"] == "application/problem+json", self.body
        assert self.json["status"] == self.status
        return str(self.json["code"])


@dataclass(frozen=True)
class Client:
    """A caller of the API; `as_` gives one with a token."""

    app: Chalice
    token: Callable[..., str]
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_(self, sub: str, **claims: Any) -> "Client":
        """Return a client that calls with a token for this user."""
        bearer = f"Bearer {self.token(sub, **claims)}"
        return Client(self.app, self.token, {**self.headers, "Authorization": bearer})

    def request(
        self,
        method: str,
        target: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        sent = {"User-Agent": BROWSER, **self.headers, **(headers or {})}
        answer: Answer = Gateway(self.app).handle(method, target, sent, body)
        CONTRACT.check(method, target, answer)
        return Reply(answer.status, answer.headers, answer.body)

    def get(self, target: str) -> Reply:
        return self.request("GET", target)

    def post(self, target: str, **json: Any) -> Reply:
        return self._with_json("POST", target, json)

    def put(self, target: str, **json: Any) -> Reply:
        return self._with_json("PUT", target, json)

    def patch(self, target: str, **json: Any) -> Reply:
        return self._with_json("PATCH", target, json)

    def delete(self, target: str) -> Reply:
        return self.request("DELETE", target)

    def _with_json(self, method: str, target: str, json: Mapping[str, Any]) -> Reply:
        headers = {"Content-Type": "application/json"}
        return self.request(method, target, body=orjson.dumps(json), headers=headers)

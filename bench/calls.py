"""The doors of an app: events as API Gateway makes them, and HTTP to a server."""

import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from chalice.app import Chalice

from app import create_app
from chalicelib.database import Document
from chalicelib.http.front import GREEDY, PARAMETER
from chalicelib.runtime import Runtime
from local.tokens import mint

# As .chalice/config.json has it.
FUNCTION_TIMEOUT_MS = 30_000
_REQUEST_ID = "5fd1b6f2-7a3c-4c1e-9d4b-0f9c3a6e2b10"
_FAILED = 400
# Without a User-Agent a caller counts as a program, for which no money is leased.
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"


class Context:
    """What Lambda hands to a function beside the event, at the beginning of its time."""

    aws_request_id = _REQUEST_ID

    def get_remaining_time_in_millis(self) -> int:
        """Return the function's whole time."""
        return FUNCTION_TIMEOUT_MS


_CONTEXT = Context()


class Caller(Protocol):
    """Makes a call through one door and returns the answer's body; raises CallFailed."""

    def __call__(
        self,
        method: str,
        resource: str,
        path: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> str:
        """Make a call; `resource` is the route's template, `path` its parameters."""


class CallFailed(Exception):
    """A call was answered with 400 or above; the message is the answer's body."""


def _target(resource: str, path: Mapping[str, str]) -> str:
    """Return the path as a caller sends it."""
    return resource.format(**{name: quote(value) for name, value in path.items()})


class AppCalls:
    """Calls to an app as Lambda makes them, without a socket in between; a guest has no `sub`."""

    def __init__(self, runtime: Runtime, sub: str = "ann", **claims: Any) -> None:
        self._app: Chalice = create_app(runtime)
        self._caller: dict[str, str] = {}
        if sub:
            token = mint(runtime.settings, runtime.now(), sub, **claims)
            self._caller["authorization"] = f"Bearer {token}"

    def __call__(
        self,
        method: str,
        resource: str,
        path: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> str:
        """Make a call through `app(event, context)`."""
        answer = self.send(self.event(method, resource, path, query, body))
        if answer["statusCode"] >= _FAILED:
            raise CallFailed(answer["body"])
        return str(answer["body"])

    def send(self, event: Document) -> Document:
        """Hand an event to the app as Lambda does, with what is left of the invocation's time."""
        # Lambda makes each event anew, and the app writes the route into it.
        fresh = {**event, "requestContext": {**event["requestContext"]}}
        answer: Document = self._app(fresh, _CONTEXT)
        return answer

    def event(
        self,
        method: str,
        resource: str,
        path: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Document:
        """Return the event of a call, in the form of API Gateway's proxy integration."""
        target = _target(resource, path)
        headers = {
            **self._caller,
            "content-type": "application/json",
            "user-agent": BROWSER,
        }
        return {
            "requestContext": {
                "httpMethod": method,
                "resourcePath": GREEDY,
                "path": target,
                "requestId": _REQUEST_ID,
                "identity": {"sourceIp": "127.0.0.1"},
            },
            "headers": headers,
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "multiValueQueryStringParameters": {k: [v] for k, v in (query or {}).items()} or None,
            "pathParameters": {PARAMETER: target[1:]},
            "stageVariables": None,
            "isBase64Encoded": False,
            "body": json.dumps(body) if body is not None else "",
        }


class HttpCalls:
    """Calls to a server; each thread keeps a connection of its own."""

    def __init__(self, url: str, runtime: Runtime, sub: str = "ann", **claims: Any) -> None:
        self._address = urlsplit(url).netloc
        token = mint(runtime.settings, runtime.now(), sub, **claims)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "User-Agent": BROWSER,
        }
        self._local = threading.local()

    def __call__(
        self,
        method: str,
        resource: str,
        path: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> str:
        """Make a call over the thread's connection."""
        target = _target(resource, path)
        if query:
            target += f"?{urlencode(query)}"
        connection = self._connection()
        connection.request(method, target, json.dumps(body) if body else None, self._headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status >= _FAILED:
            raise CallFailed(text)
        return text

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(self._address, timeout=30)
            self._local.connection = connection
        return connection

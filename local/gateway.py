"""API Gateway on one machine: its resources, and its own failures, around the app."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from chalice.app import Chalice
from chalice.local import LambdaContext

from chalicelib.http.front import GREEDY, PARAMETER
from chalicelib.http.middleware import CORS, SAFE_HEADERS
from deploy.api import GATEWAY_RESPONSES, problem_body
from deploy.declared import CONFIG
from deploy.resources import OWN_RESOURCES

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication

# Lambda's own limit of an event and of an answer, both as JSON. A body arrives as base64.
PAYLOAD_LIMIT_BYTES = 6_291_556
# The most bytes of an event's members beside its body.
_EVENT_BYTES = 20_000
_BODY_LIMIT_BYTES = (PAYLOAD_LIMIT_BYTES - _EVENT_BYTES) // 4 * 3
_TIMEOUT_MS = CONFIG["lambda_timeout"] * 1_000
# All that `ANY` stands for.
_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_OWN = {
    resource: re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(resource)))
    for resource in OWN_RESOURCES
}


@dataclass(frozen=True)
class Answer:
    """An HTTP answer as it goes out."""

    status: int
    headers: dict[str, str]
    body: bytes


def lambda_event(
    method: str, target: str, headers: Mapping[str, str], body: bytes = b""
) -> dict[str, Any]:
    """Return the event that API Gateway makes of a request; `target` is as the caller sent it.

    The path and its parameters stay encoded, and the query is decoded. Bodies are base64, since
    every media type is binary.
    """
    path, _, query = target.partition("?")
    resource, parameters = _resource_of(path)
    return {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "requestContext": {
            "httpMethod": method,
            "resourcePath": resource,
            "path": path,
            "identity": {"sourceIp": "127.0.0.1"},
        },
        "headers": {name.lower(): value for name, value in headers.items()},
        "multiValueQueryStringParameters": parse_qs(query, keep_blank_values=True) or None,
        "pathParameters": parameters or None,
        "stageVariables": None,
        "body": base64.b64encode(body).decode("ascii") if body else None,
        "isBase64Encoded": bool(body),
    }


def _resource_of(path: str) -> tuple[str, dict[str, str]]:
    """Return the resource of a path, and its parameters as they were sent.

    API Gateway ignores slashes before a path, and one behind it, also in the greedy parameter.
    """
    bare = path.lstrip("/").removesuffix("/")
    for resource, pattern in _OWN.items():
        if found := pattern.fullmatch(f"/{bare}"):
            return resource, found.groupdict()
    return GREEDY, {PARAMETER: bare}


class Gateway:
    """API Gateway in front of one app."""

    def __init__(self, app: Chalice) -> None:
        self._app = app

    def handle(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Answer:
        """Answer one request; `target` is the path, still encoded, with its query."""
        if len(body) > _BODY_LIMIT_BYTES:
            return self._own_answer("REQUEST_TOO_LARGE")
        if method not in _METHODS:
            return self._own_answer("MISSING_AUTHENTICATION_TOKEN")
        context = LambdaContext("plaza", CONFIG["lambda_memory_size"], _TIMEOUT_MS)
        response = self._app(lambda_event(method, target, headers, body), context)
        text = response["body"] or ""
        # As Lambda's runtimes write it: in ASCII, so that an emoji takes twelve bytes.
        if len(json.dumps(response)) > PAYLOAD_LIMIT_BYTES:
            return self._own_answer("DEFAULT_5XX")
        encoded = response.get("isBase64Encoded", False)
        return Answer(
            status=response["statusCode"],
            headers={**response["headers"], **_joined(response["multiValueHeaders"])},
            body=base64.b64decode(text) if encoded else text.encode(),
        )

    def _own_answer(self, kind: str) -> Answer:
        response = GATEWAY_RESPONSES[kind]
        headers = {**SAFE_HEADERS, **CORS.get_access_control_headers()}
        return Answer(
            status=response["statusCode"],
            headers={"Content-Type": "application/problem+json", **headers},
            body=json.dumps(problem_body(response)).encode(),
        )


def wsgi_application(gateway: Gateway) -> "WSGIApplication":
    """Return the gateway as a WSGI application."""

    def application(environ: dict[str, Any], start_response: "StartResponse") -> list[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        answer = gateway.handle(
            environ["REQUEST_METHOD"],
            environ["REQUEST_URI"],
            _request_headers(environ),
            environ["wsgi.input"].read(length) if length else b"",
        )
        status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
        start_response(status, list(answer.headers.items()))
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else answer.body]

    return application


def _request_headers(environ: Mapping[str, Any]) -> dict[str, str]:
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    if environ.get("CONTENT_TYPE"):
        headers["content-type"] = environ["CONTENT_TYPE"]
    return headers


def _joined(headers: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: ", ".join(values) for name, values in headers.items()}

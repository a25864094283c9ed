"""API Gateway on one machine: routes, preflights, and its own failures, around the app."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from chalice.app import Chalice
from chalice.config import Config
from chalice.local import LambdaEventConverter, LocalGateway, LocalGatewayException, RouteMatcher

from chalicelib.http.middleware import CORS, SAFE_HEADERS
from deploy.api import GATEWAY_RESPONSES, problem_body
from deploy.declared import CONFIG

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication

# Lambda's own limit of an event and of an answer, both as JSON. A body arrives as base64.
PAYLOAD_LIMIT_BYTES = 6_291_556
# What the rest of an event may have.
_EVENT_BYTES = 20_000
_BODY_LIMIT_BYTES = (PAYLOAD_LIMIT_BYTES - _EVENT_BYTES) // 4 * 3


@dataclass(frozen=True)
class Answer:
    """An HTTP answer as it goes out."""

    status: int
    headers: dict[str, str]
    body: bytes


class _Events(LambdaEventConverter):
    """Events as API Gateway makes them if every media type is binary: bodies are base64."""

    def create_lambda_event(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> dict[str, Any]:
        """Return the event of a request."""
        encoded = base64.b64encode(body).decode("ascii") if body else None
        event = super().create_lambda_event(method, path, headers)
        return {**event, "body": encoded, "isBase64Encoded": encoded is not None}


class Gateway:
    """API Gateway in front of one app."""

    def __init__(self, app: Chalice) -> None:
        config = Config(user_provided_params={"lambda_timeout": CONFIG["lambda_timeout"]})
        self._gateway = LocalGateway(app, config)
        self._gateway.event_converter = _Events(RouteMatcher(list(app.routes)))

    def handle(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Answer:
        """Answer one request; `target` is the path, still encoded, with its query."""
        if len(body) > _BODY_LIMIT_BYTES:
            return self._own_answer("REQUEST_TOO_LARGE")
        try:
            response = self._gateway.handle_request(method, target, dict(headers), body)
        except (LocalGatewayException, UnicodeEncodeError):
            # Chalice raises these for an unknown path alone, since no route has an authorizer.
            return self._own_answer("MISSING_AUTHENTICATION_TOKEN")
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

"""Middleware of every request: problem+json for failures, headers, one log line."""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from chalice.app import Chalice, CORSConfig, Response
from chalice.app import Request as ChaliceRequest

from chalicelib import errors
from chalicelib.database.outages import Outage
from chalicelib.errors import Problem
from chalicelib.http import no_content, problem_response
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import log
from chalicelib.settings import Settings

# The request's correlation id in the logs; callers quote it when they report a fault.
REQUEST_ID_HEADER = "X-Request-Id"
# For a deployment without a list of origins; `install` narrows the origin if there is a list.
CORS = CORSConfig(
    allow_origin="*",
    allow_headers=["Authorization", "Idempotency-Key", "If-Match", "If-None-Match", "Range"],
    expose_headers=[REQUEST_ID_HEADER, "ETag", "Content-Range", "Retry-After"],
    # Two hours: Chrome keeps no preflight for longer.
    max_age=7_200,
)
_CORS_HEADERS: dict[str, str] = CORS.get_access_control_headers()
# On every answer, the gateway's own included. A browser then never guesses a media type.
SAFE_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_KEPT_BY_NOBODY = "private, no-store"


def install(app: Chalice, settings: Settings, outage: Outage) -> None:
    """Give the app its middleware.

    It wraps Chalice's own failures too (a wrong method, a wrong content type), so that every
    failure has one form.
    """
    # An answer of bytes encodes itself. Chalice would check a list twice a call, for 6 µs, and
    # refuse a caller who sends no `Accept`.
    app.api.binary_types = []
    headers_of = _Headers(settings.allowed_origins)

    @app.middleware("http")
    def answer(event: ChaliceRequest, get_response: Callable[[Any], Response]) -> Response:
        started = time.perf_counter()
        response = _answer(event, get_response)
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            outage.suspect()
        response.headers.update(headers_of(event.headers, response.headers))
        if request_id := logs.correlation_id():
            response.headers[REQUEST_ID_HEADER] = request_id
        if event.method == "HEAD":
            response.body = ""
        _log_request(event, response, started)
        return response


def answer_further_methods(app: Chalice) -> None:
    """Answer HEAD wherever GET is answered, and OPTIONS everywhere.

    API Gateway's own preflights name a single origin, and a browser sends credentials only if its
    own origin is named (docs/decisions/0049).
    """
    for path, methods in list(app.routes.items()):
        if "GET" in methods:
            app.route(path, methods=["HEAD"], content_types=[])(methods["GET"].view_function)
        allowed = ", ".join(sorted({*methods, "OPTIONS"}))
        app.route(path, methods=["OPTIONS"], content_types=[])(_preflight(allowed))


def _preflight(allowed: str) -> Callable[..., Response]:
    def preflight(**_path: str) -> Response:
        response = no_content()
        response.headers["Access-Control-Allow-Methods"] = allowed
        return response

    return preflight


def _answer(event: ChaliceRequest, get_response: Callable[[Any], Response]) -> Response:
    try:
        response = get_response(event)
    except Problem as problem:
        if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("request failed", exc_info=True, extra={"fields": {"reason": str(problem)}})
        if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return problem_response(errors.Internal())
        return problem_response(problem)
    if isinstance(response.body, dict) and "Code" in response.body:
        return problem_response(_chalice_problem(response.status_code))
    return response


def _chalice_problem(status: int) -> Problem:
    """Return the problem+json form of a failure that Chalice answered by itself."""
    match status:
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return errors.UnknownRoute()
        case HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
            return errors.UnsupportedMediaType()
        case HTTPStatus.BAD_REQUEST:
            return errors.InvalidJson()
        case _:
            return errors.Internal()


class _Headers:
    """Builder of the headers that every answer has.

    If origins are listed, the answer names the caller's own if it is on the list, otherwise another
    one, so that the browser hides the answer from the page. Caches keep no answer to a call with a
    token, unless its route declares the answer private, for the caller's own browser alone; nor to
    a call with a cookie, unless its route declares the answer public. For all other answers the
    route's own Cache-Control holds.
    """

    def __init__(self, allowed_origins: tuple[str, ...]) -> None:
        self._allowed = allowed_origins
        self._fixed = {**SAFE_HEADERS, **CORS.get_access_control_headers()}
        # A cache that may keep an answer to an anonymous call must not serve it to a caller with a
        # token.
        self._fixed["Vary"] = "Authorization, Origin" if allowed_origins else "Authorization"
        if allowed_origins:
            self._fixed["Access-Control-Allow-Credentials"] = "true"

    def __call__(
        self, asked: Mapping[str, str], answered: Mapping[str, str | list[str]]
    ) -> dict[str, str]:
        headers = self._fixed.copy()
        own = str(answered.get("Cache-Control", ""))
        if "Vary" in answered:
            headers["Vary"] = f"{answered['Vary']}, {headers['Vary']}"
        if own.startswith("private"):
            del headers["Cache-Control"]
        elif "authorization" in asked or ("cookie" in asked and not own.startswith("public")):
            headers["Cache-Control"] = _KEPT_BY_NOBODY
        elif own:
            del headers["Cache-Control"]
        if "Access-Control-Allow-Origin" in answered:
            # A file that any page may load, to which no browser need send credentials.
            headers["Access-Control-Allow-Origin"] = str(answered["Access-Control-Allow-Origin"])
            headers.pop("Access-Control-Allow-Credentials", None)
        elif self._allowed:
            origin = asked.get("origin")
            known = origin if origin and origin in self._allowed else self._allowed[0]
            headers["Access-Control-Allow-Origin"] = known
        return headers


def _log_request(event: ChaliceRequest, response: Response, started: float) -> None:
    status = int(response.status_code)
    fields = {
        "method": event.method,
        "route": event.context.get("resourcePath"),
        "status": status,
        "status_class": f"{status // 100}xx",
        "request_ms": round((time.perf_counter() - started) * 1000, 1),
    }
    log.info("request", extra={"fields": fields, "metrics": metrics.REQUEST})

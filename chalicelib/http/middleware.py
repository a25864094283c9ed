"""Middleware of every request: problem+json for failures, headers, one log line."""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from chalice.app import Chalice, CORSConfig, Response
from chalice.app import Request as ChaliceRequest

from chalicelib import errors
from chalicelib.deadlines import Outage
from chalicelib.errors import Problem
from chalicelib.http import front, no_content, problem_response
from chalicelib.http.problem_page import problem_page
from chalicelib.http.requests import accepts_html
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import log
from chalicelib.settings import Settings

# The correlation id of a request in the logs; callers quote it in reports of faults.
REQUEST_ID_HEADER = "X-Request-Id"
# For a deployment without a list of origins; `install` narrows the origin if there is a list.
CORS = CORSConfig(
    allow_origin="*",
    allow_headers=[
        "Authorization",
        "Idempotency-Key",
        "If-Match",
        "If-None-Match",
        "If-Range",
        "Range",
    ],
    expose_headers=[
        REQUEST_ID_HEADER,
        "Content-Range",
        "Deprecation",
        "ETag",
        "Location",
        "Retry-After",
        "Sunset",
        "WWW-Authenticate",
    ],
    # Two hours: Chrome's maximum.
    max_age=7_200,
)
# On every answer, the gateway's own included; a route may replace Cache-Control. `nosniff` stops
# guesses at the media type.
SAFE_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_A_YEAR_SECONDS = 365 * 24 * 60 * 60
_KEPT_BY_NOBODY = "private, no-store"


def install(app: Chalice, settings: Settings, outage: Outage) -> None:
    """Install the middleware of problems, headers and the log line, and the front door.

    It also turns Chalice's own failures, such as a wrong method or content type, into problems.
    """
    # `Binary` encodes itself. Chalice would check this list twice a call, for 6 µs, and refuse
    # callers without `Accept`.
    app.api.binary_types = []
    is_https = settings.public_url.startswith("https:")
    headers_of = _Headers(settings.allowed_origins, is_https=is_https)

    def to_answer(event: ChaliceRequest, problem: Problem) -> Response:
        if not _is_navigation(app, event):
            return problem_response(problem)
        has_query = bool(event.query_params)
        return problem_page(problem, settings.public_url, has_query=has_query)

    @app.middleware("http")
    def answer(event: ChaliceRequest, get_response: Callable[[Any], Response]) -> Response:
        started = time.perf_counter()
        response = _answer(event, get_response, lambda problem: to_answer(event, problem))
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            outage.suspect()
        response.headers.update(headers_of(event.headers, response.headers))
        if request_id := logs.correlation_id():
            response.headers[REQUEST_ID_HEADER] = request_id
        if event.method == "HEAD":
            response.body = ""
        _log_request(event, response, started)
        return response

    front.install(app)


def answer_further_methods(app: Chalice) -> None:
    """Add HEAD to every path with GET, and OPTIONS to every path.

    API Gateway's own preflights name a single origin, and a browser sends credentials only to an
    API that names the browser's origin (docs/decisions/0049).
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


def _is_navigation(app: Chalice, event: ChaliceRequest) -> bool:
    """Return whether a person opened this address in a browser."""
    if not accepts_html(event):
        return False
    route = app.routes.get(event.path, {}).get("GET")
    operation = getattr(route and route.view_function, "operation", None)
    return event.method in {"GET", "HEAD"} and bool(operation and operation.is_for_browsers)


def _answer(
    event: ChaliceRequest,
    get_response: Callable[[Any], Response],
    to_answer: Callable[[Problem], Response],
) -> Response:
    try:
        response = get_response(event)
    except Problem as problem:
        if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("request failed", exc_info=True, extra={"fields": {"reason": str(problem)}})
        if problem.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            return to_answer(errors.Internal())
        return to_answer(problem)
    if isinstance(response.body, dict) and "Code" in response.body:
        return to_answer(_chalice_problem(response))
    return response


def _chalice_problem(response: Response) -> Problem:
    """Return Chalice's own failure as a problem."""
    match response.status_code:
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return errors.MethodNotAllowed(headers={"Allow": str(response.headers["Allow"])})
        case HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
            return errors.UnsupportedMediaType()
        case HTTPStatus.BAD_REQUEST:
            return errors.InvalidJson()
        case _:
            return errors.Internal()


class _Headers:
    """The builder of headers for every answer.

    With a list of origins, the answer names the caller's origin if it is listed. For an unlisted
    origin, it names the first of the list, so that the browser hides the answer from the page.

    Cache-Control of an answer:
    - call with a token: not stored, unless the route says `private` (the caller's browser only);
    - call with a cookie: not stored, unless the route says `public` or `private`;
    - any other call: the route's own; without any, not stored.
    """

    def __init__(self, allowed_origins: tuple[str, ...], *, is_https: bool) -> None:
        self._allowed = allowed_origins
        self._fixed = {**SAFE_HEADERS, **CORS.get_access_control_headers()}
        # A cached answer to an anonymous call must not reach a caller with a token.
        self._fixed["Vary"] = "Authorization, Origin" if allowed_origins else "Authorization"
        if allowed_origins:
            self._fixed["Access-Control-Allow-Credentials"] = "true"
        if is_https:
            # A browser that was here never asks without TLS again, on whatever network.
            self._fixed["Strict-Transport-Security"] = f"max-age={_A_YEAR_SECONDS}"

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
            # A file that any page may load without credentials.
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

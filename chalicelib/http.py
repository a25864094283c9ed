"""Requests into pydantic models, values into JSON answers, failures into problem+json."""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar, get_type_hints
from urllib.parse import unquote

import orjson
from chalice.app import Blueprint, Chalice, CORSConfig, Response
from chalice.app import Request as ChaliceRequest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pymongo.errors import PyMongoError

from chalicelib import errors, logs, metrics
from chalicelib.database import is_outage
from chalicelib.errors import FieldError, Problem
from chalicelib.identity import Principal, Role, identify
from chalicelib.logs import log
from chalicelib.runtime import Runtime

BODY_LIMIT_BYTES = 1_000_000
MAX_ERRORS = 20
# What a caller quotes to have a request looked up: its correlation id in the logs.
REQUEST_ID_HEADER = "X-Request-Id"
# For a deployment that lists no origins; `install` narrows the origin where it does.
CORS = CORSConfig(
    allow_origin="*",
    allow_headers=["Authorization", "Idempotency-Key"],
    expose_headers=[REQUEST_ID_HEADER],
    # Two hours: Chrome keeps no preflight for longer.
    max_age=7_200,
)
_CORS_HEADERS: dict[str, str] = CORS.get_access_control_headers()

View = Callable[..., Response]
# Puts a view at a method and path: `@route("GET", "/things/{thing}")`.
Route = Callable[..., Callable[[View], View]]
Model = TypeVar("Model", bound=BaseModel)


class Input(BaseModel):
    """What a client may send: nothing beyond the fields named, nothing coerced in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PageQuery(Input):
    """The query of a paged listing."""

    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = Field(None, max_length=1_000)


class Request(NamedTuple):
    """One call, with the runtime that answers it."""

    runtime: Runtime
    raw: ChaliceRequest

    def body(self, model: type[Model]) -> Model:
        """Parse the JSON body; raises InvalidJson, BodyTooLarge or InvalidRequest."""
        text = self.raw.raw_body
        if len(text) > BODY_LIMIT_BYTES:
            raise errors.BodyTooLarge
        try:
            return model.model_validate_json(text, strict=True)
        except ValidationError as error:
            if error.errors()[0]["type"] == "json_invalid":
                raise errors.InvalidJson from None
            raise _invalid(error) from None

    def query(self, model: type[Model]) -> Model:
        """Parse the query string; a parameter given twice counts once, by its last value."""
        given = self.raw.query_params
        try:
            return model.model_validate(dict(given) if given else {})
        except ValidationError as error:
            raise _invalid(error) from None

    def caller(self) -> Principal | None:
        """Return who calls, or None for an anonymous call; a bad token is still refused."""
        return identify(self.raw.headers, self.runtime.settings, self.runtime.now())

    def principal(self, *roles: Role) -> Principal:
        """Return the caller, who must bear one of `roles` where any are named.

        Raises Unauthenticated or Forbidden.
        """
        caller = self.caller()
        if caller is None:
            raise errors.Unauthenticated
        if roles and not caller.has(*roles):
            raise errors.Forbidden(f"This needs one of the roles: {', '.join(roles)}")
        return caller


def _invalid(error: ValidationError) -> errors.InvalidRequest:
    """Return the problem for pydantic's findings, without the values that were sent."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return errors.InvalidRequest(
        errors=[
            FieldError(".".join(map(str, fault["loc"])), fault["type"], fault["msg"])
            for fault in found[:MAX_ERRORS]
        ]
    )


def router(blueprint: Blueprint, runtime: Runtime) -> Route:
    """Return a decorator that puts a view of this blueprint at a method and path.

    The view takes a Request, then the path's parameters by name; each parameter is decoded
    and must fit the type that the view declares for it, or the answer is a 422.
    """

    def route(
        method: str, path: str, content_types: tuple[str, ...] = ("application/json",)
    ) -> Callable[[View], View]:
        def register(view: View) -> View:
            handler = _with_request(view, blueprint, runtime)
            blueprint.route(path, methods=[method], content_types=list(content_types))(handler)
            return view

        return register

    return route


def _with_request(view: View, blueprint: Blueprint, runtime: Runtime) -> View:
    hints = get_type_hints(view, include_extras=True)
    parameters = {
        name: _adapter(hint)
        for name, hint in hints.items()
        if name != "return" and hint is not Request
    }

    @functools.wraps(view)
    def handler(**path: str) -> Response:
        arguments = {
            name: _path_argument(parameters[name], name, value) for name, value in path.items()
        }
        try:
            return view(Request(runtime, blueprint.current_request), **arguments)
        except PyMongoError as error:
            if is_outage(error):
                raise errors.Unavailable from error
            raise

    return handler


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what validates a type, which many paths have in common."""
    return TypeAdapter(kind)


def _path_argument(parameter: TypeAdapter[Any], name: str, value: str) -> Any:
    try:
        return parameter.validate_python(unquote(value))
    except ValidationError as error:
        fault = error.errors()[0]
        raise errors.InvalidRequest(
            errors=[FieldError(name, fault["type"], fault["msg"])]
        ) from None


def reply(
    value: Any, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with `value` as JSON: models, dataclasses, dates and plain values."""
    return Response(
        body=_json(value),
        status_code=status,
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def no_content() -> Response:
    """Answer 204."""
    return Response(body="", status_code=HTTPStatus.NO_CONTENT)


def _json(value: Any) -> str:
    return orjson.dumps(value, default=_dump, option=orjson.OPT_UTC_Z).decode()


def _dump(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def problem_response(problem: Problem) -> Response:
    """Answer with a problem as RFC 9457 has it."""
    return Response(
        body=_json(problem.body()),
        status_code=problem.status,
        headers={"Content-Type": "application/problem+json", **problem.headers},
    )


def install(app: Chalice, runtime: Runtime) -> None:
    """Give the app its middleware: one log line a request, problem+json, the caller's origin.

    It wraps Chalice's own failures too (a wrong method, a wrong content type), so that every
    failure has one form.
    """
    # Every answer is text. With Chalice's own list each call is held to it twice, for 6 us.
    app.api.binary_types = []
    allowed_origins = runtime.settings.allowed_origins

    @app.middleware("http")
    def answer(event: ChaliceRequest, get_response: Callable[[Any], Response]) -> Response:
        started = time.perf_counter()
        response = _answer(event, get_response)
        response.headers.update(_cors_headers(event, allowed_origins))
        if request_id := logs.correlation_id():
            response.headers[REQUEST_ID_HEADER] = request_id
        _log_request(event, response, started)
        return response


def answer_preflights(app: Chalice) -> None:
    """Give each path of the app an answer to OPTIONS, in which `install` names the origin.

    API Gateway's own preflights know one origin, and a browser sends credentials to none but
    the origin that is named: docs/decisions/0049.
    """
    for path, methods in list(app.routes.items()):
        allowed = ", ".join(sorted([*methods, "OPTIONS"]))
        app.route(path, methods=["OPTIONS"])(_preflight(allowed))


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
    """Return our form of a failure that Chalice answered by itself."""
    match status:
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return errors.UnknownRoute()
        case HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
            return errors.UnsupportedMediaType()
        case HTTPStatus.BAD_REQUEST:
            return errors.InvalidJson()
        case _:
            return errors.Internal()


def _cors_headers(event: ChaliceRequest, allowed: Sequence[str]) -> dict[str, str]:
    """Return the CORS headers of an answer.

    With a list of allowed origins the caller's own is named if it is on the list, and another
    one if it is not, which keeps the browser from showing the answer to the page.
    """
    if not allowed:
        return _CORS_HEADERS
    origin: str | None = event.headers.get("origin")
    return {
        **_CORS_HEADERS,
        "Access-Control-Allow-Origin": origin if origin and origin in allowed else allowed[0],
        "Access-Control-Allow-Credentials": "true",
        "Vary": "Origin",
    }


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

"""Requests into pydantic models, values into JSON answers, failures into problem+json."""

import functools
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple, get_type_hints
from urllib.parse import unquote

import orjson
from chalice.app import Blueprint, Response
from chalice.app import Request as ChaliceRequest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pymongo.errors import PyMongoError

from chalicelib import errors, limits
from chalicelib.database import is_outage
from chalicelib.errors import FieldError, Problem
from chalicelib.http import audit, bodies
from chalicelib.http.bodies import Model
from chalicelib.identity import Principal, Role, identify
from chalicelib.limits import CLICKS, Limit
from chalicelib.runtime import Runtime

BODY_LIMIT_BYTES = 65_536
View = Callable[..., Response]
# Puts a view at a method and path: `@route("GET", "/things/{thing}")`.
Route = Callable[..., Callable[[View], View]]


class Input(BaseModel):
    """What a client may send: nothing beyond the fields named, nothing coerced in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PageQuery(Input):
    """The query of a paged listing."""

    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = Field(None, max_length=1_000)


class Rules(NamedTuple):
    """What a route declares beside its method and path.

    A route that writes and names no limit is limited as `CLICKS`; with None it has no limit. It
    is audited too, unless it says otherwise; `secrets` are the parameters of its path that prove
    something to whoever knows them, and are left out of the audit.
    """

    limit: Limit | None
    is_audited: bool
    body_limit_bytes: int = BODY_LIMIT_BYTES
    secrets: tuple[str, ...] = ()


class Request:
    """One call, with the runtime that answers it."""

    __slots__ = ("_caller", "_is_identified", "details", "is_audited", "raw", "rules", "runtime")

    def __init__(self, runtime: Runtime, raw: ChaliceRequest, rules: Rules) -> None:
        self.runtime = runtime
        self.raw = raw
        self.rules = rules
        self.is_audited = rules.is_audited
        # What the audit line says beside the ids of the path.
        self.details: dict[str, Any] = {}
        self._caller: Principal | None = None
        self._is_identified = False

    def body(self, model: type[Model]) -> Model:
        """Parse the JSON body; raises InvalidJson, BodyTooLarge or InvalidRequest."""
        # Chalice gives bytes, whatever it declares.
        text: Any = self.raw.raw_body
        return bodies.parse(text, model, self.rules.body_limit_bytes)

    def query(self, model: type[Model]) -> Model:
        """Parse the query string; a parameter given twice counts once, by its last value."""
        given = self.raw.query_params
        try:
            return model.model_validate(dict(given) if given else {})
        except ValidationError as error:
            raise bodies.invalid(error) from None

    def caller(self) -> Principal | None:
        """Return who calls, or None for an anonymous call; a bad token is still refused."""
        if not self._is_identified:
            self._caller = identify(self.raw.headers, self.runtime.settings, self.runtime.now())
            self._is_identified = True
        return self._caller

    def principal(self, *roles: Role) -> Principal:
        """Return the caller, who must bear one of `roles` where any are named.

        Raises Unauthenticated or Forbidden.
        """
        caller = self.caller()
        if caller is None:
            raise errors.Unauthenticated
        if roles:
            self.is_audited = True
        if roles and not caller.has(*roles):
            raise errors.Forbidden(f"This needs one of the roles: {', '.join(roles)}")
        return caller

    @property
    def user_agent(self) -> str | None:
        """Return who shows the answer: nobody does for HEAD, so ads count it as a bot's."""
        agent: str | None = self.raw.headers.get("user-agent")
        return None if self.raw.method == "HEAD" else agent

    def audit(self, path: Mapping[str, str], status: int) -> None:
        """Write the call's audit line; `path` are the parameters of its path."""
        things = {name: path[name] for name in path if name not in self.rules.secrets}
        operation = (self.raw.method, self.raw.path)
        audit.record(self._caller, operation, things, status, self.details)

    def count(self, limit: Limit) -> None:
        """Count one write against what the limit allows the caller and the caller's address.

        A route that declares a limit has counted it already. Raises Unauthenticated for a bad
        token, and TooFast.
        """
        hops = self.runtime.settings.trusted_hops
        address = limits.source(self.raw.context, self.raw.headers, hops)
        limits.take(self.runtime, limit, self.caller(), address)


def router(blueprint: Blueprint, runtime: Runtime) -> Route:
    """Return a decorator that puts a view of this blueprint at a method and path.

    The view takes a Request, then the path's parameters by name; each parameter is decoded
    and must fit the type that the view declares for it, or the answer is a 422. `rules` are
    those of Rules: `@route("POST", "/things", limit=POSTS)`.
    """

    def route(
        method: str,
        path: str,
        content_types: tuple[str, ...] = ("application/json",),
        **rules: Any,
    ) -> Callable[[View], View]:
        def register(view: View) -> View:
            writes = method != "GET"
            defaults = {"limit": CLICKS if writes else None, "is_audited": writes}
            declared = Rules(**{**defaults, **rules})
            handler = _with_request(view, blueprint, runtime, declared)
            blueprint.route(path, methods=[method], content_types=list(content_types))(handler)
            return view

        return register

    return route


def _with_request(view: View, blueprint: Blueprint, runtime: Runtime, rules: Rules) -> View:
    hints = get_type_hints(view, include_extras=True)
    parameters = {
        name: _adapter(hint)
        for name, hint in hints.items()
        if name != "return" and hint is not Request
    }

    @functools.wraps(view)
    def handler(**path: str) -> Response:
        request = Request(runtime, blueprint.current_request, rules)
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR
        try:
            arguments = {
                name: _path_argument(parameters[name], name, value) for name, value in path.items()
            }
            if rules.limit is not None:
                request.count(rules.limit)
            response = view(request, **arguments)
            status = response.status_code
        except Problem as problem:
            status = problem.status
            raise
        except PyMongoError as error:
            if is_outage(error):
                status = HTTPStatus.SERVICE_UNAVAILABLE
                raise errors.Unavailable from error
            raise
        else:
            return response
        finally:
            if request.is_audited:
                request.audit(path, status)

    # For the tests, which look at what each route declares.
    handler.rules = rules  # type: ignore[attr-defined]
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

"""Routes: a view at a method and path, with limits, audit and binding of arguments."""

import functools
from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints
from urllib.parse import unquote

from chalice.app import Blueprint, Response
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pymongo.errors import PyMongoError

from chalicelib import errors
from chalicelib.database import is_outage
from chalicelib.errors import FieldError, Problem
from chalicelib.http import responses
from chalicelib.http.requests import PageQuery, Request, RouteRules
from chalicelib.identity import Principal, Role
from chalicelib.limits import CLICKS, Limit
from chalicelib.runtime import Runtime

# A view has a Request first. The router binds its other parameters in this order:
# 1. the parameters of its path, by name;
# 2. the caller: `Principal` with a token, `Annotated[Principal, Roles("moderator")]` with a role,
#    or `Principal | None` if the call may be anonymous;
# 3. `query`, a model of the query string;
# 4. `body`, a model of the JSON body, or `bytes` for the body as sent.


class Roles:
    """Roles that admit a caller: any of them is enough."""

    def __init__(self, *names: Role) -> None:
        self.names = names


class Caller(NamedTuple):
    """A view's parameter for the caller, and the roles that it admits."""

    name: str
    is_optional: bool
    roles: tuple[Role, ...]


# The calls of a route for which the router ignores unknown names in the query: none, the calls that
# accept HTML, or all. Unless `never`, a call that accepts HTML gets its problems as pages.
Opened = Literal["never", "as_html", "always"]


class Signature(NamedTuple):
    """The parameters of a view; `path` has a validator for each parameter of the path."""

    path: Mapping[str, TypeAdapter[Any]]
    caller: Caller | None
    query: type[BaseModel] | None
    body: type[BaseModel] | type[bytes] | None
    opened: Opened = "never"

    def path_arguments(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return the parameters of the path, decoded and checked; raises InvalidRequest."""
        return {name: _decode(self.path[name], name, value) for name, value in given.items()}

    def arguments(self, request: Request) -> dict[str, Any]:
        """Return the view's other arguments: the caller, the query and the body.

        Raises Unauthenticated, Forbidden, InvalidRequest, InvalidJson and BodyTooLarge.
        """
        bound: dict[str, Any] = {}
        if self.caller is not None:
            name, is_optional, roles = self.caller
            bound[name] = request.caller() if is_optional else request.principal(*roles)
        if self.query is not None:
            is_open = self.opened == "always" or (self.opened == "as_html" and request.accepts_html)
            bound["query"] = request.query(self.query, has_strays=is_open)
        if self.body is not None:
            bound["body"] = (
                request.data() if self.body is bytes else request.body(self.body)  # type: ignore[type-var]
            )
        return bound


_FOR_BROWSERS = {
    *(HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.NO_CONTENT, HTTPStatus.FOUND)
}
_FOR_PROGRAMS = {"application/json", "application/octet-stream", "text/csv"}


def signature_of(view: Callable[..., Any], path: str) -> Signature:
    """Return a view's signature; raises TypeError for a parameter that the router cannot bind."""
    hints = get_type_hints(view, include_extras=True)
    opened = _opened(hints.pop("return", None))
    in_path, caller, models = {}, None, {}
    for name, hint in hints.items():
        if hint is Request:
            continue
        if f"{{{name}}}" in path:
            in_path[name] = _adapter(hint)
        elif found := _caller(name, hint):
            caller = found
        elif name in {"query", "body"}:
            models[name] = hint
        else:
            raise TypeError(f"{view.__qualname__}: {name} is in no part of {path}")
    return Signature(in_path, caller, models.get("query"), models.get("body"), opened)


def _opened(returned: Any) -> Opened:
    """Return when browsers open an address with these answers.

    Only answers with a status in `_FOR_BROWSERS` matter. Never if each of them is a 200 with data
    for programs. Otherwise, if any is JSON, only a call that accepts HTML counts as a browser's.
    """
    found = [each for each in responses.outcomes_of(returned) if each.status in _FOR_BROWSERS]
    if all(each.media_type in _FOR_PROGRAMS and each.status == HTTPStatus.OK for each in found):
        return "never"
    return "as_html" if any(each.media_type == "application/json" for each in found) else "always"


def _caller(name: str, hint: Any) -> Caller | None:
    if hint is Principal:
        return Caller(name, is_optional=False, roles=())
    if get_origin(hint) is Annotated and get_args(hint)[0] is Principal:
        (roles,) = (each for each in get_args(hint)[1:] if isinstance(each, Roles))
        return Caller(name, is_optional=False, roles=roles.names)
    if get_origin(hint) in {Union, UnionType} and set(get_args(hint)) == {Principal, type(None)}:
        return Caller(name, is_optional=True, roles=())
    return None


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the validator of a type; cached, since many paths share types."""
    return TypeAdapter(kind, config=ConfigDict(defer_build=True))


def _decode(adapter: TypeAdapter[Any], name: str, value: str) -> Any:
    try:
        # The adapter's own method needs twice the time, for options without use here.
        return adapter.validator.validate_python(unquote(value))
    except ValidationError as error:
        fault = error.errors()[0]
        raise errors.InvalidRequest(
            errors=[FieldError(name, fault["type"], fault["msg"])]
        ) from None


View = Callable[..., Response]
# Puts a view at a method and path: `@route("GET", "/things/{thing}")`.
Route = Callable[..., Callable[[View], View]]


class Operation(NamedTuple):
    """A declared route; the API's document is made from it.

    `content_types`: the content types of a body that the route accepts; empty: any type.
    """

    method: str
    path: str
    view: View
    signature: Signature
    rules: RouteRules
    content_types: tuple[str, ...]

    @property
    def is_for_browsers(self) -> bool:
        """Whether browsers open its address, as a page or as a part of a page."""
        return self.method == "GET" and self.signature.opened != "never"

    @property
    def is_cut(self) -> bool:
        """Whether the view runs again with fewer rows if its answer is too large."""
        query = self.signature.query
        has_limit = query is not None and issubclass(query, PageQuery)
        return self.method == "GET" and (has_limit or self.rules.rows is not None)


def router(blueprint: Blueprint, runtime: Runtime, tag: str = "") -> Route:
    """Return a decorator that puts a view of this blueprint at a method and path.

    `rules` are fields of RouteRules:
    `@route("POST", "/things", limit=POSTS, raises=(ThingExists,))`.
    """

    def route(
        method: str,
        path: str,
        content_types: tuple[str, ...] = ("application/json",),
        **rules: Any,
    ) -> Callable[[View], View]:
        def register(view: View) -> View:
            writes = method != "GET"
            defaults = {"limit": CLICKS if writes else None, "is_audited": writes, "tag": tag}
            declared = RouteRules(**{**defaults, **rules})
            signature = signature_of(view, path)
            # Without content types, Chalice does not check the type of a body that no view reads.
            kinds = content_types if writes else ()
            operation = Operation(method, path, view, signature, declared, kinds)
            handler = _handler(operation, blueprint, runtime)
            blueprint.route(path, methods=[method], content_types=list(kinds))(handler)
            return view

        return register

    return route


def _count(request: Request, rules: RouteRules, arguments: Mapping[str, Any]) -> None:
    """Count a call against its route's limit, if any; raises TooFast and Unauthenticated."""
    if isinstance(rules.limit, Limit):
        request.count(rules.limit)
    elif rules.limit is not None:
        request.count(rules.limit(request.runtime, arguments))


def _shorten(
    operation: Operation, request: Request, arguments: Mapping[str, Any], response: Response
) -> Response:
    """Return an answer with fewer rows, up to the next cursor, in place of a too large answer.

    It calls the view again, so that the page ends as any page of that limit does. Raises
    AnswerTooLarge if even one row is too large, or if the answer has no rows to leave out.
    """
    query = arguments.get("query")
    limit = query.limit if isinstance(query, PageQuery) else request.rows
    while not responses.fits(response.body):
        size = responses.sent_bytes(response.body)
        if not operation.is_cut or limit <= 1:
            raise errors.AnswerTooLarge(f"{size} bytes")
        limit = request.rows = responses.fewer_rows(limit, size)
        if isinstance(query, PageQuery):
            arguments = {**arguments, "query": query.model_copy(update={"limit": limit})}
        response = operation.view(request, **arguments)
    return response


def _handler(operation: Operation, blueprint: Blueprint, runtime: Runtime) -> View:
    signature, rules, view = operation.signature, operation.rules, operation.view

    @functools.wraps(view)
    def handler(**path: str) -> Response:
        request = Request(runtime, blueprint.current_request, rules)
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR
        try:
            arguments = signature.path_arguments(path)
            request.path = arguments
            _count(request, rules, arguments)
            arguments = {**arguments, **signature.arguments(request)}
            response = view(request, **arguments)
            if not responses.fits(response.body):
                response = _shorten(operation, request, arguments, response)
            if rules.retired is not None:
                response.headers.update(rules.retired.headers())
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

    # For the API's document, and for tests of the declarations.
    handler.operation = operation  # type: ignore[attr-defined]
    return handler

"""Routes: a view at a method and path, with limits, audit and binding of arguments."""

import functools
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from chalice.app import Blueprint, Response
from pymongo.errors import PyMongoError

from chalicelib import errors
from chalicelib.database import is_outage
from chalicelib.errors import Problem
from chalicelib.http import payloads
from chalicelib.http.requests import PageQuery, Request, Retired, Rules
from chalicelib.http.signatures import Signature, signature_of
from chalicelib.limits import CLICKS, Limit
from chalicelib.runtime import Runtime

View = Callable[..., Response]
# Puts a view at a method and path: `@route("GET", "/things/{thing}")`.
Route = Callable[..., Callable[[View], View]]


class Operation(NamedTuple):
    """A route as it was declared: what the API's document is made from.

    A call with a body of none of the `content_types` is refused; if there are none, none is.
    """

    method: str
    path: str
    view: View
    signature: Signature
    rules: Rules
    content_types: tuple[str, ...]

    @property
    def is_cut(self) -> bool:
        """Return whether an answer that is too large is read again with fewer rows."""
        query = self.signature.query
        has_limit = query is not None and issubclass(query, PageQuery)
        return self.method == "GET" and (has_limit or self.rules.rows is not None)


def router(blueprint: Blueprint, runtime: Runtime, tag: str = "") -> Route:
    """Return a decorator that puts a view of this blueprint at a method and path.

    The view's parameters are bound as `chalicelib.http.signatures` says. `rules` are those of
    Rules: `@route("POST", "/things", limit=POSTS, raises=(ThingExists,))`.
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
            declared = Rules(**{**defaults, **rules})
            signature = signature_of(view, path)
            # Chalice checks the type of a body that nobody reads, too, unless none is named.
            kinds = content_types if writes else ()
            operation = Operation(method, path, view, signature, declared, kinds)
            handler = _handler(operation, blueprint, runtime)
            blueprint.route(path, methods=[method], content_types=list(kinds))(handler)
            return view

        return register

    return route


def _retiring(view: View, retired: Retired) -> View:
    headers = retired.headers()

    @functools.wraps(view)
    def told(*arguments: Any, **named: Any) -> Response:
        response = view(*arguments, **named)
        response.headers.update(headers)
        return response

    return told


def _shortened(
    operation: Operation, request: Request, arguments: Mapping[str, Any], response: Response
) -> Response:
    """Return an answer with fewer rows, up to the next cursor, in place of one that is too large.

    The view is called again, so that its page ends as any other of that limit does. Raises
    AnswerTooLarge if even one row is too large, or if the answer has no rows to leave out.
    """
    query = arguments.get("query")
    limit = query.limit if isinstance(query, PageQuery) else request.rows
    while not payloads.fits(response.body):
        size = payloads.sent_bytes(response.body)
        if not operation.is_cut or limit <= 1:
            raise errors.AnswerTooLarge(f"{size} bytes")
        limit = request.rows = payloads.fewer_rows(limit, size)
        if isinstance(query, PageQuery):
            arguments = {**arguments, "query": query.model_copy(update={"limit": limit})}
        response = operation.view(request, **arguments)
    return response


def _handler(operation: Operation, blueprint: Blueprint, runtime: Runtime) -> View:
    signature, rules = operation.signature, operation.rules
    view = _retiring(operation.view, rules.retired) if rules.retired else operation.view

    @functools.wraps(view)
    def handler(**path: str) -> Response:
        request = Request(runtime, blueprint.current_request, rules)
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR
        try:
            arguments = signature.path_arguments(path)
            if isinstance(rules.limit, Limit):
                request.count(rules.limit)
            elif rules.limit is not None:
                request.count(rules.limit(runtime, arguments))
            arguments = {**arguments, **signature.arguments(request)}
            response = view(request, **arguments)
            if not payloads.fits(response.body):
                response = _shortened(operation, request, arguments, response)
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

    # For the API's document, and for tests of what each route declares.
    handler.operation = operation  # type: ignore[attr-defined]
    return handler

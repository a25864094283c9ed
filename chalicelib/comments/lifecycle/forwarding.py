"""Redirects for calls on a moved node: 308 to the same call at its new id."""

import functools
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from chalice.app import Response

from chalicelib.comments.errors import NodeMoved
from chalicelib.errors import Problem
from chalicelib.http import Request, Route, View


def forwarding(route: Route) -> Route:
    """Return a `route` that adds a `Location` header with the new address to NodeMoved.

    A client repeats a call with its method and body there (RFC 9110, section 15.4.9).
    """

    def declare(
        method: str, path: str, *, raises: tuple[type[Problem], ...] = (), **rules: Any
    ) -> Callable[[View], View]:
        if "{node}" not in path:
            return route(method, path, raises=raises, **rules)

        def register(view: View) -> View:
            @functools.wraps(view)
            def call(request: Request, **arguments: Any) -> Response:
                try:
                    return view(request, **arguments)
                except NodeMoved as moved:
                    moved.headers["Location"] = _address(request, moved.moved_to)
                    raise

            route(method, path, raises=(*raises, NodeMoved), **rules)(call)
            return view

        return register

    return declare


def _address(request: Request, node_id: str) -> str:
    given = request.raw.uri_params or {}
    path = request.raw.path.format(**{**given, "node": quote(node_id, safe=":")})
    query = request.raw.query_params
    # A parameter may come more than once.
    named = {name: query.getlist(name) for name in query} if query else {}
    pairs = urlencode(named, doseq=True)
    return f"{request.runtime.settings.public_url}{path}{'?' if pairs else ''}{pairs}"

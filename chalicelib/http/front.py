"""The front door: the declared route of a path that API Gateway passes on unmatched.

API Gateway has one resource, `/{path+}`, for nearly all paths (docs/decisions/0222). The
events of this resource have the caller's path, still encoded, but without the stage and a domain's
base path. The parameters stay encoded, as API Gateway's own would be; `routing` decodes them.
"""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

from chalice.app import Chalice, Response
from chalice.app import Request as ChaliceRequest

from chalicelib import errors

PARAMETER = "path"
GREEDY = f"/{{{PARAMETER}+}}"


class Match(NamedTuple):
    """A declared route, and the values of its parameters as they were sent."""

    route: str
    parameters: dict[str, str]


class _End(NamedTuple):
    """A route, and the place of each of its parameters in a path."""

    route: str
    places: tuple[tuple[str, int], ...]


class _Node:
    """A place in the tree: the parts that may follow, and the route that ends here."""

    __slots__ = ("end", "literals", "name", "parameter")

    def __init__(self) -> None:
        self.literals: dict[str, _Node] = {}
        self.parameter: _Node | None = None
        self.name = ""
        self.end: _End | None = None


class Routes:
    """Declared routes as a tree of their parts, which finds the route of a path.

    A literal part wins over a parameter, as in API Gateway. A parameter matches any single part
    that is not empty, even `.` and `..`: nothing normalises a path.
    """

    def __init__(self, routes: Iterable[str]) -> None:
        """Build the tree; raises ValueError for siblings whose parameters differ in name."""
        self._root = _Node()
        self._depth = 0
        for route in routes:
            self._add(route)

    def match(self, path: str) -> Match | None:
        """Return the match of a path, given without its first slash; None: no route has the path.

        A slash at the end of the path does not matter.
        """
        path = path.removesuffix("/")
        # At most one part more than the longest route: enough to match none, at a bounded cost.
        parts = path.split("/", self._depth) if path else []
        end = _find(self._root, parts, 0)
        if end is None:
            return None
        return Match(end.route, {name: parts[place] for name, place in end.places})

    def _add(self, route: str) -> None:
        parts = route.split("/")[1:] if route != "/" else []
        node = self._root
        for part in parts:
            node = _below(node, part, route)
        places = [(part[1:-1], place) for place, part in enumerate(parts) if part[:1] == "{"]
        node.end = _End(route, tuple(places))
        self._depth = max(self._depth, len(parts))


def _below(node: _Node, part: str, route: str) -> _Node:
    """Return the node below for a part of a route; make the node if there is none."""
    if part[:1] != "{":
        return node.literals.setdefault(part, _Node())
    if node.parameter is None:
        node.parameter, node.name = _Node(), part
    if node.name != part:
        raise ValueError(f"{route}: {part} is {node.name} in another route")
    return node.parameter


def _find(node: _Node, parts: list[str], place: int) -> _End | None:
    if place == len(parts):
        return node.end
    part = parts[place]
    literal = node.literals.get(part)
    found = _find(literal, parts, place + 1) if literal is not None else None
    if found is None and node.parameter is not None and part:
        return _find(node.parameter, parts, place + 1)
    return found


def install(app: Chalice) -> None:
    """Install the middleware that finds the route of a call; it raises UnknownRoute.

    Install it after the middleware that turns failures into answers. The first call builds the
    tree of routes, since workers need no tree.
    """

    @functools.cache
    def routes() -> Routes:
        return Routes(app.routes)

    @app.middleware("http")
    def find_route(
        event: ChaliceRequest, get_response: Callable[[ChaliceRequest], Response]
    ) -> Response:
        # API Gateway has checked the API key for the resource that it matched. So a call that
        # matched another resource than the greedy one keeps its route.
        if event.path == GREEDY:
            found = routes().match((event.uri_params or {})[PARAMETER])
            if found is None:
                raise errors.UnknownRoute
            _name(found, event)
        return get_response(event)


def _name(found: Match, event: ChaliceRequest) -> None:
    """Write a route into a call, in each place where API Gateway would have written it."""
    event.path, event.uri_params = found
    event.context["resourcePath"] = found.route
    original = event.to_original_event()
    original["resource"], original["pathParameters"] = found

"""Signatures of views: reads a view's parameters, and binds its arguments for one call.

A view takes a Request first. Its other parameters are bound in one order, whatever theirs is:

1. the parameters of its path, by name;
2. the caller: `Principal` for a token, `Annotated[Principal, Roles("moderator")]` for one of some
   roles, `Principal | None` where a call may be anonymous;
3. `query`, a model of the query string;
4. `body`, a model of the JSON body, or `bytes` for the body as it was sent.
"""

import functools
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from chalicelib import errors
from chalicelib.errors import FieldError
from chalicelib.http.requests import Request
from chalicelib.identity import Principal, Role


class Roles:
    """Roles that admit a caller: one of them is enough."""

    def __init__(self, *names: Role) -> None:
        self.names = names


class Caller(NamedTuple):
    """The parameter for the caller, and the roles it admits."""

    name: str
    is_optional: bool
    roles: tuple[Role, ...]


class Signature(NamedTuple):
    """What a view asks for; `path` has what checks each parameter of the path."""

    path: Mapping[str, TypeAdapter[Any]]
    caller: Caller | None
    query: type[BaseModel] | None
    body: type[BaseModel] | type[bytes] | None

    def path_arguments(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return the parameters of the path, decoded and checked; raises InvalidRequest."""
        return {name: _decoded(self.path[name], name, value) for name, value in given.items()}

    def arguments(self, request: Request) -> dict[str, Any]:
        """Return the arguments beside the path's.

        Raises Unauthenticated, Forbidden, InvalidRequest, InvalidJson and BodyTooLarge.
        """
        bound: dict[str, Any] = {}
        if self.caller is not None:
            name, is_optional, roles = self.caller
            bound[name] = request.caller() if is_optional else request.principal(*roles)
        if self.query is not None:
            bound["query"] = request.query(self.query)
        if self.body is not None:
            bound["body"] = (
                request.data() if self.body is bytes else request.body(self.body)  # type: ignore[type-var]
            )
        return bound


def signature_of(view: Callable[..., Any], path: str) -> Signature:
    """Read a view's signature; raises TypeError for a parameter that cannot be bound."""
    hints = get_type_hints(view, include_extras=True)
    hints.pop("return", None)
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
    return Signature(in_path, caller, models.get("query"), models.get("body"))


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


def _decoded(adapter: TypeAdapter[Any], name: str, value: str) -> Any:
    try:
        # The adapter's own method takes twice the time, for options that are not used here.
        return adapter.validator.validate_python(unquote(value))
    except ValidationError as error:
        fault = error.errors()[0]
        raise errors.InvalidRequest(
            errors=[FieldError(name, fault["type"], fault["msg"])]
        ) from None

"""Outcomes of an operation's calls: its answers and its problems."""

from collections.abc import Iterator
from typing import get_type_hints

from chalicelib import errors
from chalicelib.errors import Problem
from chalicelib.http.requests import PageQuery
from chalicelib.http.responses import Outcome, outcomes_of
from chalicelib.http.routing import Operation

_EVERY_CALL = (errors.Internal, errors.Unavailable)
_OF_BYTES = (errors.BodyTooLarge,)
_OF_A_BODY = (*_OF_BYTES, errors.InvalidJson)
_OF_A_KEY = (errors.RequestInProgress, errors.IdempotencyKeyReused)


def is_declared(operation: Operation) -> bool:
    """Return whether a view's return type names its answers."""
    return bool(list(outcomes(operation)))


def problems(operation: Operation) -> list[type[Problem]]:
    """Return the problems that may end a call, without duplicates."""
    signature, rules = operation.signature, operation.rules
    found: list[type[Problem]] = [*rules.raises, *_EVERY_CALL]
    takes_key = rules.takes_idempotency_key or rules.needs_idempotency_key
    if signature.path or signature.query or signature.body or takes_key:
        found.append(errors.InvalidRequest)
    if signature.query is not None and issubclass(signature.query, PageQuery):
        found.append(errors.InvalidCursor)
    if signature.body is not None:
        found += _OF_BYTES if signature.body is bytes else _OF_A_BODY
    if operation.content_types:
        found.append(errors.UnsupportedMediaType)
    if signature.caller is not None or rules.limit is not None:
        found.append(errors.Unauthenticated)
    if signature.caller is not None and signature.caller.roles:
        found.append(errors.Forbidden)
    if rules.limit is not None:
        found.append(errors.TooFast)
    if rules.takes_idempotency_key:
        found += _OF_A_KEY
    if rules.needs_version:
        found.append(errors.VersionNeeded)
    return list(dict.fromkeys(found))


def outcomes(operation: Operation) -> Iterator[Outcome]:
    """Yield each answer that a view's return type names."""
    return outcomes_of(get_type_hints(operation.view, include_extras=True).get("return"))

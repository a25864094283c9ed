"""Apps that share what is alike in all of them: a new one for each test costs less."""

from collections.abc import Callable
from types import CodeType
from typing import Any

from chalicelib.http import routing
from chalicelib.http.routing import Signature

Read = Callable[[Callable[..., Any], str], Signature]


def share_signatures() -> None:
    """Have the router read a view's types once in a process, not again for each app."""
    routing.signature_of = shared(routing.signature_of)  # type: ignore[assignment]


def shared(read: Read) -> Read:
    """Return a reader of signatures that remembers them by a view's code, path and types."""
    known: dict[tuple[CodeType, str], tuple[dict[str, Any], Signature]] = {}

    def signature_of(view: Callable[..., Any], path: str) -> Signature:
        types = view.__annotations__
        before = known.get((view.__code__, path))
        if before is not None and before[0] == types:
            return before[1]
        signature = read(view, path)
        known[view.__code__, path] = (types, signature)
        return signature

    return signature_of

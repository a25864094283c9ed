"""Apps share what they read of a view, unless its types are made anew for each app."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from chalicelib.http.requests import Request
from chalicelib.http.responses import Ok
from chalicelib.http.routing import signature_of
from tests.support.apps import shared


class Note(BaseModel):
    text: str


class Title(BaseModel):
    title: str


def declare(kind: Any) -> Callable[..., Any]:
    """Declare a view as an app does: a new function of the same code."""

    def view(_: Request, name: str, body: kind) -> Ok[Note]:
        raise NotImplementedError

    return view


def test_a_view_of_two_apps_is_read_once() -> None:
    read: list[str] = []

    def count(view: Callable[..., Any], path: str) -> Any:
        read.append(path)
        return signature_of(view, path)

    signature = shared(count)

    assert signature(declare(Note), "/{name}") is signature(declare(Note), "/{name}")
    assert read == ["/{name}"]


def test_a_view_with_another_type_is_read_again() -> None:
    signature = shared(signature_of)
    kinds: tuple[type[BaseModel], ...] = (Note, Title, Note)

    bodies = [signature(declare(each), "/{name}").body for each in kinds]

    assert tuple(bodies) == kinds


def test_a_view_at_two_paths_is_read_at_each() -> None:
    def view(_: Request, query: str) -> Ok[Note]:
        raise NotImplementedError

    signature = shared(signature_of)

    assert list(signature(view, "/{query}").path) == ["query"]
    assert list(signature(view, "/notes").path) == []

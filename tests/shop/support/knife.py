"""A knife: cuts a piece of work at one of its writes, before it is sent or once it is done."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from pymongo.client_session import ClientSession
from pymongo.collection import Collection

_WRITES = (
    "insert_one",
    "insert_many",
    "update_one",
    "update_many",
    "replace_one",
    "delete_one",
    "delete_many",
    "find_one_and_update",
    "find_one_and_delete",
    "bulk_write",
)
Edge = Literal["before", "after"]


class Cut(BaseException):
    """The process dies here: nothing may catch it."""


class Knife:
    """Counts the writes of a piece of work, and cuts at one of them."""

    def __init__(self, at: int, edge: Edge) -> None:
        self._at, self._edge = at, edge
        self.writes = 0

    def around(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def cutting(*arguments: Any, **details: Any) -> Any:
            # A transaction is one write, which its commit stands for.
            if details.get("session") is not None:
                return write(*arguments, **details)
            number, self.writes = self.writes, self.writes + 1
            if number == self._at and self._edge == "before":
                raise Cut
            done = write(*arguments, **details)
            if number == self._at:
                raise Cut
            return done

        return cutting


@contextmanager
def cut(monkeypatch: pytest.MonkeyPatch, at: int, edge: Edge) -> Iterator[Knife]:
    """Cut what is done in this block at its write of this number, from 0."""
    knife = Knife(at, edge)
    with monkeypatch.context() as patch:
        for name in _WRITES:
            patch.setattr(Collection, name, knife.around(getattr(Collection, name)))
        commit = ClientSession.commit_transaction
        patch.setattr(ClientSession, "commit_transaction", knife.around(commit))
        yield knife

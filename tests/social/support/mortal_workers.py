"""Workers that die at any step, as a process does: nothing is told, nothing is cleaned up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pymongo.client_session import ClientSession
from pymongo.collection import Collection

from chalicelib.messaging import Queues

CALLS = (
    "aggregate",
    "bulk_write",
    "delete_many",
    "delete_one",
    "find",
    "find_one",
    "find_one_and_update",
    "insert_many",
    "update_many",
    "update_one",
)


class Died(Exception):
    """A worker's process is gone."""


class Mortal:
    """The rest of a worker's life, in steps; after the last one nothing works any more."""

    def __init__(self, steps: int | None = None) -> None:
        self.steps_left = steps
        self.steps_taken = 0

    def step(self) -> None:
        if self.steps_left == 0:
            raise Died
        if self.steps_left:
            self.steps_left -= 1
        self.steps_taken += 1


@contextmanager
def living(life: Mortal) -> Iterator[None]:
    """Make each call and commit of the database and each send of messages a step of this life."""

    def stepping(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            life.step()
            return call(*args, **options)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(Collection, name, stepping(getattr(Collection, name)))
        commit = stepping(ClientSession.commit_transaction)
        patch.setattr(ClientSession, "commit_transaction", commit)
        patch.setattr(Queues, "send", stepping(Queues.send))
        yield

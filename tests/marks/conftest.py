"""Things to mark, both designs of counting, and what folds by hand."""

import dataclasses
from collections.abc import Iterator

import pytest

from chalicelib.marks.folded import fold
from chalicelib.marks.messages import CountMark
from chalicelib.runtime import Runtime
from tests.marks.support.things import KINDS, THINGS, make
from tests.social.support.drivers import Courier


@dataclasses.dataclass(frozen=True)
class Folder:
    """A worker of the queue of marks, driven by hand."""

    runtime: Runtime
    courier: Courier

    def fold(self) -> None:
        """Count what every waiting message names."""
        fold(self.runtime, KINDS, self.taken())

    def taken(self) -> list[str]:
        """Return the marks that messages name, which wait no longer."""
        return [each.mark_id for each in self.courier.take() if isinstance(each, CountMark)]


@pytest.fixture
def things(runtime: Runtime) -> Iterator[Runtime]:
    """A runtime whose messages wait, with two things."""
    runtime.database.drop_collection(THINGS.name)
    make(runtime.database, "one", "two")
    yield dataclasses.replace(runtime, queues=Courier())
    runtime.database.drop_collection(THINGS.name)


@pytest.fixture
def folder(things: Runtime) -> Folder:
    assert isinstance(things.queues, Courier)
    return Folder(things, things.queues)

"""Hears every operation that Plaza sends to MongoDB, and keeps what no router could target."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import CodeType
from typing import Any

from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from chalicelib.database import Collection
from chalicelib.wiring.schema import FAMILIES
from tests.support.targeting import untargeted

_ROOT = Path(__file__).parents[2]
_PLAZA = str(_ROOT / "chalicelib")
# Every read passes this class of `chalicelib/database/connection.py`.
_BETWEEN = "_Collection."
_OTHERS = tuple(str(_ROOT / folder) for folder in ("tests", "bench", "local"))


class ShardListener(CommandListener):
    """Listens to all clients of the process; what tests ask by themselves is left alone.

    `used` are the exceptions that were needed.
    """

    def __init__(
        self, collections: Mapping[str, Collection[Any]], exceptions: Mapping[str, str]
    ) -> None:
        self._collections = dict(collections)
        self._exceptions = exceptions
        self._found: list[str] = []
        self.used: set[str] = set()

    def started(self, event: CommandStartedEvent) -> None:
        collection = self._named(str(event.command.get(event.command_name)))
        if collection is None:
            return
        code = _asking()
        if code is None:
            return
        for reason in untargeted(self._collections, event.command_name, event.command):
            name = f"{_name(code)}: {event.command_name} {collection.family or collection.name}"
            if name in self._exceptions:
                self.used.add(name)
            else:
                self._found.append(f'"{name}": {reason}')

    def _named(self, name: str) -> Collection[Any] | None:
        """Return the collection of a name, which may be a day's of a family."""
        family = next((each for each in FAMILIES if name.startswith(f"{each.name}.")), None)
        if family is not None and name not in self._collections:
            day = datetime.strptime(name.rpartition(".")[2], "%Y%m%d").replace(tzinfo=UTC)
            self._collections[name] = family.of_day(day)
        return self._collections.get(name)

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Only what is asked matters."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Only what is asked matters."""

    def take(self) -> list[str]:
        """Return what was found since the last time, each once."""
        found, self._found = self._found, []
        return list(dict.fromkeys(found))

    def unused(self) -> list[str]:
        """Return the exceptions that nothing has needed."""
        return sorted(self._exceptions.keys() - self.used)


def _asking() -> CodeType | None:
    """Return the code of Plaza's own that is asking, or None where it is a test's."""
    frame = sys._getframe()
    own = __file__
    while frame.f_back is not None:
        frame = frame.f_back
        file = frame.f_code.co_filename
        if file.startswith(_PLAZA) and not frame.f_code.co_qualname.startswith(_BETWEEN):
            return frame.f_code
        if file.startswith(_OTHERS) and file != own:
            return None
    return None


def _name(code: CodeType) -> str:
    """Return a function's name, as `social.walls.WallOfPosts.newest`."""
    module = Path(code.co_filename).relative_to(_PLAZA).with_suffix("")
    return ".".join((*module.parts, code.co_qualname.partition(".<locals>")[0]))

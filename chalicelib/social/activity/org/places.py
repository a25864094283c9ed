"""A person's places in the organisation over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Org:
    """Where somebody stands in the organisation; `assigned` has the ids of refs."""

    team: str | None = None
    department: str | None = None
    manager: str | None = None
    assigned: frozenset[str] = frozenset()

    @classmethod
    def of(cls, place: Mapping[str, Any]) -> "Org":
        """Return a place that was stored."""
        return cls(
            team=place["team"],
            department=place["department"],
            manager=place["manager"],
            assigned=frozenset(place["assigned"]),
        )


@dataclass(frozen=True)
class PersonOverTime:
    """Somebody with the places they had, each from `since` until before `until`."""

    id: str
    places: Sequence[Mapping[str, Any]] = ()

    def at(self, time: datetime) -> Org:
        """Return the place of that time; before the first there was none."""
        held = (each for each in self.places if each["since"] <= time < each["until"])
        return next(map(Org.of, held), Org())

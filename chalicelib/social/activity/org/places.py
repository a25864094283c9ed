"""A person's places in the organisation over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict


class Place(TypedDict):
    """A place in the organisation as it is stored; `assigned` has the ids of refs."""

    team: str | None
    department: str | None
    manager: str | None
    assigned: list[str]


class PastPlace(Place):
    """A place that somebody had from `since`, until before `until`."""

    since: datetime
    until: datetime


@dataclass(frozen=True)
class Org:
    """Somebody's place in the organisation; `assigned` has the ids of refs."""

    team: str | None = None
    department: str | None = None
    manager: str | None = None
    assigned: frozenset[str] = frozenset()

    @classmethod
    def of(cls, place: Place) -> "Org":
        """Return a place that was stored."""
        return cls(
            team=place["team"],
            department=place["department"],
            manager=place["manager"],
            assigned=frozenset(place["assigned"]),
        )


@dataclass(frozen=True)
class PersonOverTime:
    """Somebody with the places that they had."""

    id: str
    places: Sequence[PastPlace] = ()

    def at(self, time: datetime) -> Org:
        """Return the place of that time; before the first there was none."""
        held = (each for each in self.places if each["since"] <= time < each["until"])
        return next(map(Org.of, held), Org())

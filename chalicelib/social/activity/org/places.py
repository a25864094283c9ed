"""A person's places in the organisation over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict


class OrgPlace(TypedDict):
    """A place in the organisation as stored; `assigned` has the ids of refs."""

    team: str | None
    department: str | None
    manager: str | None
    assigned: list[str]


class PastPlace(OrgPlace):
    """A person's place from `since`, until before `until`."""

    since: datetime
    until: datetime


@dataclass(frozen=True)
class Org:
    """A person's place in the organisation; `assigned` has the ids of refs."""

    team: str | None = None
    department: str | None = None
    manager: str | None = None
    assigned: frozenset[str] = frozenset()

    @classmethod
    def of(cls, place: OrgPlace) -> "Org":
        """Return a stored place as an `Org`."""
        return cls(
            team=place["team"],
            department=place["department"],
            manager=place["manager"],
            assigned=frozenset(place["assigned"]),
        )


@dataclass(frozen=True)
class PersonOverTime:
    """A person with the person's places over time."""

    id: str
    places: Sequence[PastPlace] = ()

    def at(self, time: datetime) -> Org:
        """Return the place at a time; an empty place if `places` has none for the time."""
        held = (each for each in self.places if each["since"] <= time < each["until"])
        return next(map(Org.of, held), Org())

"""Relevancy: an action's rank for a reader, as a time. Pure rules, without a database.

A relevancy is the greatest score of all events of an action. As a time, it ranks new actions above
old actions without a write to the old actions, as in the newsfeed of Entexis. Each event counts
with the ties at its own time (docs/decisions/0050).
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from chalicelib.settings import Settings
from chalicelib.social.activity.actions.events import Event
from chalicelib.social.activity.org.places import PersonOverTime as Person


class Tie(Enum):
    """The tie of a reader to an event, nearest first."""

    SELF = "self"
    CLOSE = "close"
    TEAM = "team"
    DEPARTMENT = "department"
    NONE = "none"


@dataclass(frozen=True)
class Penalties:
    """The time that each tie subtracts from an event; without a tie, only the conducting counts."""

    close: timedelta
    team: timedelta
    department: timedelta
    none: timedelta

    @classmethod
    def of(cls, settings: Settings) -> "Penalties":
        """Return the penalties in the deployment's settings."""
        return cls(
            close=timedelta(seconds=settings.penalty_close_seconds),
            team=timedelta(seconds=settings.penalty_team_seconds),
            department=timedelta(seconds=settings.penalty_department_seconds),
            none=timedelta(seconds=settings.penalty_no_tie_seconds),
        )


def score(
    reader: Person, event: Event, by: Person, refs: AbstractSet[str], penalties: Penalties
) -> datetime | None:
    """Return the score of one event for a reader. None: no tie, and not the conducting."""
    match nearest_tie(reader, event, by, refs):
        case Tie.SELF:
            return event.ts
        case Tie.CLOSE:
            return event.ts - penalties.close
        case Tie.TEAM:
            return event.ts - penalties.team
        case Tie.DEPARTMENT:
            return event.ts - penalties.department
        case Tie.NONE:
            return event.ts - penalties.none if event.conducting else None


def nearest_tie(reader: Person, event: Event, by: Person, refs: AbstractSet[str]) -> Tie:
    """Return a reader's nearest tie to an event's person or the action's refs, at that time."""
    if reader.id == by.id or reader.id in refs:
        return Tie.SELF
    mine, theirs = reader.at(event.ts), by.at(event.ts)
    if not mine.assigned.isdisjoint(refs) or mine.manager == by.id or theirs.manager == reader.id:
        return Tie.CLOSE
    if mine.team is not None and mine.team == theirs.team:
        return Tie.TEAM
    if mine.department is not None and mine.department == theirs.department:
        return Tie.DEPARTMENT
    return Tie.NONE

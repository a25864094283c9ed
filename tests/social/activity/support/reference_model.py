"""The rules of the activity feed as a plain model: lists, and every score from the table."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Desk:
    """A place in the organisation."""

    team: str | None = None
    department: str | None = None
    manager: str | None = None
    assigned: frozenset[str] = frozenset()


@dataclass
class Deed:
    """An action with all that was ever done to it, its conducting first."""

    id: str
    actor: str
    scope: str
    audience: list[str]
    desk: Desk
    refs: list[str]
    events: list[tuple[str, datetime]]
    reacted: set[str] = field(default_factory=set)
    hidden: bool = False


@dataclass
class Rules:
    """The places and mutes of people over time, and the actions that were not deleted."""

    desks: dict[str, list[tuple[datetime, Desk]]] = field(default_factory=dict)
    mutes: set[tuple[str, str]] = field(default_factory=set)
    deeds: dict[str, Deed] = field(default_factory=dict)

    def desk(self, who: str, time: datetime | None = None) -> Desk:
        """Return where somebody sat at a time, or sits."""
        sat = [desk for since, desk in self.desks.get(who, []) if time is None or since <= time]
        return sat[-1] if sat else Desk()

    def told(self, actor: str, audience: list[str]) -> list[str]:
        """Return those of an audience who share something with an actor."""
        mine = self.desk(actor)

        def is_tied(who: str) -> bool:
            theirs = self.desk(who)
            return (
                (mine.team is not None and mine.team == theirs.team)
                or (mine.department is not None and mine.department == theirs.department)
                or (mine.manager == who and who in self.desks)
                or theirs.manager == actor
            )

        return [each for each in audience if each == actor or is_tied(each)]

    def may_see(self, reader: str, deed: Deed) -> bool:
        if reader == deed.actor:
            return True
        if deed.hidden:
            return False
        desk = self.desk(reader)
        if deed.scope == "restricted":
            return reader in deed.audience
        if deed.scope == "team":
            return desk.team is not None and desk.team == deed.desk.team
        return desk.department is not None and desk.department == deed.desk.department

    def feed(self, reader: str) -> list[tuple[str, datetime]]:
        """Return the ids of a feed with their relevancies, the nearest first."""
        shown = [
            deed
            for deed in self.deeds.values()
            if not deed.hidden
            and (reader, deed.actor) not in self.mutes
            and self.may_see(reader, deed)
        ]
        ranked = [(self.relevancy(reader, deed), deed.id) for deed in shown]
        return [(id_, relevancy) for relevancy, id_ in sorted(ranked, reverse=True)]

    def relevancy(self, reader: str, deed: Deed) -> datetime:
        scores = []
        for number, (by, time) in enumerate(deed.events):
            penalty = self.penalty(reader, by, time, deed.refs)
            if penalty < DAY or number == 0:
                scores.append(time - penalty)
        return max(scores)

    def penalty(self, reader: str, by: str, time: datetime, refs: list[str]) -> timedelta:
        mine, theirs = self.desk(reader, time), self.desk(by, time)
        table = [
            (reader == by or reader in refs, timedelta()),
            (any(ref in mine.assigned for ref in refs), MINUTE),
            (mine.manager == by or theirs.manager == reader, MINUTE),
            (mine.team is not None and mine.team == theirs.team, 10 * MINUTE),
            (mine.department is not None and mine.department == theirs.department, HOUR),
        ]
        return min((penalty for holds, penalty in table if holds), default=DAY)

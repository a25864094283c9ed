"""Analytics as plain lists: what was counted, what the log holds, which sessions were made."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from chalicelib.analytics.hits import OLDEST, OTHER, VISITOR_KNOWN, WHOLE_SITE, Kind
from chalicelib.analytics.reports.report import Report
from chalicelib.time_zones import Period

PAUSE = timedelta(minutes=30)
HOUR, DAY, QUARTER = timedelta(hours=1), timedelta(days=1), 15
FIELDS: dict[Kind, str] = {"view": "hits", "bot": "bots", "feed": "feeds"}
# A row of a report: its period and key, then hits, visitors, bots and feeds.
Row = tuple[datetime, str, int, int, int, int]


@dataclass(frozen=True)
class Told:
    """A hit as it was reported."""

    id: str
    ts: datetime
    path: str
    kind: Kind = "view"
    visitor: str | None = None
    user: str | None = None
    ref: str | None = None


class Count(NamedTuple):
    """One that a report's field was raised by; `of` and `value` are whose."""

    of: str
    value: str
    field: str
    ts: datetime


class Session(NamedTuple):
    """A visit without a pause."""

    visitor: str
    user: str | None
    started: datetime
    ended: datetime
    hits: int
    entry: str
    exit: str


@dataclass
class ReferenceModel:
    """One site; `names` is how many values of each kind a day has room for."""

    user_reports: bool
    names: int
    counts: list[Count] = field(default_factory=list)
    log: list[Told] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    known: dict[tuple[str, date], set[str]] = field(default_factory=dict)
    seen: set[tuple[str, str, date, str]] = field(default_factory=set)
    sessions: dict[date, list[Session]] = field(default_factory=dict)

    def count(self, batch: Sequence[Told], now: datetime) -> int:
        """Count the hits of a batch that are new; return how many there were."""
        new = []
        for hit in batch:
            if hit.id not in self.ids and hit.ts >= now - OLDEST:
                self.ids.add(hit.id)
                new.append(self._kept(hit, now))
        self.log += new
        self._name(new)
        visits: dict[tuple[str, str, date, str], datetime] = {}
        for hit in new:
            for of, value in self._places(hit):
                self.counts.append(Count(of, value, FIELDS[hit.kind], hit.ts))
                if hit.kind == "view" and hit.visitor is not None:
                    key = (of, value, hit.ts.date(), hit.visitor)
                    visits[key] = min(hit.ts, visits.get(key, hit.ts))
        for key, ts in visits.items():
            if key not in self.seen:
                self.seen.add(key)
                self.counts.append(Count(key[0], key[1], "visitors", ts))
        return len(new)

    def _kept(self, hit: Told, now: datetime) -> Told:
        user = hit.user if self.user_reports else None
        visitor = hit.visitor if hit.ts >= now - VISITOR_KNOWN else None
        return replace(hit, user=user, visitor=visitor)

    def _name(self, hits: Iterable[Told]) -> None:
        """Give names of a day room, in their order."""
        asked = {(of, hit.ts.date(), value) for hit in hits for of, value in _named(hit)}
        for of, day, value in sorted(asked):
            names = self.known.setdefault((of, day), set())
            if len(names) < self.names:
                names.add(value)

    def _places(self, hit: Told) -> list[tuple[str, str]]:
        day = hit.ts.date()
        named = [
            (of, value if value in self.known[of, day] else OTHER) for of, value in _named(hit)
        ]
        return [("path", WHOLE_SITE), *named]

    def rows(self, report: Report) -> list[Row]:
        """Return the rows of a report."""
        of = report.group
        sums: dict[tuple[datetime, str], Counter[str]] = {}
        for each in self.counts:
            at = each.ts.replace(second=0, microsecond=0)
            if each.field != "hits":
                at = at.replace(minute=at.minute // QUARTER * QUARTER)
            if report.start <= at < report.end and _is_asked(each, of, report.path):
                period = period_of(report.by, report.tz, at)
                key = (period, "" if of is None else each.value)
                sums.setdefault(key, Counter())[each.field] += 1
        fields = ("hits", "visitors", "bots", "feeds")
        return [(*key, *(sums[key][name] for name in fields)) for key in sorted(sums)]  # type: ignore[misc]

    def forget(self, user: str) -> None:
        """Forget a person: neither the log nor a session has them, and counts stay."""
        self.log = [hit for hit in self.log if hit.user != user]
        for day, made in self.sessions.items():
            self.sessions[day] = [each for each in made if each.user != user]

    def make_sessions(self, now: datetime, kept_since: datetime) -> None:
        """Make the sessions of the days that the log holds, up to the last hour that is past."""
        until = (now - PAUSE).replace(minute=0, second=0, microsecond=0)
        for day in {each.ts.date() for each in self.counts}:
            if datetime.combine(day, time(), UTC) >= kept_since:
                hits = [hit for hit in self.log if hit.ts.date() == day and hit.ts < until]
                self.sessions[day] = sessions_of(hits)

    def made(self, user: str | None = None) -> list[Session]:
        """Return the sessions of all, or of one person."""
        return sorted(
            each
            for made in self.sessions.values()
            for each in made
            if user is None or each.user == user
        )


def sessions_of(hits: Iterable[Told]) -> list[Session]:
    """Return the sessions of a day's hits."""
    by_visitor: dict[str, list[Told]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.ts, hit.id)):
        if hit.kind == "view" and hit.visitor is not None:
            by_visitor.setdefault(hit.visitor, []).append(hit)
    found = []
    for mine in by_visitor.values():
        parts = [[mine[0]]]
        for before, hit in itertools.pairwise(mine):
            if hit.ts - before.ts >= PAUSE:
                parts.append([])
            parts[-1].append(hit)
        found += [_session(part) for part in parts]
    return found


def _session(hits: Sequence[Told]) -> Session:
    first, last = hits[0], hits[-1]
    assert first.visitor is not None
    return Session(first.visitor, first.user, first.ts, last.ts, len(hits), first.path, last.path)


def period_of(by: Period, tz: str, at: datetime) -> datetime:
    """Return when the period that an instant is in begins."""
    zone = ZoneInfo(tz)
    local = at.astimezone(zone)
    if by in ("minute", "hour"):
        past = timedelta(minutes=local.minute if by == "hour" else 0)
        return at.replace(second=0, microsecond=0) - past
    day = local.date()
    first = {
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "year": day.replace(month=1, day=1),
    }[by]
    return datetime.combine(first, time(), zone).astimezone(UTC)


def _named(hit: Told) -> list[tuple[str, str]]:
    """Return what a hit is counted for beside the whole site, with names of its own."""
    found = [("path", hit.path)]
    if hit.kind == "view":
        found.append(("device", "desktop"))
        if hit.ref is not None:
            found.append(("referrer", hit.ref))
    return found


def _is_asked(each: Count, of: str | None, path: str | None) -> bool:
    if of not in (None, "path"):
        return each.of == of
    if of == "path" and path is None:
        return each.of == "path" and each.value != WHOLE_SITE
    return (each.of, each.value) == ("path", path or WHOLE_SITE)

"""Any sequence of what happens to a site's hits, beside plain lists of them.

Hits come twice, shuffled and late, to workers that remember or have just begun; between them logs
and layouts change, sessions are made, days expire and people are forgotten.
"""

import os
import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from chalicelib.analytics import personal_data, upkeep
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import DAY, Hits
from chalicelib.analytics.logs import moving as logs_moving
from chalicelib.analytics.logs import together
from chalicelib.analytics.logs.log import Span
from chalicelib.analytics.reports import moving, queries
from chalicelib.analytics.reports.report import Report
from chalicelib.analytics.sessions import making
from chalicelib.analytics.sessions.periods import LEVELS, PERIODS, SESSIONS
from chalicelib.analytics.settings import SITES, LayoutName, LogName, SiteAnalytics, kept_since
from chalicelib.bounds import AnalyticsBounds
from chalicelib.runtime import Runtime
from chalicelib.wiring.hits import PAGES
from tests.analytics.support.hits import LAYOUTS, LOGS, SITE, differences, logs, site, view
from tests.analytics.support.reference_model import ReferenceModel, Session, Told, period_of
from tests.support.clock import Clock
from tests.support.isolation import empty_collections

# A long run: PLAZA_TEST_EXAMPLES=500 pytest tests/analytics/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "6"))
# Two hours before the night in which Berlin's clocks change.
START_OF_SUMMER = timedelta(days=27, hours=11)
KEEP_DAYS = 15
NAMES = 3
HOUR = timedelta(hours=1)
# Names run out, and little is done at once.
BOUNDS = AnalyticsBounds(
    paths=NAMES,
    sources=NAMES,
    # Whatever is backed by what: tests/analytics/reports/test_admission.py.
    paths_of_one=NAMES,
    sources_of_one=NAMES,
    paths_of_network=100,
    sources_of_network=100,
    top_paths=0,
    top_sources=0,
    report_shards=2,
    moved_at_once=3,
    moved_in_a_run=10,
    rewritten_in_a_run=3,
)
# Whoever is signed in is one visitor, and some are not.
PEOPLE: dict[str, str | None] = {"ann": "ann", "bob": "bob", "v3": None, "v4": None}
MINUTES_LATE = st.one_of(st.integers(0, 90), st.integers(0, 16 * 24 * 60))
NEW = st.fixed_dictionaries(
    {
        "late": MINUTES_LATE,
        "path": st.sampled_from(["/a", "/b", "/c", "/d"]),
        "kind": st.sampled_from(["view", "view", "view", "bot", "feed"]),
        "visitor": st.sampled_from([*PEOPLE, None]),
        "ref": st.sampled_from([None, "p.example", "q.example"]),
    }
)
# A hit that was told before, by its place, perhaps with another path.
REPEAT = st.tuples(st.integers(0, 40), st.sampled_from([None, "/d"]))
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"])
PERIOD = st.sampled_from(["minute", "hour", "day", "week", "month", "year"])
GROUPED = st.sampled_from([(None, None), (None, "/a"), ("path", None), ("path", "/b")])
SOURCES = st.sampled_from([("referrer", None), ("device", None)])
# What is asked for; and from how many hours ago on, over how many, beginning at which minute.
SPANS = st.tuples(st.integers(-24 * 20, 0), st.integers(1, 24 * 40), st.sampled_from([0, 0, 7, 30]))
REPORTS = st.tuples(st.tuples(PERIOD, ZONES, st.one_of(GROUPED, SOURCES)), SPANS)


class Reading(RuleBasedStateMachine):
    """A site that is read."""

    runtime: Runtime
    clock: Clock

    @initialize(
        log=st.sampled_from(LOGS), layout=st.sampled_from(LAYOUTS), user_reports=st.booleans()
    )
    def open(self, log: LogName, layout: LayoutName, *, user_reports: bool) -> None:
        empty_collections(self.runtime.database)
        self.clock.time = Clock().time + START_OF_SUMMER
        self.runtime.random.seed(7)
        user_reports &= log != "timeseries"
        site(self.runtime, log, layout, keep_days=KEEP_DAYS, user_reports=user_reports)
        self.model = ReferenceModel(user_reports, NAMES)
        self.told: list[Told] = []
        self.forgotten: list[Told] = []
        self.workers = [self.worker(number) for number in range(2)]

    def worker(self, number: int) -> HitCounter:
        return HitCounter(replace(self.runtime, random=random.Random(number)), PAGES)

    def settings(self) -> SiteAnalytics:
        found = SITES.of(self.runtime.database).find_one({"_id": SITE})
        assert found is not None
        return found

    @rule(items=st.lists(st.one_of(NEW, NEW, REPEAT), min_size=1, max_size=8), of=st.integers(0, 1))
    def count(self, items: list[Any], of: int) -> None:
        batch = [each for each in map(self.hit, items) if each is not None]
        now = self.clock()

        counted = self.workers[of].count([_message(each) for each in batch])

        assert counted == self.model.count(batch, now)

    def hit(self, item: Any) -> Told | None:
        """Return a new hit, or one that was told before and whose person is not forgotten."""
        if isinstance(item, tuple):
            number, path = item
            known: Told | None = self.told[number % len(self.told)] if self.told else None
            if known is None or known in self.forgotten:
                return None
            again: Told = replace(known, path=path or known.path)
            return again
        ts = self.clock() - timedelta(minutes=item.pop("late"))
        user = PEOPLE.get(item["visitor"])
        new = Told(id=f"{len(self.told):016}", ts=ts, user=user, **item)
        self.told.append(new)
        return new

    @rule(of=st.integers(0, 1))
    def replace_worker(self, of: int) -> None:
        """The other remembers what it knew."""
        self.workers[of] = self.worker(of)

    @rule(minutes=st.integers(1, 700))
    def wait(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    @rule(days=st.integers(1, 9))
    def expire(self, days: int) -> None:
        self.clock.advance(days=days)
        upkeep.trim(self.runtime)
        # As the server does, which does not know this clock.
        self.runtime.database["hit.event"].delete_many({"until": {"$lte": self.clock()}})
        self.read_the_log()

    @rule(log=st.sampled_from(LOGS))
    def move(self, log: LogName) -> None:
        now = self.settings()
        if "moving" not in now and not (log == "timeseries" and now["user_reports"]):
            logs_moving.start(self.runtime, now, log)

    @rule()
    def go_on_moving(self) -> None:
        self.clock.time += logs_moving.GRACE
        logs_moving.sweep(self.runtime)

    @rule(layout=st.sampled_from(LAYOUTS))
    def change_layout(self, layout: LayoutName) -> None:
        moving.change(self.runtime, self.settings(), layout)

    @rule()
    def rewrite(self) -> None:
        moving.rewrite(self.runtime)

    @precondition(lambda self: self.model.user_reports)
    @rule(user=st.sampled_from(["ann", "bob"]))
    def forget(self, user: str) -> None:
        personal_data.erase(self.runtime, user)
        self.model.forget(user)
        self.forgotten += [each for each in self.told if each.user == user]
        traces = personal_data.traces(self.runtime.database, user)
        assert [trace.rows.count_documents(trace.where) for trace in traces] == [0] * len(traces)

    @rule()
    def read_the_log(self) -> None:
        since = kept_since(self.settings(), self.clock())
        span = Span(SITE, since, self.clock() + DAY)
        found = [_told(row) for row in together.each(logs(self.runtime), span)]
        kept = sorted((hit for hit in self.model.log if hit.ts >= since), key=lambda hit: hit.id)
        assert sorted(found, key=lambda hit: hit.id) == kept

    @rule()
    def make_sessions(self) -> None:
        making.make_due(self.runtime)
        # While hits are in two logs, a day has to wait.
        if len(logs(self.runtime)) == 1:
            since = kept_since(self.settings(), self.clock())
            self.model.make_sessions(self.clock(), since)
        rows = SESSIONS.of(self.runtime.database).find()
        assert sorted(map(_session, rows)) == self.model.made()
        self.check_periods()

    def check_periods(self) -> None:
        for level in LEVELS:
            found: dict[Any, Any] = {}
            for row in PERIODS[level].of(self.runtime.database).find():
                found[row["period"], row.get("user")] = (row["sessions"], row["hits"])
            told: dict[Any, Any] = {}
            for each in self.model.made():
                period = period_of(level, "UTC", each.started)
                for user in {each.user, None}:
                    sessions, hits = told.get((period, user), (0, 0))
                    told[period, user] = (sessions + 1, hits + each.hits)
            # Sums of a whole site may have sessions of persons who were forgotten since.
            for key, sums in found.items():
                if key[1] is None and self.forgotten:
                    assert sums >= told.pop(key, (0, 0))
                else:
                    assert sums == told.pop(key, None)
            assert told == {}

    @rule(asked=REPORTS)
    def report(self, asked: Any) -> None:
        (by, tz, (group, path)), (hours, length, minute) = asked
        start = self.clock().replace(minute=minute, second=0) + hours * HOUR
        self.check_report(Report(SITE, start, start + length * HOUR, by, tz, path, group))

    def check_report(self, report: Report) -> None:
        """Compare a report, read in pages of 7, with the lists."""
        found: list[Any] = []
        after = None
        while True:
            rows, after = queries.read(self.runtime.database, report, after, 7)
            found += [tuple(row.values()) for row in rows]
            if after is None:
                break
        assert found == self.model.rows(report)

    def teardown(self) -> None:
        if not hasattr(self, "model"):
            return
        self.read_the_log()
        start, end = (period_of("day", "UTC", self.clock()) + days * DAY for days in (-60, 1))
        for by in ("hour", "day", "month"):
            for asked in (None, "path", "referrer"):
                self.check_report(Report(SITE, start, end, by, "UTC", None, asked))
        if not self.forgotten:
            assert differences(self.runtime, self.clock()) == []


def _message(told: Told) -> Hits:
    return view(
        told.id,
        told.ts,
        told.path,
        kind=told.kind,
        visitor=told.visitor,
        user=told.user,
        ref=told.ref,
    )


def _told(row: Any) -> Told:
    known = {name: row.get(name) for name in ("ts", "path", "kind", "visitor", "user", "ref")}
    return Told(id=row["_id"].rpartition("-")[2], **known)


def _session(row: Any) -> Session:
    visitor = row["_id"].split(":")[2]
    ended = row["started"] + timedelta(seconds=row["seconds"])
    return Session(
        visitor, row.get("user"), row["started"], ended, row["hits"], row["entry"], row["exit"]
    )


def test_any_sequence_is_counted_as_lists_count_it(runtime: Runtime, clock: Clock) -> None:
    small = replace(runtime, bounds=replace(runtime.bounds, analytics=BOUNDS))
    machine = type("Machine", (Reading,), {"runtime": small, "clock": clock})

    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            derandomize="PLAZA_TEST_EXAMPLES" not in os.environ,
        ),
    )

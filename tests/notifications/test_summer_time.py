"""Daily letters in thirty time zones over the end of summer time, by two schedules at once.

A long run: PLAZA_TEST_READERS=1000 script/test tests/notifications/test_summer_time.py
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from chalicelib.notifications import events, preferences
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.preferences import NONE
from chalicelib.runtime import Runtime
from tests.notifications.support.mailbox import run, turn_on, written
from tests.notifications.test_due import ZONES
from tests.support.clock import Clock

READERS = int(os.environ.get("PLAZA_TEST_READERS", "93"))
# Europe's clocks, and others with them, go back on the 26th.
BEGIN, END = datetime(2025, 10, 24, tzinfo=UTC), datetime(2025, 10, 28, tzinfo=UTC)
# All offsets are multiples of it.
STEP = timedelta(minutes=15)
NEWS_EVERY = timedelta(hours=6)


class Reader(NamedTuple):
    """A reader of daily letters; `delay`: the hours that a quiet time adds to the letter's."""

    id: str
    zone: str
    hour: int
    quiet: tuple[int, int] | None
    delay: int

    @property
    def email(self) -> str:
        return f"{self.id}@plaza.example"

    def letters(self) -> Iterator[datetime]:
        """Yield the times of the letters: each day at the hour, or at the end of a quiet time."""
        zone = ZoneInfo(self.zone)
        first = BEGIN.astimezone(zone).date()
        for day in (first + timedelta(days=number) for number in range(7)):
            due = datetime.combine(day, time(self.hour), zone)
            # By the clock on the wall: an hour that comes twice counts as one.
            comes = (due + timedelta(hours=self.delay)).astimezone(UTC)
            if due.astimezone(UTC) > BEGIN and comes <= END:
                yield comes


def reader(number: int) -> Reader:
    hour = number * 7 % 24
    around, later = ((hour - 1) % 24, (hour + 2) % 24), ((hour + 1) % 24, (hour + 5) % 24)
    quiet, delay = [(around, 2), (later, 0), (None, 0)][number // len(ZONES) % 3]
    return Reader(f"reader{number}", ZONES[number % len(ZONES)], hour, quiet, delay)


@pytest.mark.timeout(120 + READERS)
def test_each_reader_has_a_letter_on_each_day_at_their_hour_and_none_in_quiet_hours(
    runtime: Runtime, clock: Clock
) -> None:
    readers = [reader(number) for number in range(READERS)]
    clock.time = BEGIN
    for each in readers:
        turn_on(runtime, each.id, each.email, every="daily", hour=each.hour, time_zone=each.zone)
        if each.quiet:
            begin, end = each.quiet
            quiet = NONE._replace(quiet={"begin": begin, "end": end})
            preferences.choose(runtime, each.id, quiet)

    clock.advance(seconds=1)
    tell_all(runtime, readers)
    clock.time = BEGIN
    with ThreadPoolExecutor(2) as schedules:
        while clock.time < END:
            clock.time += STEP
            while sum(schedules.map(run, [runtime] * 2)):
                pass
            if not (clock.time - BEGIN) % NEWS_EVERY:
                tell_all(runtime, readers)

    came: dict[str, list[datetime]] = defaultdict(list)
    for letter in written(runtime):
        came[letter["to"]].append(letter["queued"])
    assert came == {each.email: list(each.letters()) for each in readers}
    assert all(len(times) in {3, 4} for times in came.values())


def tell_all(runtime: Runtime, readers: list[Reader]) -> None:
    event = NotificationEvent(
        key=runtime.now().isoformat(),
        site="harbour",
        thing="moon/1",
        by="ben",
        at=runtime.now(),
        recipients=dict.fromkeys([each.id for each in readers], "comment.reply"),
        is_new=True,
    )
    events.agree(runtime, event, runtime.now())

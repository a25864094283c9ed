"""Two people act in one discussion: at each point of rest their pages show what is there.

`script/test --long` takes ten minutes; PLAZA_TEST_PAIR_SEED repeats the acts of a seed.
"""

import difflib
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Error, Locator, Page, Request, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.readers import BY_TIME, ORDERS, Reader, count_calls, ids_of, told
from tests.web.support.two import Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
FAILED = "Failed to load resource"
# Without seconds, so many acts of a seed that is always the same.
STEPS, SEED = 40, 7
SECONDS = float(os.environ.get("PLAZA_TEST_PAIR_SECONDS", "0"))
STEPS_BETWEEN_RESTS = 5
# More than a page, so that there is a next one.
COMMENTS = 54
ROLES = {"ann": [], "mo": ["moderator"]}
Acts = dict[Callable[[Reader], None], int]


def is_write(request: Request) -> bool:
    return request.method not in {"GET", "OPTIONS"}


def is_read(request: Request) -> bool:
    return request.method == "GET"


@dataclass
class Pair:
    """Two readers, what they did, and for each the page that is loaded anew."""

    talk: Discussion
    rng: random.Random
    readers: list[Reader]
    fresh: dict[str, Page]
    acts: list[str] = field(default_factory=list)

    def note(self, reader: Reader, act: str) -> None:
        self.acts.append(f"{len(self.acts)}. {reader.name} {act}")

    # Acts, by how often they are chosen.

    def post(self, reader: Reader) -> None:
        form = reader.main_form()
        if self.is_open(form):
            self.note(reader, "posts")
            reader.send(form, f"{reader.name} says {len(self.acts)}.")

    def is_open(self, form: Locator) -> bool:
        """Return whether a form is there, and nothing in it is on its way."""
        return form.locator("textarea:not([readonly])").count() > 0

    def begin(self, reader: Reader) -> None:
        """Begin a reply or an edit."""
        act = self.rng.choice(["reply", "reply", "edit"])
        comment = self.some(reader, act)
        if comment and reader.does(comment, act):
            self.note(reader, f"begins to {act} at {comment[-6:]}")

    def finish(self, reader: Reader) -> None:
        """Send what is begun, or begin."""
        form = reader.forms().first
        if not form.count():
            self.begin(reader)
        if self.is_open(form):
            self.note(reader, "sends what is begun")
            reader.send(form, f"{reader.name} writes *{len(self.acts)}*.")

    def some(self, reader: Reader, does: str) -> str:
        """Return a comment that has a button; rather one near the ends than any."""
        found = reader.lines(does)
        return self.rng.choice([*found[:4], *found[-8:]])["id"] if found else ""

    def press(self, reader: Reader) -> None:
        """Press a button of a comment."""
        acts = (
            ["hide", "hide", "approve", "pin", "unpin", "feature"]
            if ROLES[reader.name]
            else ["report"]
        )
        act = self.rng.choice(acts)
        comment = self.some(reader, act)
        if comment and reader.does(comment, act):
            self.note(reader, f"presses {act} at {comment[-6:]}")
            if act == "report":
                form = reader.at(comment, "form.flag")
                reader.rest()
                if form.count():
                    reader.press(form.locator("button.primary"))

    def delete(self, reader: Reader) -> None:
        comment = self.some(reader, "delete")
        if comment and reader.does(comment, "delete"):
            self.note(reader, f"deletes {comment[-6:]}")
            reader.press(reader.at(comment, ".ask button"))

    def mark(self, reader: Reader) -> None:
        """Vote, or react to a comment or to the page."""
        buttons = reader.page.locator(
            "plaza-comments .marks > button:enabled:visible, plaza-comments .opener:visible"
        )
        count = buttons.count()
        if not count:
            return
        at = self.rng.choice([*range(min(count, 8)), *range(max(0, count - 16), count)])
        # An answer on its way may have taken it away meanwhile.
        if reader.press(buttons.nth(at)):
            self.note(reader, f"presses mark {at}")
            choices = reader.page.locator("plaza-comments .choices:visible button")
            if choices.count():
                reader.press(choices.nth(self.rng.randrange(3)))

    def choose(self, reader: Reader) -> None:
        order = self.rng.choice(ORDERS)
        self.note(reader, f"chooses {order}")
        reader.choose(order)

    def more(self, reader: Reader) -> None:
        more = reader.page.locator("plaza-comments .more:not(.earlier):visible")
        if more.count():
            self.note(reader, "presses More")
            reader.press(more)

    def look(self, reader: Reader) -> None:
        self.note(reader, "looks for news")
        # Its time is longer than a call may take.
        reader.rest()
        reader.look()

    def reveal(self, reader: Reader) -> None:
        pill = reader.page.locator("plaza-comments .fresh button:visible")
        if pill.count():
            self.note(reader, f"presses {pill.text_content()}")
            reader.press(pill)

    def act(self, reader: Reader, acts: Acts) -> None:
        self.rng.choices([*acts], [*acts.values()])[0](reader)

    def step(self) -> None:
        """One act of one person, or of both at once, or while an answer is late."""
        self.talk.clock.advance(milliseconds=self.rng.choice([1, 1, 1500]))
        writes: Acts = {self.post: 5, self.finish: 9, self.press: 5, self.delete: 3, self.mark: 6}
        reads: Acts = {self.begin: 3, self.choose: 2, self.more: 2, self.look: 3, self.reveal: 2}
        way = self.rng.random()
        if way < 0.7:
            reader = self.rng.choice(self.readers)
            self.act(reader, writes | reads)
            if self.rng.random() < 0.5:
                reader.rest()
        elif way < 0.85:
            self.at_once(writes)
        else:
            self.late(writes)

    def at_once(self, writes: Acts) -> None:
        """Both press before either answer has come."""
        for reader in self.readers:
            reader.rest()
            reader.hold(is_write)
        for reader in self.readers:
            self.act(reader, writes)
        for reader in self.rng.sample(self.readers, 2):
            self.note(reader, "'s call goes on")
            reader.let_go()
            # The order of two comments of one millisecond is the API's alone.
            reader.rest()
            self.talk.clock.advance(milliseconds=1)

    def late(self, writes: Acts) -> None:
        """Answers come late: to a look, or to what was written before the look."""
        reader, other = self.rng.sample(self.readers, 2)
        reader.rest()
        if self.rng.random() < 0.5:
            reader.hold(is_read, is_answered=True)
            reader.look()
            self.note(reader, "looks, and the answer is late")
        else:
            reader.hold(is_write, is_answered=True)
            self.note(reader, "writes, and the answer is late")
            self.act(reader, writes)
            reader.look()
        self.talk.clock.advance(milliseconds=1)
        self.act(self.rng.choice([reader, other]), writes | {self.choose: 8, self.more: 4})
        self.note(reader, "has the answer")
        reader.let_go()

    # What the pages show.

    def settle(self) -> None:
        """Wait until both pages have looked for news; each shows what is there."""
        for reader in self.readers:
            reader.rest()
            reader.leave_forms()
            reader.leave_field()
        for reader in self.readers:
            reader.rest()
        for reader in self.readers:
            # What votes have moved to pages that are not shown is asked for in turn, ten at a look.
            for _ in range(1 if reader.order in BY_TIME else 3):
                reader.look()
                reader.rest()
            before = reader.shown()
            self.reveal(reader)
            reader.rest()
            difference = self.compare(reader, before)
            if difference:
                said = reader.page.locator("plaza-comments [role=alert], plaza-comments .status")
                lines = [f"{reader.name}'s page:", *difference, *said.all_text_contents()]
                raise AssertionError("\n".join(lines))

    def compare(self, reader: Reader, before: dict[str, Any]) -> list[str]:
        """Return what differs from a page that is loaded anew."""
        first, full = self.anew(reader)
        shown = reader.shown()
        is_by_time = reader.order in BY_TIME
        if not is_by_time:
            # Orders by votes list what is visible; what a moderator hides there stays for them.
            first, full, shown = (visible(each) for each in (first, full, shown))
        ids = set(ids_of(shown))
        there = {**full, "lines": [each for each in full["lines"] if each["id"] in ids]}
        wanted, found = (told(each, in_order=is_by_time) for each in (there, shown))
        diff = difflib.unified_diff(wanted, found, "anew", "shown", lineterm="", n=1)
        # Votes move what is not shown yet across the end of a page.
        needed = ids_of(full) if not shown["more"] else ids_of(first) if is_by_time else []
        # Where comments went from a page, others of the next page have come into it.
        while shown["more"] and needed and needed[-1] not in ids:
            needed = needed[:-1]
        lacks = [f"lacks {each}" for each in needed if each not in ids]
        left = ["the new ones are still told"] if shown["fresh"] else []
        return [*diff, *lacks, *wrongly_told(full, before), *left]

    def anew(self, reader: Reader) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a fresh load shows: its first page, and all."""
        page = self.fresh[reader.name]
        loaded = Reader(reader.name, reader.site, page, self.rng)
        page.goto(f"{reader.site.address}/")
        expect(page.locator("plaza-comments #title")).not_to_be_empty()
        if page.locator("plaza-comments section > header select").input_value() != reader.order:
            loaded.choose(reader.order)
        loaded.rest()
        first = loaded.shown()
        more = page.locator("plaza-comments .more:not(.earlier)")
        while more.is_visible():
            more.click()
            loaded.rest()
        return first, loaded.shown()


def visible(shown: dict[str, Any]) -> dict[str, Any]:
    """Return what a page shows, without comments that are hidden or wait."""
    return {
        **shown,
        "lines": [each for each in shown["lines"] if each["state"] in {"visible", "gone"}],
    }


def wrongly_told(full: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """Return a line if a page told of another number of new comments than it lacked.

    A page that has not been asked for all may tell of fewer: comments that went make up for them.
    """
    shown = set(ids_of(before))
    lacked = [each for each in full["lines"] if each["author"] and each["id"] not in shown]
    count = int((before["fresh"] or "0").split()[0])
    if count == len(lacked) or (before["more"] and count < len(lacked)):
        return []
    return [f"{count} were told as new, {len(lacked)} were lacking"]


def prepare(page: Page) -> None:
    with_clock(page)
    count_calls(page)


@pytest.fixture
def pair(
    client: Client, clock: Clock, address: str, open_page: OpenPage
) -> Iterator[Callable[[int], Pair]]:
    """Makes a pair by a seed."""
    with discussing(client, clock, address) as talk:

        def made(seed: int) -> Pair:
            rng = random.Random(seed)
            for number in range(COMMENTS):
                clock.advance(seconds=1)
                talk.posted(f"Comment {number}.", by=("ann", "ben")[number % 2])
            readers, fresh = [], {}
            for name, roles in ROLES.items():
                site = talk.site_of(name, roles=roles)
                page = open_page(site, before=prepare, may_log=FAILED)
                readers.append(Reader(name, site, page, rng))
                fresh[name] = open_page(site, before=count_calls, may_log=FAILED)
                expect(page.locator("plaza-comments #title")).not_to_be_empty()
            return Pair(talk, rng, readers, fresh)

        yield made


def run(pair: Pair, steps: int, seconds: float) -> str:
    """Act until the steps or the seconds are over; return what went wrong, with the last acts."""
    end = time.monotonic() + seconds
    step = 0
    try:
        while step < steps or time.monotonic() < end:
            pair.step()
            step += 1
            if step % STEPS_BETWEEN_RESTS == 0:
                pair.settle()
    except (AssertionError, Error) as error:
        return "\n".join([f"step {step}", *pair.acts[-30:], str(error)])
    return ""


def test_pages_of_two_people_show_what_is_there_whenever_they_rest(
    pair: Callable[[int], Pair],
) -> None:
    seed = int(os.environ.get("PLAZA_TEST_PAIR_SEED", random.randrange(10**6) if SECONDS else SEED))
    wrong = run(pair(seed), STEPS, SECONDS)
    if wrong:
        pytest.fail(f"PLAZA_TEST_PAIR_SEED={seed}, {wrong}", pytrace=False)

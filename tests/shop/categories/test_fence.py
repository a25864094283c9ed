"""Changes of one tree at once: one after the other, whatever they have read."""

import random
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from chalicelib.errors import Problem
from chalicelib.runtime import Runtime
from chalicelib.shop.categories import changes, siblings
from chalicelib.shop.categories.forms import Move
from tests.shop.support.trees import NAMES, Grove

ADDERS, MOVERS, TURNS = 3, 3, 6
# How long one change waits for the other, which it makes wait where the fence is.
PATIENCE_SECONDS = 0.5


@pytest.fixture(params=NAMES)
def grove(request: pytest.FixtureRequest, runtime: Runtime) -> Iterator[Grove]:
    grove = Grove(runtime, request.param)
    grove.plant("a", "a/b", "c", "d", "d/e")
    yield grove
    assert grove.faults() == []


def move(grove: Grove, name: str, parent: str | None) -> None:
    changes.move(grove.runtime, grove.site, name, Move(parent=parent))


class Pause:
    """Stops one thread's change after it has read, until another change is done or waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
        self.has_read, self.is_over = threading.Event(), threading.Event()
        self._paused = threading.local()
        original = getattr(siblings, function)

        def paused(*given: Any) -> Any:
            if getattr(self._paused, "is_mine", False) and not self.has_read.is_set():
                self.has_read.set()
                self.is_over.wait(PATIENCE_SECONDS)
            return original(*given)

        monkeypatch.setattr(siblings, function, paused)

    def around(self, paused: Callable[[], object], other: Callable[[], object]) -> None:
        """Run `other` while `paused` has read what it needs and written none of it."""

        def run() -> None:
            self._paused.is_mine = True
            paused()

        thread = threading.Thread(target=run)
        thread.start()
        assert self.has_read.wait(10)
        other()
        self.is_over.set()
        thread.join(30)


def ignoring(call: Callable[[], object]) -> Callable[[], None]:
    """Return the call without its refusal, which is one of its right ends."""

    def ignored() -> None:
        try:
            call()
        except Problem:
            return

    return ignored


def test_a_category_is_added_where_its_parent_is_moved_meanwhile(
    grove: Grove, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the fence it is stored below what was above its parent before."""
    Pause(monkeypatch, "check_slug").around(
        lambda: grove.add("new", "b"), lambda: move(grove, "a", "e")
    )

    assert grove.breadcrumb("new") == ["d", "e", "a", "b"]


def test_two_categories_are_not_moved_below_each_other(
    grove: Grove, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the fence each is below the other, and nobody finds them again."""
    Pause(monkeypatch, "place").around(
        ignoring(lambda: move(grove, "a", "d")), ignoring(lambda: move(grove, "d", "b"))
    )

    assert len(grove.lines()) == 5


def test_two_siblings_do_not_get_one_slug(grove: Grove, monkeypatch: pytest.MonkeyPatch) -> None:
    Pause(monkeypatch, "end").around(
        ignoring(lambda: grove.add("x", "c", slug="same")),
        ignoring(lambda: grove.add("y", "c", slug="same")),
    )

    assert len(grove.below("c")) == 1


def test_many_add_and_move_at_once(grove: Grove) -> None:
    def add(number: int) -> None:
        rng = random.Random(number)
        for turn in range(TURNS):
            name, parent = f"n{number}-{turn}", rng.choice("abcde")
            ignoring(partial(grove.add, name, parent))()

    def shuffle(number: int) -> None:
        rng = random.Random(-1 - number)
        for _ in range(TURNS):
            name, parent = rng.sample("abcde", 2)
            ignoring(partial(move, grove, name, parent))()

    work = [(add, number) for number in range(ADDERS)]
    work += [(shuffle, number) for number in range(MOVERS)]
    threads = [threading.Thread(target=each, args=(number,)) for each, number in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(grove.lines()) == 5 + ADDERS * TURNS

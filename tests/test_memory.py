"""What a container remembers, and for how long."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.memory import MOST_REMEMBERED, Memory, remember
from chalicelib.runtime import Runtime
from tests.support.clock import Clock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIFETIME = timedelta(seconds=5)


def recall(memory: Memory, key: str, at: datetime, value: int) -> int:
    return memory.recall(key, at, LIFETIME, lambda: value)


def test_a_value_is_read_again_once_its_time_is_over() -> None:
    memory = Memory()
    assert recall(memory, "a", NOON, 1) == 1

    assert recall(memory, "a", NOON + LIFETIME - timedelta.resolution, 2) == 1
    assert recall(memory, "a", NOON + LIFETIME, 2) == 2


def test_a_value_is_read_again_after_the_clock_was_set_back() -> None:
    memory = Memory()
    recall(memory, "a", NOON, 1)

    assert recall(memory, "a", NOON - LIFETIME, 2) == 2


def test_a_value_that_was_forgotten_is_read_again() -> None:
    memory = Memory()
    recall(memory, "a", NOON, 1)
    memory.forget("a")

    assert recall(memory, "a", NOON, 2) == 2


def test_so_many_values_are_remembered_and_no_more() -> None:
    memory = Memory()
    for number in range(MOST_REMEMBERED):
        recall(memory, str(number), NOON, number)
    assert recall(memory, "0", NOON, -1) == 0

    recall(memory, "one more", NOON, 1)

    assert recall(memory, "1", NOON, -1) == 1
    assert recall(memory, "0", NOON, -1) == -1


def test_a_stranger_who_fills_the_memory_pushes_out_what_was_read_longest_ago() -> None:
    memory = Memory()
    recall(memory, "site", NOON, 1)
    for number in range(MOST_REMEMBERED - 1):
        recall(memory, str(number), NOON, number)
    recall(memory, "site", NOON + LIFETIME, 2)

    for number in range(MOST_REMEMBERED - 1):
        recall(memory, f"junk {number}", NOON + LIFETIME, number)

    assert recall(memory, "site", NOON + LIFETIME, 3) == 2


def test_a_remembered_read_is_made_anew_after_its_lifetime_or_a_change(
    runtime: Runtime, clock: Clock
) -> None:
    made: list[str] = []

    @remember(seconds=5)
    def read(_runtime: Runtime, site: str) -> int:
        made.append(site)
        return len(made)

    assert [read(runtime, "a"), read(runtime, "b"), read(runtime, "a")] == [1, 2, 1]
    clock.advance(seconds=4.999)
    assert read(runtime, "a") == 1
    read.forget(runtime, "a")
    assert [read(runtime, "a"), read(runtime, "b")] == [3, 2]
    clock.advance(seconds=0.001)
    assert [read(runtime, "a"), read(runtime, "b")] == [3, 4]


def test_remembered_reads_and_runtimes_share_nothing(runtime: Runtime) -> None:
    other = dataclasses.replace(runtime, memory=Memory())

    @remember(seconds=5)
    def first(given: Runtime, _site: str) -> object:
        return [given]

    @remember(seconds=5)
    def second(given: Runtime, _site: str) -> object:
        return [given, given]

    found = [each(given, "a") for each in (first, second) for given in (runtime, other)]

    assert found == [[runtime], [other], [runtime] * 2, [other] * 2]
    assert found[0] is not found[1]
    assert found[0] is first(runtime, "a")


def test_a_read_that_fails_is_not_remembered(runtime: Runtime) -> None:
    known: dict[str, str] = {}

    @remember(seconds=5)
    def read(_runtime: Runtime, site: str) -> str:
        return known[site]

    with pytest.raises(KeyError):
        read(runtime, "a")
    known["a"] = "here"
    assert read(runtime, "a") == "here"

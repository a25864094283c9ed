"""What a container remembers, and for how long."""

from datetime import UTC, datetime, timedelta

from chalicelib.memory import MOST_REMEMBERED, Memory

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

"""The comparison of a discussion in another system with the one that came over."""

from typing import Any

import pytest

from contract.beside.facts import NAMES, Fact, compare, facts_of, milliseconds
from contract.beside.talk import discussion

FACT = Fact(1_000, None, "Ann", "words", "visible", 2, 1, edited=False)
ANSWER = FACT._replace(posted=2_000, parent=1_000)


def told(there: list[Fact], here: list[Fact]) -> dict[str, list[str]]:
    """Return what differs, by its name."""
    rows = {row.name: row for row in compare(there, here)}
    assert list(rows) == ["comments", "order", *NAMES]
    return {name: list(row.different) for name, row in rows.items() if row.different}


def test_a_discussion_is_the_same_for_a_seed_and_has_every_fate() -> None:
    talk = discussion(1_000, 1)

    assert talk == discussion(1_000, 1) != discussion(1_000, 2)
    assert all(each.parent is None or each.parent < each.number for each in talk)
    assert {each.fate for each in talk} == {"visible", "pending", "spam", "edited", "deleted"}
    assert len({each.text for each in talk}) == 1_000
    depths: dict[int | None, int] = {None: 0}
    for each in talk:
        depths[each.number] = depths[each.parent] + 1
    assert max(depths.values()) > 10


def test_the_same_facts_differ_in_nothing() -> None:
    assert told([FACT, ANSWER], [FACT, ANSWER]) == {}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"parent": None}, "parent"),
        ({"author": "Ben"}, "author"),
        ({"text": "word"}, "text"),
        ({"state": "pending"}, "state"),
        ({"up": 3}, "up"),
        ({"down": 0}, "down"),
        ({"edited": True}, "edited"),
    ],
)
def test_each_fact_that_differs_is_told(change: dict[str, Any], name: str) -> None:
    (line,) = told([FACT, ANSWER], [FACT, ANSWER._replace(**change)]).values()

    assert len(line) == 1
    assert line[0].startswith("2000: ")
    assert list(told([FACT, ANSWER], [FACT, ANSWER._replace(**change)])) == [name]


def test_missing_further_and_moved_comments_are_told() -> None:
    assert told([FACT, ANSWER], [FACT]) == {"comments": ["2000"]}
    assert told([FACT], [FACT, ANSWER]) == {"comments": ["2000"]}
    assert list(told([FACT, ANSWER], [ANSWER, FACT])) == ["order"]


def test_a_root_that_became_an_answer_is_told() -> None:
    other = FACT._replace(posted=3_000)

    assert list(told([FACT, other], [FACT, other._replace(parent=1_000)])) == ["parent"]


def test_what_a_system_does_not_keep_is_not_compared() -> None:
    assert told([FACT._replace(edited=None)], [FACT._replace(edited=True)]) == {}


def test_lines_of_an_export_are_facts_without_what_nobody_sees() -> None:
    line: dict[str, Any] = {
        "kind": "comment",
        "id": "a",
        "parent": None,
        "posted": "2026-11-26T20:00:00.001Z",
        "edited": None,
        "author": {"id": "i_1", "name": "Ann"},
        "text": "words",
        "state": "visible",
        "up": 2,
        "down": 1,
    }
    time = milliseconds("2026-11-26T20:00:00.001Z")
    gone = {**line, "id": "b", "state": "removed", "author": None, "text": ""}
    grave = {**line, "id": "c", "state": "deleted", "author": None, "text": "", "parent": "a"}
    deep = {**line, "id": "d", "parent": "a", "reply_to": "c", "edited": line["posted"]}
    lines = [{"kind": "export"}, line, gone, grave, deep, {"kind": "end"}]

    found = list(facts_of(lines))

    assert found == [
        Fact(time, None, "Ann", "words", "visible", 2, 1, edited=False),
        Fact(time, time, None, None, "deleted", 2, 1, edited=False),
        Fact(time, time, "Ann", "words", "visible", 2, 1, edited=True),
    ]

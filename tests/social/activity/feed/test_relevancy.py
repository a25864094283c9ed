"""What ties a reader to an event, and how far each tie sets it back."""

import itertools
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.settings import Settings
from chalicelib.social.activity.actions.events import Event
from chalicelib.social.activity.feed.relevancy import Penalties, Tie, nearest_tie, score
from chalicelib.social.activity.org.people import NOWHERE, OPEN
from chalicelib.social.activity.org.places import PersonOverTime
from tests.support.clock import START

NOON = START
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
PENALTIES = Penalties.of(Settings())


def place(since: datetime, until: datetime, **org: Any) -> Any:
    return {"since": since, "until": until, **NOWHERE, **org}


def person(name: str, since: datetime = NOON - DAY, **org: Any) -> PersonOverTime:
    return PersonOverTime(name, [place(since, OPEN, **org)])


def tie(reader: PersonOverTime, by: PersonOverTime, *refs: str) -> Tie:
    return nearest_tie(reader, Event(by.id, NOON), by, frozenset(refs))


def ranked(reader: PersonOverTime, *events: Event) -> datetime | None:
    """Return where some events, by Ann and by Bob of the red team, put an action."""
    people = {"ann": person("ann"), "bob": person("bob", team="red")}
    scores = (score(reader, each, people[each.by], frozenset(), PENALTIES) for each in events)
    return max((each for each in scores if each is not None), default=None)


def test_the_table_that_is_set_by_default() -> None:
    assert Penalties(MINUTE, 10 * MINUTE, HOUR, DAY) == PENALTIES


def test_the_table_is_a_setting() -> None:
    table = {"CLOSE": "1", "TEAM": "2", "DEPARTMENT": "3", "NO_TIE": "4"}
    variables = {f"PLAZA_PENALTY_{tie}_SECONDS": seconds for tie, seconds in table.items()}
    one, two, three, four = (timedelta(seconds=number) for number in (1, 2, 3, 4))
    assert Penalties.of(Settings.from_environment(variables)) == Penalties(one, two, three, four)


def test_one_is_tied_to_oneself() -> None:
    assert tie(person("ann"), person("ann")) is Tie.SELF


def test_one_who_is_among_the_refs_is_as_near_as_the_person() -> None:
    assert tie(person("ann"), person("bob"), "mary", "ann") is Tie.SELF


def test_one_who_is_assigned_to_a_ref_is_close() -> None:
    reader = person("ann", assigned=["mary", "paul"])
    assert tie(reader, person("bob"), "job", "paul") is Tie.CLOSE
    assert tie(reader, person("bob"), "job") is Tie.NONE


def test_the_persons_own_assignment_binds_nobody_else() -> None:
    assert tie(person("ann"), person("bob", assigned=["mary"]), "mary") is Tie.NONE


def test_a_manager_and_a_report_are_close_in_both_directions() -> None:
    report, manager = person("ann", manager="bob"), person("bob")
    assert tie(report, manager) is Tie.CLOSE
    assert tie(manager, report) is Tie.CLOSE


def test_those_with_the_same_manager_are_not_close() -> None:
    assert tie(person("ann", manager="cy"), person("bob", manager="cy")) is Tie.NONE


def test_a_team_and_a_department_are_ties() -> None:
    assert tie(person("ann", team="red"), person("bob", team="red")) is Tie.TEAM
    colleague = person("bob", department="hr")
    assert tie(person("ann", department="hr"), colleague) is Tie.DEPARTMENT


def test_to_have_no_team_and_no_department_is_no_tie() -> None:
    assert tie(person("ann"), person("bob")) is Tie.NONE
    assert tie(PersonOverTime("ann"), PersonOverTime("bob")) is Tie.NONE


def test_a_team_is_no_department_of_the_same_name() -> None:
    assert tie(person("ann", team="red"), person("bob", department="red")) is Tie.NONE


TIES: list[tuple[Tie, dict[str, Any], dict[str, Any], list[str]]] = [
    (Tie.SELF, {}, {}, ["ann"]),
    (Tie.CLOSE, {"assigned": ["mary"]}, {}, ["mary"]),
    (Tie.CLOSE, {"manager": "bob"}, {}, []),
    (Tie.CLOSE, {}, {"manager": "ann"}, []),
    (Tie.TEAM, {"team": "red"}, {"team": "red"}, []),
    (Tie.DEPARTMENT, {"department": "hr"}, {"department": "hr"}, []),
]


@pytest.mark.parametrize("chosen", list(itertools.product([False, True], repeat=len(TIES))))
def test_of_several_ties_the_nearest_counts(chosen: tuple[bool, ...]) -> None:
    held = [each for each, is_held in zip(TIES, chosen, strict=True) if is_held]
    mine: dict[str, Any] = {}
    theirs: dict[str, Any] = {}
    refs: list[str] = []
    for _, reader, by, about in held:
        mine, theirs, refs = mine | reader, theirs | by, refs + about
    nearest = min((each[0] for each in held), key=list(Tie).index, default=Tie.NONE)
    assert tie(person("ann", **mine), person("bob", **theirs), *refs) is nearest


@pytest.mark.parametrize(
    ("reader", "penalty"),
    [
        (person("bob"), timedelta()),
        (person("eve", manager="bob"), MINUTE),
        (person("eve", team="red"), 10 * MINUTE),
        (person("eve"), DAY),
    ],
)
def test_a_tie_sets_the_conducting_back(reader: PersonOverTime, penalty: timedelta) -> None:
    assert ranked(reader, Event("bob", NOON, conducting=True)) == NOON - penalty


def test_a_later_event_without_a_tie_does_not_count() -> None:
    conducting, comment = Event("ann", NOON, conducting=True), Event("ann", NOON + 9 * DAY)
    assert ranked(person("eve"), conducting, comment) == NOON - DAY
    assert ranked(person("eve"), comment) is None


def test_the_greatest_score_counts_whatever_the_order() -> None:
    reader = person("eve", team="red")
    events = [
        Event("ann", NOON, conducting=True),
        Event("bob", NOON + HOUR),
        Event("ann", NOON + 3 * HOUR),
        Event("bob", NOON + 2 * HOUR),
    ]
    for shuffled in itertools.permutations(events):
        assert ranked(reader, *shuffled) == NOON + 2 * HOUR - 10 * MINUTE


def test_an_older_event_that_is_nearer_may_count_more_than_a_newer_one() -> None:
    reader = person("eve", team="red", manager="ann")
    close, in_team = Event("ann", NOON), Event("bob", NOON + 5 * MINUTE)
    assert ranked(reader, close, in_team) == NOON - MINUTE


def test_events_of_one_time_count_by_the_nearest_tie() -> None:
    reader = person("eve", team="red", manager="ann")
    assert ranked(reader, Event("bob", NOON), Event("ann", NOON)) == NOON - MINUTE


def test_ties_are_those_of_the_time_of_the_event() -> None:
    old = place(NOON - DAY, NOON, team="red")
    new = place(NOON, OPEN, team="blue")
    mover, red = PersonOverTime("ann", [old, new]), person("bob", team="red")
    just_before = NOON - timedelta(milliseconds=1)
    assert nearest_tie(mover, Event("bob", just_before), red, frozenset()) is Tie.TEAM
    assert nearest_tie(mover, Event("bob", NOON), red, frozenset()) is Tie.NONE
    assert nearest_tie(red, Event("ann", just_before), mover, frozenset()) is Tie.TEAM
    assert nearest_tie(red, Event("ann", NOON), mover, frozenset()) is Tie.NONE


def test_before_ones_first_place_there_are_no_ties() -> None:
    reader, by = person("ann", since=NOON, team="red"), person("bob", team="red")
    earlier = Event("bob", NOON - timedelta(milliseconds=1))
    assert nearest_tie(reader, earlier, by, frozenset()) is Tie.NONE

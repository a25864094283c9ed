"""The rules of changing a mark, and the stage of an update that follows them."""

from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.marks.changes import (
    NO_FLAG,
    Change,
    Delta,
    Flag,
    React,
    Vote,
    apply,
    delta,
    stage,
)
from chalicelib.marks.errors import TooManyReactions
from chalicelib.marks.shapes import NOTHING, Mark, State, wanted_of
from chalicelib.runtime import Runtime

VALUES: Any = st.sampled_from([-1, 0, 1])
SHADOWED = st.sampled_from([None, True, False])
FLAGS = st.builds(
    Flag,
    st.just("spam"),
    st.sampled_from(["", "$at"]),
    st.sampled_from([0, 50]),
    st.just({}),
    st.booleans(),
    revision=st.sampled_from([0, 1]),
)
CHANGES: Any = st.one_of(
    st.builds(Vote, VALUES, SHADOWED),
    st.builds(React, st.sampled_from("abcdefg"), st.booleans(), SHADOWED),
    FLAGS,
    st.just(NO_FLAG),
)


def test_a_sum_of_changes_counts_each_side_once() -> None:
    pairs = [
        (NOTHING, State(1, ("a",))),
        (State(1), State(-1, ("a", "b"))),
        (State(0, ("b",)), NOTHING),
    ]
    assert delta(pairs) == Delta(0, 1, (("a", 2),), 3)
    assert delta([(State(1, ("a", "b")), State(1, ("b", "a")))]).is_nothing


# A change, or a moderator's decision on a revision of the text.
@given(st.lists(st.one_of(CHANGES, FLAGS, st.sampled_from([0, 1])), max_size=12))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_server_changes_a_mark_as_the_rule_does(
    runtime: Runtime, made: list[Change | int]
) -> None:
    rows = runtime.database["test.changed"]
    rows.replace_one({"_id": 1}, {"vote": 0, "reactions": []}, upsert=True)
    state = NOTHING
    for change in made:
        if isinstance(change, int):
            decided = {"flag.outcome": "wrong", "flag.revision": change}
            rows.update_one({"flag": {"$exists": True}}, {"$set": decided})
            state = wanted_of(cast("Mark", rows.find_one({"_id": 1})))
            continue
        rows.update_one({"_id": 1}, [stage(change, "$ann", runtime.now())])
        try:
            state = apply(state, change)
        except TooManyReactions:
            assert len(state.reactions) == 5
        found: Any = rows.find_one({"_id": 1})
        assert (wanted_of(found), found["user_id"]) == (state, "$ann")
    runtime.database.drop_collection("test.changed")


def test_a_flag_that_was_decided_on_stays_until_the_text_is_another() -> None:
    decided = State(is_settled=True, revision=7)
    again = Flag("spam", "", 100, {}, revision=7)

    assert apply(decided, again) == apply(decided, NO_FLAG._replace(revision=7)) == decided
    later = apply(decided, again._replace(revision=8))
    assert (later.flag, later.is_heard, later.is_settled) == (100, True, False)


def test_flags_of_the_last_release_were_decided_on_no_known_text() -> None:
    decided = State(is_settled=True, revision=None)

    assert apply(decided, Flag("spam", "", 100, {})).flag == 100

"""Random changes of a tree, in every store, beside a plain dict that does the same."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.errors import Problem
from chalicelib.runtime import Runtime
from chalicelib.shop.categories.rows import StoreName
from tests.shop.support.tree_model import Model, take_in_model
from tests.shop.support.trees import NAMES, Grove, take

CATEGORIES = "abcdef"
SITES = itertools.count()

name = st.sampled_from(CATEGORIES)
parent = st.none() | name
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), name, parent),
        st.tuples(st.just("move"), name, parent, st.none() | st.integers(0, 4)),
        st.tuples(st.just("remove"), name, st.booleans()),
        st.tuples(st.just("store"), st.sampled_from(NAMES)),
    ),
    min_size=8,
    max_size=25,
)


def outcome(call: Callable[[], Any]) -> type[Problem] | None:
    """Return the problem that a change ends with, or None."""
    try:
        call()
    except Problem as problem:
        return type(problem)
    return None


@pytest.mark.parametrize("store", NAMES)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_a_tree_is_what_its_changes_make_of_a_dict(
    runtime: Runtime, store: StoreName, steps: list[tuple[Any, ...]]
) -> None:
    grove, model = Grove(runtime, store, f"grove-{next(SITES)}"), Model()
    for step in steps:
        expected = outcome(lambda step=step: take_in_model(model, step))  # type: ignore[misc]
        assert outcome(lambda step=step: take(grove, step)) == expected  # type: ignore[misc]
    assert grove.lines() == model.lines()
    assert grove.faults() == []

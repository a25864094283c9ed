"""Random changes of a tree, in every store, beside a plain dict that does the same."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.errors import Problem
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import (
    CategoryCycle,
    CategoryNotEmpty,
    CategoryTooDeep,
    UnknownCategory,
)
from chalicelib.shop.tree import changes, copies
from chalicelib.shop.tree.models import Move
from chalicelib.shop.trees.rows import MAX_DEPTH, StoreName
from tests.shop.support.trees import NAMES, Grove

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


class Model:
    """The tree as children by parent."""

    def __init__(self) -> None:
        self.children: dict[str | None, list[str]] = {None: []}

    def above(self, name: str) -> list[str]:
        """Return what is above a name, nearest first."""
        found: list[str] = []
        at = self.parent(name)
        while at is not None:
            found.append(at)
            at = self.parent(at)
        return found

    def parent(self, name: str) -> str | None:
        return next(each for each, names in self.children.items() if name in names)

    def height(self, name: str) -> int:
        return 1 + max(map(self.height, self.children[name]), default=0)

    def add(self, name: str, parent: str | None) -> None:
        if name in self.children:
            if self.parent(name) != parent:
                self.move(name, parent, None)
            return
        if parent not in self.children:
            raise UnknownCategory
        self.children[parent].append(name)
        self.children[name] = []

    def move(self, name: str, parent: str | None, position: int | None) -> None:
        if name not in self.children or parent not in self.children:
            raise UnknownCategory
        if parent is not None:
            line = [parent, *self.above(parent)]
            if name in line:
                raise CategoryCycle
            if len(line) + self.height(name) > MAX_DEPTH:
                raise CategoryTooDeep
        self.children[self.parent(name)].remove(name)
        beside = self.children[parent]
        beside.insert(len(beside) if position is None else position, name)

    def remove(self, name: str, lifts: bool) -> None:  # noqa: FBT001 - drawn
        if name not in self.children:
            raise UnknownCategory
        if self.children[name] and not lifts:
            raise CategoryNotEmpty
        parent = self.parent(name)
        self.children[parent] += self.children.pop(name)
        self.children[parent].remove(name)

    def lines(self, parent: str | None = None, line: str = "") -> list[str]:
        found: list[str] = []
        for each in self.children[parent]:
            path = f"{line}/{each}".removeprefix("/")
            found += [path, *self.lines(each, path)]
        return found


def outcome(call: Callable[[], Any]) -> type[Problem] | None:
    """Return the problem that a change ends with, or None."""
    try:
        call()
    except Problem as problem:
        return type(problem)
    return None


def take(grove: Grove, step: tuple[Any, ...]) -> None:
    """Take a step in the shop's tree."""
    runtime, site = grove.runtime, grove.site
    match step:
        case ("add", name, parent):
            grove.add(name, parent)
        case ("move", name, parent, position):
            changes.move(runtime, site, name, Move(parent=parent, position=position))
        case ("remove", name, lifts):
            changes.remove(runtime, site, name, lifts=lifts)
        case ("store", store):
            copies.store_in(runtime.database, site, store)
            grove.store = store


def take_in_model(model: Model, step: tuple[Any, ...]) -> None:
    """Take the same step in the dict; a store changes nothing there."""
    kind, *given = step
    if kind != "store":
        getattr(model, kind)(*given)


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

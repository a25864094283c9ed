"""A tree as a plain dict, which takes the same changes and refuses the same."""

from typing import Any

from chalicelib.shop.categories.rows import MAX_DEPTH
from chalicelib.shop.errors import CategoryCycle, CategoryNotEmpty, CategoryTooDeep, UnknownCategory


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


def take_in_model(model: Model, step: tuple[Any, ...]) -> None:
    """Take the same step in the dict; a store changes nothing there."""
    kind, *given = step
    if kind != "store":
        getattr(model, kind)(*given)

"""The contract of counting marks; `direct` and `folded` are its two designs.

Both keep one invariant at every commit: a thing's counts are the sum of its marks' `counted`
parts. So each design may follow the other, and a thing can change its design at any moment.
"""

from typing import Any, NamedTuple, Protocol

from chalicelib.marks.changes import Change
from chalicelib.marks.shapes import State, Thing
from chalicelib.runtime import Runtime


class Marked(NamedTuple):
    """A person's present state on a thing, and the thing's counter."""

    mine: State
    counter: Any


class Design(Protocol):
    """A way of storing a mark and counting it."""

    def place(self, runtime: Runtime, thing: Thing, user_id: str, change: Change) -> Marked:
        """Store a person's change of a mark on a thing, and have it counted.

        A repeat changes nothing. Raises TooManyReactions, and the kind's own problem for a missing
        thing.
        """
        ...

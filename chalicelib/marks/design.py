"""The contract of counting marks; `direct` and `folded` are its two designs.

Both keep one invariant at every commit: a thing's counts are the sum of what its marks say to
have been `counted`. So each is right whatever the other has done before, and a thing can change
its design at any moment.
"""

from typing import Any, NamedTuple, Protocol

from chalicelib.marks.changes import Change
from chalicelib.marks.shapes import State, Thing
from chalicelib.runtime import Runtime


class Marked(NamedTuple):
    """What a person says to a thing now, and the thing's counter."""

    mine: State
    counter: Any


class Design(Protocol):
    """A way of storing a mark and counting it."""

    def place(self, runtime: Runtime, thing: Thing, user_id: str, change: Change) -> Marked:
        """Store what a person says to a thing, and see to its counting.

        Placing it again changes nothing. Raises TooManyReactions, and the kind's own problem for
        a thing that has gone.
        """
        ...

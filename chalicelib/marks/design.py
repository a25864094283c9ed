"""The contract for counting marks; `direct` and `folded` are its two designs.

At every commit of either design, a thing's counts are the sum of its marks' `counted` parts. So a
thing can change its design at any moment.
"""

from typing import Any, NamedTuple, Protocol

from chalicelib.marks.changes import Change
from chalicelib.marks.shapes import State, Thing
from chalicelib.runtime import Runtime


class Marked(NamedTuple):
    """A person's new state on a thing, and the thing's counter.

    `direct` returns the counter after a change of its counts. `folded`, and `direct` without such a
    change, return the counter that the caller read.
    """

    mine: State
    counter: Any


class Design(Protocol):
    """A way of storing a mark and counting it."""

    def place(self, runtime: Runtime, thing: Thing, user_id: str, change: Change) -> Marked:
        """Store a person's change of a mark, and count it now or have a worker count it.

        A repeat changes no count. Raises TooManyReactions. `direct` raises the kind's problem for a
        missing thing; `folded` does not, and its worker deletes the mark.
        """
        ...

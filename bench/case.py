"""What is measured: one operation of Plaza, at one size and through one door, beside its floor."""

from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]


def nothing() -> None:
    """Make nothing ready."""


@dataclass(frozen=True)
class Case:
    """An operation and its floor: the same reads and writes, sent by the driver alone.

    `store` names the design that is compared with others, `size` how many of `unit` there
    are around the operation, `items` what one call of it handles. `door` says how it is
    called: as a "function", as the "app" is by Lambda, or by "HTTP" over so many connections.
    What `prepare` and `prepare_floor` do before each call is not timed. The two bars are
    multiples: of the floor's time, and of the same operation's at its smallest size.
    """

    operation: str
    work: Work
    floor: Work | None = None
    floor_is: str = "the same reads"
    store: str = ""
    size: int = 1
    unit: str = ""
    door: str = "app"
    connections: int = 1
    items: int = 1
    samples_at_most: int = 1_000
    prepare: Work = nothing
    prepare_floor: Work = nothing
    ratio_at_most: float | None = None
    growth_at_most: float | None = None

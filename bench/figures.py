"""Figures of a run as stored in a file, and their growth and bars."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass as checked


@checked(frozen=True)
class Round:
    """The medians of one round, in milliseconds.

    `ratio` is the median of the calls' ratios, each to the floor's call beside it; none where
    calls were not made in pairs.
    """

    p50_ms: float
    floor_p50_ms: float | None
    ratio: float | None = None

    @property
    def times_floor(self) -> float | None:
        """Return how many times the floor's time a call took; none without a floor."""
        return self.ratio or (self.p50_ms / self.floor_p50_ms if self.floor_p50_ms else None)


@checked(frozen=True)
class Figure:
    """One case, measured: medians and 99th percentiles over all rounds, in milliseconds.

    The rates are items a second. `round_trips` counts the requests that MongoDB receives for
    one call. `commands` are those of one call by name, collection and shape, with their numbers.
    `answer_bytes` is the length of the answer's body. `rounds` holds what each round found, for
    the spread.
    """

    part: str
    operation: str
    store: str
    size: int
    unit: str
    door: str
    floor_is: str
    samples: int
    p50_ms: float
    p99_ms: float
    floor_p50_ms: float | None
    floor_p99_ms: float | None
    per_second: float
    floor_per_second: float | None
    round_trips: int
    floor_round_trips: int | None
    rounds: list[Round]
    ratio_at_most: float | None
    growth_at_most: float | None
    commands: dict[str, int] = field(default_factory=dict)
    floor_commands: dict[str, int] = field(default_factory=dict)
    answer_bytes: int = 0

    @property
    def ratios(self) -> list[float]:
        """Return each round's ratio to the floor; none without a floor."""
        return [each.times_floor for each in self.rounds if each.times_floor]

    @property
    def ratio(self) -> float | None:
        """Return the median of the rounds' ratios."""
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def series(self) -> tuple[str, ...]:
        """Return the key that figures share if they differ only in size."""
        return (self.part, self.operation, self.store, self.door, self.unit, self.floor_is)

    @property
    def name(self) -> str:
        """Return what was measured, in words."""
        size = f"{self.size:,} {self.unit}" if self.unit else ""
        return ", ".join(filter(None, (self.operation, self.store, size, self.door)))


@checked(frozen=True)
class Run:
    """One run of the bench: where, when and of what commit, and its figures."""

    started: str
    commit: str
    is_quick: bool
    seconds: float
    machine: dict[str, str]
    figures: list[Figure]


_RUN = TypeAdapter(Run)


def save(run: Run, file: Path) -> None:
    """Write a run to a file, as JSON."""
    file.write_bytes(_RUN.dump_json(run, indent=2) + b"\n")


def load(file: Path) -> Run:
    """Read a run from a file; raises pydantic's ValidationError and OSError."""
    return _RUN.validate_json(file.read_bytes())


@dataclass(frozen=True)
class Growth:
    """What an operation costs from its smallest size to its largest.

    `factors` holds each round's cost at the largest size, in multiples of the smallest's.
    """

    figures: list[Figure]

    @property
    def factors(self) -> list[float]:
        """Return the factor of each round."""
        rounds = zip(self.figures[0].rounds, self.figures[-1].rounds, strict=False)
        return [last.p50_ms / first.p50_ms for first, last in rounds]

    @property
    def factor(self) -> float:
        """Return the median of the rounds' factors."""
        return statistics.median(self.factors)

    @property
    def floor_factor(self) -> float | None:
        """Return how the floor grew, where there is one."""
        first, last = self.figures[0].floor_p50_ms, self.figures[-1].floor_p50_ms
        return last / first if first and last else None


def growths(figures: Iterable[Figure]) -> list[Growth]:
    """Return each series of an operation that was measured at two sizes or more."""
    series: dict[tuple[str, ...], list[Figure]] = {}
    for figure in figures:
        series.setdefault(figure.series, []).append(figure)
    sorted_by_size = [sorted(each, key=lambda figure: figure.size) for each in series.values()]
    return [Growth(each) for each in sorted_by_size if len(each) > 1]


@dataclass(frozen=True)
class Bar:
    """A promise about a figure, and what was found in the rounds."""

    name: str
    at_most: float
    found: Sequence[float]

    @property
    def median(self) -> float:
        """Return what counts."""
        return statistics.median(self.found)

    @property
    def is_met(self) -> bool:
        """Return whether the promise is kept."""
        return self.median <= self.at_most


def bars(run: Run) -> list[Bar]:
    """Return every bar of the run; one of growth is there if both of its ends are."""
    of_ratios = [
        Bar(
            f"{figure.part}: {figure.name} / {figure.floor_is}", figure.ratio_at_most, figure.ratios
        )
        for figure in run.figures
        if figure.ratio_at_most is not None and figure.ratios
    ]
    of_growth = []
    for growth in growths(run.figures):
        first, last = growth.figures[0], growth.figures[-1]
        if last.growth_at_most is not None:
            name = f"{last.part}: {last.name} / {first.size:,} {first.unit}"
            of_growth.append(Bar(name, last.growth_at_most, growth.factors))
    return [*of_ratios, *of_growth]


@dataclass(frozen=True)
class Comparison:
    """One run's figures beside the same ones of another, where both have a ratio."""

    pairs: Sequence[tuple[Figure, Figure]]

    def beyond(self, tolerance: float) -> list[tuple[Figure, Figure]]:
        """Return the pairs whose ratios differ by more than a share."""
        return [
            (one, other)
            for one, other in self.pairs
            if one.ratio and other.ratio and abs(one.ratio / other.ratio - 1) > tolerance
        ]


def compared(run: Run, other: Run) -> Comparison:
    """Pair the figures of two runs."""
    others: dict[tuple[Any, ...], Figure] = {
        (*each.series, each.size): each for each in other.figures
    }
    pairs = [(each, others.get((*each.series, each.size))) for each in run.figures]
    return Comparison([(one, two) for one, two in pairs if two and one.ratio and two.ratio])


def is_apart(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether no round of the one is within the range of the other's."""
    return min(one) > max(other) or min(other) > max(one)

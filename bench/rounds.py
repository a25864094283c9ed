"""Timing cases in interleaved rounds, so that Plaza and its floor meet the same disturbances."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bench.case import Case, Work
from bench.commands import Asked, Observe
from bench.figures import Figure, Round

WARM_UP_CALLS = 5
WARM_UP_SECONDS = 1.0
SAMPLES_AT_LEAST = 3
SLOW_MS = 500

Report = Callable[[int], None]


@dataclass(frozen=True)
class Effort:
    """The extent of a measurement: the rounds, and the seconds for a case in each.

    `sizes_at_most` are the sizes of each part, the smallest first; None: all of them.
    The rounds are those of one visit. At each visit a part has a new server and new data, and all
    other parts come in between, so that the rounds show what minutes and memory change.
    """

    visits: int
    rounds: int
    seconds: float
    sizes_at_most: int | None = None


FULL = Effort(visits=2, rounds=4, seconds=0.15)
QUICK = Effort(visits=1, rounds=7, seconds=0.05, sizes_at_most=2)


@dataclass
class Timed:
    """The milliseconds of each call in one round, and how long the round's calls took.

    `in_pairs` tells that each call has a floor's beside it.
    """

    calls: list[float] = field(default_factory=list)
    floors: list[float] = field(default_factory=list)
    calls_seconds: float = 0.0
    floors_seconds: float = 0.0
    in_pairs: bool = False

    @property
    def ratios(self) -> list[float]:
        """Return each call's ratio to the floor's call beside it, where they are in pairs."""
        pairs = zip(self.calls, self.floors, strict=True) if self.in_pairs else ()
        return [call / floor for call, floor in pairs if floor]


@dataclass
class Measured:
    """A case with its rounds, and what one call and one of the floor ask of MongoDB."""

    case: Case
    rounds: list[Timed]
    asked: Asked | None = None
    floor_asked: Asked | None = None


def measure(
    cases: Sequence[Case], effort: Effort, report: Report, observe: Observe | None
) -> list[Measured]:
    """Measure cases in turns: after a warm-up, every round goes through all of them.

    `observe` tells afterwards what each asks; None leaves that to another visit.
    """
    samples = [_warm_up(case, effort) for case in cases]
    timed: list[list[Timed]] = [[] for _ in cases]
    for number in range(effort.rounds):
        report(number + 1)
        for case, count, rounds in zip(cases, samples, timed, strict=True):
            rounds.append(_round(case, count))
    pairs = zip(cases, timed, strict=True)
    if observe is None:
        return [Measured(case, rounds) for case, rounds in pairs]
    return [_observed(case, rounds, observe) for case, rounds in pairs]


def joined(visits: Sequence[Sequence[Measured]]) -> list[Measured]:
    """Join the same cases of several visits; what they asked of MongoDB is the first one's."""
    return [
        Measured(
            same[0].case,
            [each for one in same for each in one.rounds],
            same[0].asked,
            same[0].floor_asked,
        )
        for same in zip(*visits, strict=True)
    ]


def _warm_up(case: Case, effort: Effort) -> int:
    """Call both a few times; return how many calls fit into a round."""
    started = time.perf_counter()
    taken: list[float] = []
    while len(taken) < WARM_UP_CALLS and time.perf_counter() - started < WARM_UP_SECONDS:
        began = time.perf_counter()
        _call(case.prepare, case.work)
        if case.floor:
            _call(case.prepare_floor, case.floor)
        taken.append(time.perf_counter() - began)
    fitting = max(SAMPLES_AT_LEAST, int(effort.seconds / min(taken)))
    return max(case.connections, min(fitting, case.samples_at_most))


def _call(prepare: Work, work: Work) -> float:
    prepare()
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1_000


def _round(case: Case, samples: int) -> Timed:
    if case.connections > 1:
        return _round_of_many(case, samples)
    timed = Timed(in_pairs=case.floor is not None)
    for number in range(samples):
        # In turns, and each first half of the time: what comes second may find a warm cache.
        for is_call in (number % 2 == 0, number % 2 == 1):
            if is_call:
                timed.calls.append(_call(case.prepare, case.work))
            elif case.floor:
                timed.floors.append(_call(case.prepare_floor, case.floor))
    timed.calls_seconds = sum(timed.calls) / 1_000
    timed.floors_seconds = sum(timed.floors) / 1_000
    return timed


def _round_of_many(case: Case, samples: int) -> Timed:
    """Call from several threads at once, Plaza first and then the floor."""
    timed = Timed()
    timed.calls, timed.calls_seconds = _at_once(case.prepare, case.work, case.connections, samples)
    if case.floor:
        timed.floors, timed.floors_seconds = _at_once(
            case.prepare_floor, case.floor, case.connections, samples
        )
    return timed


def _at_once(
    prepare: Work, work: Work, connections: int, samples: int
) -> tuple[list[float], float]:
    each = math.ceil(samples / connections)

    def calls(_: int) -> list[float]:
        return [_call(prepare, work) for _ in range(each)]

    with ThreadPoolExecutor(connections) as pool:
        started = time.perf_counter()
        times = list(pool.map(calls, range(connections)))
        seconds = time.perf_counter() - started
    return [one for thread in times for one in thread], seconds


def _observed(case: Case, rounds: list[Timed], observe: Observe) -> Measured:
    times = 1 if statistics.median(rounds[0].calls) > SLOW_MS else 3

    def asked(prepare: Work, work: Work) -> Asked:
        """Return the least of three: a heartbeat of the driver may fall into any one of them.

        A slow call is not repeated for that; its trips are many, and one more is no matter.
        """
        found = []
        for _ in range(times):
            prepare()
            found.append(observe(work))
        return min(found, key=lambda each: each.trips)

    floor = asked(case.prepare_floor, case.floor) if case.floor else None
    return Measured(case, rounds, asked(case.prepare, case.work), floor)


def figure(part: str, measured: Measured) -> Figure:
    """Return what was found of a case."""
    case, timed = measured.case, measured.rounds
    asked, floor_asked = measured.asked or Asked(0, {}), measured.floor_asked
    calls = [one for each in timed for one in each.calls]
    floors = [one for each in timed for one in each.floors]
    return Figure(
        part=part,
        operation=case.operation,
        store=case.store,
        size=case.size,
        unit=case.unit,
        door=f"{case.door} by {case.connections}" if case.door == "HTTP" else case.door,
        floor_is=case.floor_is if case.floor else "",
        samples=len(calls),
        p50_ms=statistics.median(calls),
        p99_ms=_p99(calls),
        floor_p50_ms=statistics.median(floors) if floors else None,
        floor_p99_ms=_p99(floors) if floors else None,
        per_second=_rate(case, [(len(each.calls), each.calls_seconds) for each in timed]),
        floor_per_second=(
            _rate(case, [(len(each.floors), each.floors_seconds) for each in timed])
            if floors
            else None
        ),
        round_trips=asked.trips,
        floor_round_trips=floor_asked.trips if floor_asked else None,
        rounds=[_as_round(each) for each in timed],
        ratio_at_most=case.ratio_at_most,
        growth_at_most=case.growth_at_most,
        commands=asked.commands,
        floor_commands=floor_asked.commands if floor_asked else {},
        answer_bytes=asked.answer_bytes,
    )


def _as_round(timed: Timed) -> Round:
    return Round(
        statistics.median(timed.calls),
        statistics.median(timed.floors) if timed.floors else None,
        statistics.median(timed.ratios) if timed.ratios else None,
    )


def _rate(case: Case, rounds: list[tuple[int, float]]) -> float:
    """Return how many items a second were handled, in the median round."""
    return statistics.median(case.items * calls / seconds for calls, seconds in rounds)


def _p99(values: list[float]) -> float:
    """Return the nearest-rank percentile: the largest value, where there are not a hundred."""
    return sorted(values)[math.ceil(len(values) * 0.99) - 1]

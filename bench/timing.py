"""How long things take, side by side."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

_PERCENTILES = 100


def compare(
    call: Callable[[], object], raw: Callable[[], object], samples: int, warm_up: int = 5
) -> dict[str, float]:
    """Time a call and its raw floor in turns, so that both meet the same disturbances.

    Returns p50 and p99 of both in milliseconds, and the ratio of the medians.
    """
    called, floor = [], []
    for number in range(warm_up + samples):
        times = _milliseconds(call), _milliseconds(raw)
        if number >= warm_up:
            called.append(times[0])
            floor.append(times[1])
    return {
        "p50_ms": _percentile(called, 50),
        "p99_ms": _percentile(called, 99),
        "raw_p50_ms": _percentile(floor, 50),
        "raw_p99_ms": _percentile(floor, 99),
        "ratio": round(_percentile(called, 50) / _percentile(floor, 50), 2),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows of equal keys as a Markdown table."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names)]
    lines += [[str(row[name]) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _percentile(values: Sequence[float], percent: int) -> float:
    return round(statistics.quantiles(values, n=_PERCENTILES)[percent - 1], 3)

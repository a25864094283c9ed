"""Cost of a decision while a campaign of its full zone is switched on and off, 34 times in 12 s.

    .venv/bin/python -m bench.toggling [--rounds 3] [--seconds 12] [--ads 5000]

Decisions and changes go through one server, in turns with as long a time of decisions alone; each
round gives a ratio of the two medians, and their median has to stay below the bar.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.calls import HttpCalls
from bench.inventory import KEYWORDS, SITE, add_visitor, add_zone
from bench.stage import Stage, fresh_stage

TOGGLES_A_SECOND = 34 / 12
RATIO_AT_MOST = 1.3
_ZONE = "full"
_TOGGLED = f"advertiser-0:{_ZONE}-0"


def main() -> None:
    """Measure, print the figures as JSON, and exit with 1 if the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--ads", type=int, default=5_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, fresh_stage(Path(folder)) as stage:
        add_zone(stage.runtime, _ZONE, given.ads)
        add_visitor(stage.runtime, "small", 5, 4)
        with stage.server() as url:
            rounds = [_round(stage, url, given.seconds) for _ in range(given.rounds)]
    ratio = statistics.median(each["ratio"] for each in rounds)
    print(json.dumps({"ads": given.ads, "rounds": rounds, "ratio": ratio}, indent=1))
    sys.exit(ratio > RATIO_AT_MOST)


def _round(stage: Stage, url: str, seconds: float) -> dict[str, float]:
    decide, toggle = _decision(stage, url), _toggle(stage, url)
    decide()
    quiet = _during(decide, seconds)
    stopped = threading.Event()
    toggled: list[float] = []

    def keep_toggling() -> None:
        begun = time.perf_counter()
        while not stopped.wait(max(0.0, begun + len(toggled) / TOGGLES_A_SECOND - _now())):
            toggle(is_on=len(toggled) % 2 == 1)
            toggled.append(_now())

    toggler = threading.Thread(target=keep_toggling)
    toggler.start()
    busy = _during(decide, seconds)
    stopped.set()
    toggler.join()
    quiet_ms, busy_ms = statistics.median(quiet), statistics.median(busy)
    return {
        "quiet_p50_ms": round(quiet_ms, 2),
        "toggled_p50_ms": round(busy_ms, 2),
        "toggled_p95_ms": round(statistics.quantiles(busy, n=20)[-1], 2),
        "quiet_p95_ms": round(statistics.quantiles(quiet, n=20)[-1], 2),
        "toggles": len(toggled),
        "ratio": round(busy_ms / quiet_ms, 3),
    }


def _now() -> float:
    return time.perf_counter()


def _during(decide: Callable[[], None], seconds: float) -> list[float]:
    """Return the milliseconds of each decision within a time."""
    taken, until = [], _now() + seconds
    while _now() < until:
        started = _now()
        decide()
        taken.append((_now() - started) * 1_000)
    return taken


def _decision(stage: Stage, url: str) -> Callable[[], None]:
    calls, path = HttpCalls(url, stage.runtime), {"site": SITE, "zone": _ZONE}
    query = {"visitor": "small", "keywords": KEYWORDS}

    def decide() -> None:
        calls("GET", "/ads/{site}/{zone}", path, query)

    return decide


def _toggle(stage: Stage, url: str) -> Callable[..., None]:
    calls = HttpCalls(url, stage.runtime, roles=["admin"])

    def toggle(*, is_on: bool) -> None:
        change = "activate" if is_on else "deactivate"
        calls("POST", "/campaigns/{campaign}/" + change, {"campaign": _TOGGLED})

    return toggle


if __name__ == "__main__":
    main()

"""What a decision costs in zones of every size, beside the raw driver's read of a profile.

The calls go through `app(event, context)`, as Lambda's do. The floor of a decision is the one
read that it cannot do without: `find_one` of the visitor's profile by the driver alone. The
cases of a round follow one another, so that all meet the same disturbances.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from app import create_app
from bench.inventory import KEYWORDS, SITE, add_visitor, add_zone, campaign_body, put_campaign
from bench.inventory import put_zone as add_empty_zone
from bench.stack import Calls
from bench.timing import compare
from chalicelib.ads import campaigns
from chalicelib.ads.visitors import PROFILES
from chalicelib.ads.zones import ZONES
from chalicelib.database import Document
from chalicelib.runtime import Runtime

ROUNDS = 9
SAMPLES = 150
# Reads of tens of milliseconds need fewer.
FEW_SAMPLES = 15
SIZES = (10, 100, 1_000, 5_000)
MANY_ZONES = 1_000
# Visitors by their profiles: how many advertisers, and impressions of each.
PROFILE_SIZES = {"small": (5, 4), "full": (200, 100)}
CASES: dict[str, dict[str, str]] = {
    "no profile": {},
    "keywords, no profile": {"keywords": KEYWORDS},
    "unknown visitor": {"visitor": "nobody"},
    "profile": {"visitor": "small"},
    "profile, keywords": {"visitor": "small", "keywords": KEYWORDS},
    "full profile, keywords": {"visitor": "full", "keywords": KEYWORDS},
}

Work = Callable[[], object]


@dataclass(frozen=True)
class Pair:
    """A call and its floor; what has to be made ready for each is not timed."""

    label: Document
    call: Work
    raw: Work
    samples: int = SAMPLES
    prepare: Work = lambda: None
    prepare_raw: Work = lambda: None


def measure(runtime: Runtime) -> list[dict[str, Any]]:
    """Return a row per case and zone size, then the cold starts and the changes of a campaign."""
    for size in SIZES:
        add_zone(runtime, f"zone-{size}", size)
    for visitor, (advertisers, impressions) in PROFILE_SIZES.items():
        add_visitor(runtime, visitor, advertisers, impressions)
    warm = list(_decisions(runtime))
    slow = [*_cold(runtime), _bid(runtime), _deactivation(runtime)]
    return [*_rounds(warm, _compared), *_rounds(slow, _once)]


def _rounds(
    pairs: list[Pair], measured: Callable[[Pair], dict[str, float]]
) -> Iterator[dict[str, Any]]:
    """Measure all pairs in each round; give the medians of the rounds and the ratios' range."""
    found: list[list[dict[str, float]]] = [[] for _ in pairs]
    for _ in range(ROUNDS):
        for pair, rows in zip(pairs, found, strict=True):
            rows.append(measured(pair))
    for pair, rows in zip(pairs, found, strict=True):
        ratios = [row["ratio"] for row in rows]
        medians = {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}
        per_second = round(1_000 / medians["p50_ms"])
        spread = {"ratio_min": min(ratios), "ratio_max": max(ratios)}
        yield {**pair.label, "per_second": per_second, **medians, **spread}


def _compared(pair: Pair) -> dict[str, float]:
    return compare(pair.call, pair.raw, pair.samples)


def _once(pair: Pair) -> dict[str, float]:
    """Time a call and its floor once each; a slow one has no use for percentiles."""
    call, raw = _timed(pair.prepare, pair.call), _timed(pair.prepare_raw, pair.raw)
    same = {"p50_ms": call, "p99_ms": call, "raw_p50_ms": raw, "raw_p99_ms": raw}
    return {**same, "ratio": round(call / raw, 2)}


def _timed(prepare: Work, work: Work) -> float:
    prepare()
    started = time.perf_counter()
    work()
    return round((time.perf_counter() - started) * 1_000, 3)


def _decisions(runtime: Runtime) -> Iterator[Pair]:
    """Give the warm decisions, and a decision's whole zone read by the driver for comparison."""
    app, calls = create_app(runtime), Calls(runtime)
    profiles = runtime.database[PROFILES.name]
    for case, query in CASES.items():
        for size in SIZES:
            event = _event(calls, size, query)
            key = {"_id": query.get("visitor", "small")}
            yield Pair(
                {"case": case, "ads": size, "floor": "find_one of the profile"},
                lambda event=event: app(event, None),  # type: ignore[misc]
                lambda key=key: profiles.find_one(key),  # type: ignore[misc]
                FEW_SAMPLES if key["_id"] == "full" else SAMPLES,
            )
    for size in SIZES:
        event = _event(calls, size, CASES["profile, keywords"])
        yield Pair(
            {"case": "profile, keywords", "ads": size, "floor": "find_one of the zone"},
            lambda event=event: app(event, None),  # type: ignore[misc]
            lambda size=size: _read_zone(runtime, size),  # type: ignore[misc]
            FEW_SAMPLES,
        )


def _event(calls: Calls, size: int, query: dict[str, str]) -> Document:
    path = {"site": SITE, "zone": f"zone-{size}"}
    return calls.event("GET", "/ads/{site}/{zone}", path, query)


def _read_zone(runtime: Runtime, size: int) -> Document | None:
    key = {"site_id": SITE, "zone_id": f"zone-{size}"}
    return runtime.database[ZONES.name].find_one(key)


def _cold(runtime: Runtime) -> Iterator[Pair]:
    """Give the first decision of a container, whose memory is empty."""
    calls = Calls(runtime)
    for size in SIZES:
        event = _event(calls, size, CASES["profile, keywords"])
        fresh: list[Any] = []
        yield Pair(
            {"case": "cold", "ads": size, "floor": "find_one of the zone"},
            lambda event=event, fresh=fresh: fresh[-1](event, None),  # type: ignore[misc]
            lambda size=size: _read_zone(runtime, size),  # type: ignore[misc]
            prepare=lambda fresh=fresh: fresh.append(create_app(runtime)),  # type: ignore[misc]
        )


def _bid(runtime: Runtime) -> Pair:
    """Return the change of one ad's bid in the largest zone, beside the driver's own."""
    rng = random.Random(3)  # noqa: S311 - the same data every time
    zone_id = f"zone-{SIZES[-1]}"
    campaign_id = f"advertiser-0:{zone_id}-0"
    calls = Calls(runtime, roles=["admin"])
    body = campaign_body([zone_id], 1, rng, runtime.now())
    body["flight"] = {name: time.isoformat() for name, time in body["flight"].items()}
    zones = runtime.database[ZONES.name]
    ads = {"site_id": SITE, "zone_id": zone_id, "ads.campaign_id": campaign_id}

    def call() -> None:
        body["pricing"] = {"type": "cpm", "bid_micros": rng.randint(1, 5_000) * 1_000}
        calls("PUT", "/campaigns/{campaign}", {"campaign": campaign_id}, body=body)

    def raw() -> None:
        zones.update_one(ads, {"$set": {"ads.$.ecpm_micros": rng.randint(1, 5_000) * 1_000}})

    label = {"case": "one bid changed", "ads": SIZES[-1], "floor": "update_one, unsorted"}
    return Pair(label, call, raw)


def _deactivation(runtime: Runtime) -> Pair:
    """Return the deactivation of a campaign in 1,000 zones, beside the source's `$pull`."""
    rng = random.Random(4)  # noqa: S311 - the same data every time
    names = [f"small-{number}" for number in range(MANY_ZONES)]
    for name in names:
        add_empty_zone(runtime, name)
    ids = [f"advertiser-{number}:wide" for number in range(10)]
    for campaign_id in ids:
        put_campaign(runtime, campaign_id, names, 1, rng)
        campaigns.activate(runtime.database, campaign_id, runtime.now())
    database, path = runtime.database, {"campaign": ids[0]}
    calls = Calls(runtime, roles=["admin"])

    def activate() -> None:
        campaigns.deactivate(database, ids[0])
        campaigns.activate(database, ids[0], runtime.now())

    return Pair(
        {"case": "deactivated in 1,000 zones", "ads": len(ids), "floor": "update_many, $pull"},
        lambda: calls("POST", "/campaigns/{campaign}/deactivate", path),
        lambda: database[ZONES.name].update_many(
            {"ads.campaign_id": ids[0]}, {"$pull": {"ads": {"campaign_id": ids[0]}}}
        ),
        prepare=activate,
        prepare_raw=activate,
    )

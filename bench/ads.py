"""Cost of a decision in zones of every size, and of changing a campaign.

The floor of a decision is the one read that it cannot do without: `find_one` of the visitor's
own profile, by the driver alone.
"""

import random
from collections.abc import Iterator
from functools import partial

from bench.calls import AppCalls, Caller, HttpCalls
from bench.case import Case, Work
from bench.inventory import KEYWORDS, SITE, add_visitor, add_zone, campaign_body, put_campaign
from bench.inventory import put_zone as add_empty_zone
from bench.stage import Stage
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory.zones import ZONES
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import AdRequest, answer, decide
from chalicelib.ads.visitors.histories import read
from chalicelib.ads.visitors.profiles import PROFILES, raw_profiles
from chalicelib.ads.visitors.visitor_ids import sign
from chalicelib.database import Document
from chalicelib.runtime import Runtime

SIZES = (10, 100, 1_000, 5_000)
# Visitors by their profiles: how many advertisers, and impressions of each.
PROFILE_SIZES = {"small": (5, 4), "full": (200, 100)}
DECISIONS: dict[str, dict[str, str]] = {
    "no visitor": {},
    "keywords, no visitor": {"keywords": KEYWORDS},
    "unknown visitor": {"visitor": "nobody"},
    "profile": {"visitor": "small"},
    "profile, keywords": {"visitor": "small", "keywords": KEYWORDS},
    "full profile, keywords": {"visitor": "full", "keywords": KEYWORDS},
}
# What a decision may cost: of the read of its profile, and in the largest zone beside the smallest.
RATIO_AT_MOST, GROWTH_AT_MOST = 2.0, 1.3
FEW_SAMPLES = 15
# About the number of advertisers among the best ads of a zone with keywords.
PART = ("advertiser-0", "advertiser-1", "advertiser-2")
FIND_PROFILE = "find_one of the same profile"


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield warm decisions, cold ones, the changes of a campaign, and a decision by door."""
    runtime = stage.runtime
    sizes = (10, 1_000) if stage.sizes_at_most else SIZES
    for size in sizes:
        add_zone(runtime, f"zone-{size}", size)
    for visitor, (advertisers, impressions) in PROFILE_SIZES.items():
        add_visitor(runtime, visitor, advertisers, impressions)
    yield [_decision(runtime, name, size) for name in DECISIONS for size in sizes]
    yield [_cold(runtime, size) for size in sizes]
    yield [
        *(_bid(runtime, size) for size in sizes),
        *(_deactivation(runtime, zones) for zones in stage.sizes(10, 100, 1_000)),
    ]
    with stage.server() as url:
        yield list(_doors(runtime, url))


def _decision(runtime: Runtime, name: str, size: int) -> Case:
    """Give a warm decision; one without a visitor reads nothing, so it has no floor."""
    query = DECISIONS[name]
    is_barred = name in {"unknown visitor", "profile", "profile, keywords"}
    # Nobody would read 20,000 impressions for one decision; in a small zone it takes these.
    parts = SIZES[0] if "full" in name else None
    return Case(
        f"warm decision, {name}",
        _events(runtime, size, query),
        _find_profile(runtime, query["visitor"], parts) if "visitor" in query else None,
        floor_is=f"find_one of {parts} of its advertisers" if parts else FIND_PROFILE,
        size=size,
        unit="ads",
        ratio_at_most=RATIO_AT_MOST if is_barred else None,
        growth_at_most=GROWTH_AT_MOST,
    )


def _events(runtime: Runtime, size: int, query: dict[str, str]) -> Work:
    """Return a decision through the app; the event is made once, as the floor's filter is."""
    calls = AppCalls(runtime)
    event = _event(runtime, calls, size, query)
    return lambda: calls.send(event)


def _event(runtime: Runtime, calls: AppCalls, size: int, query: dict[str, str]) -> Document:
    return calls.event("GET", "/ads/{site}/{zone}", _zone(size), _signed(runtime, query))


def _signed(runtime: Runtime, query: dict[str, str]) -> dict[str, str]:
    """Return a query in which the visitor is named as a page names one."""
    if "visitor" not in query:
        return query
    return {**query, "visitor": sign(query["visitor"], runtime.settings.signing_keys)}


def _zone(size: int) -> dict[str, str]:
    return {"site": SITE, "zone": f"zone-{size}"}


def _find_profile(runtime: Runtime, visitor: str, parts: int | None = None) -> Work:
    """Return the read of a profile, or of this number of advertisers in it."""
    fields = {f"advertisers.advertiser-{number}": 1 for number in range(parts)} if parts else None
    return lambda: runtime.database[PROFILES.name].find_one({"_id": visitor}, fields)


def _read_part(runtime: Runtime, visitor: str) -> Work:
    """Return Plaza's own read of a few advertisers in a profile, which leaves them as BSON."""
    profiles = raw_profiles(runtime.database)
    return lambda: read(profiles, visitor, PART)


def _cold(runtime: Runtime, size: int) -> Case:
    """Give the first decision of a container, whose memory is empty."""
    event = _event(runtime, AppCalls(runtime), size, DECISIONS["profile, keywords"])
    fresh: list[AppCalls] = []
    key = {"site_id": SITE, "zone_id": f"zone-{size}"}
    return Case(
        "first decision of a container",
        lambda: fresh.pop().send(event),
        lambda: runtime.database[ZONES.name].find_one(key),
        floor_is="find_one of the zone",
        size=size,
        unit="ads",
        prepare=lambda: fresh.append(AppCalls(runtime)),
        samples_at_most=FEW_SAMPLES,
    )


def _bid(runtime: Runtime, size: int) -> Case:
    """Give the change of one campaign's bid, beside the driver's own, which sorts nothing."""
    rng = random.Random(3)  # noqa: S311 - the same data every time
    zone_id = f"zone-{size}"
    campaign_id = f"advertiser-0:{zone_id}-0"
    calls = AppCalls(runtime, roles=["admin"])
    body = campaign_body([zone_id], 1, rng, runtime.now())
    body["flight"] = {name: time.isoformat() for name, time in body["flight"].items()}
    ads = {"site_id": SITE, "zone_id": zone_id, "ads.campaign_id": campaign_id}

    def bid() -> int:
        return rng.randint(1, 5_000) * 1_000

    def call() -> None:
        body["pricing"] = {"type": "cpm", "bid_micros": bid()}
        calls("PUT", "/campaigns/{campaign}", {"campaign": campaign_id}, body=body)

    def floor() -> None:
        runtime.database[ZONES.name].update_one(ads, {"$set": {"ads.$.ecpm_micros": bid()}})

    return Case(
        "one bid changed",
        call,
        floor,
        floor_is="update_one, unsorted",
        size=size,
        unit="ads",
        samples_at_most=FEW_SAMPLES,
    )


def _deactivation(runtime: Runtime, zones: int) -> Case:
    """Give the deactivation of a campaign in this number of zones, beside a `$pull` from all."""
    rng = random.Random(4)  # noqa: S311 - the same data every time
    names = [f"of-{zones}-{number}" for number in range(zones)]
    for name in names:
        add_empty_zone(runtime, name)
    ids = [f"advertiser-{number}:wide-{zones}" for number in range(10)]
    for campaign_id in ids:
        put_campaign(runtime, campaign_id, names, 1, rng)
        lifecycle.activate(runtime.database, campaign_id, runtime.now())
    database, path = runtime.database, {"campaign": ids[0]}
    calls = AppCalls(runtime, roles=["admin"])

    def activate() -> None:
        lifecycle.deactivate(database, ids[0])
        lifecycle.activate(database, ids[0], runtime.now())

    return Case(
        "campaign deactivated",
        lambda: calls("POST", "/campaigns/{campaign}/deactivate", path),
        lambda: database[ZONES.name].update_many(
            {"ads.campaign_id": ids[0]}, {"$pull": {"ads": {"campaign_id": ids[0]}}}
        ),
        floor_is="update_many, $pull",
        size=zones,
        unit="zones",
        prepare=activate,
        prepare_floor=activate,
        samples_at_most=5,
    )


def _doors(runtime: Runtime, url: str) -> Iterator[Case]:
    """Give a warm decision through each door."""
    size, query = 1_000, DECISIONS["profile, keywords"]
    case = partial(
        Case,
        "warm decision, by door",
        floor=_read_part(runtime, query["visitor"]),
        floor_is="Plaza's read of the part it looks at",
    )
    yield case(work=_function(runtime, size), door="function")
    query = _signed(runtime, query)
    yield case(work=_call(AppCalls(runtime), size, query))
    http = _call(HttpCalls(url, runtime), size, query)
    for connections in (1, 8):
        yield case(work=http, door="HTTP", connections=connections)


def _function(runtime: Runtime, size: int) -> Work:
    """Return what the view of a decision calls."""
    warm, words = ZoneCache(runtime), tuple(KEYWORDS.split(","))
    asked = AdRequest(SITE, f"zone-{size}", visitor="small", keywords=words)
    return lambda: answer(runtime, decide(runtime, warm, asked))


def _call(calls: Caller, size: int, query: dict[str, str]) -> Work:
    return lambda: calls("GET", "/ads/{site}/{zone}", _zone(size), query)

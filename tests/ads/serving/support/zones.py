"""Zones, profiles and a plain way to choose, for the tests of selection."""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bson import ObjectId
from hypothesis import strategies as st

from chalicelib.ads.inventory.campaigns import StoredCap
from chalicelib.ads.inventory.placing import in_order
from chalicelib.ads.inventory.rows import AdRow
from chalicelib.ads.inventory.zones import ServedZone
from chalicelib.ads.serving.compiled_zone import CompiledZone
from chalicelib.ads.serving.selection import Context, choose
from chalicelib.ads.visitors.histories import (
    LISTS,
    MAX_ADVERTISERS,
    MAX_EVENTS,
    Entry,
    History,
    VisitorProfile,
)
from chalicelib.database import Document
from tests.support.clock import START

HOUR = timedelta(hours=1)
MILLISECOND = timedelta(milliseconds=1)
CPM = {"type": "cpm", "bid_micros": 1_000}
NOBODY = VisitorProfile()
ZONE_ID = ObjectId()


def row(name: str, ecpm_micros: int = 250_000, **changes: Any) -> Any:
    """A zone's row, named `advertiser:campaign/unit`; the campaign and advertiser may be left."""
    campaign_id, _, unit = name.rpartition("/")
    return {
        "campaign_id": campaign_id or f"{unit}:spring",
        "ad_unit_id": unit,
        "pricing": CPM,
        "ecpm_micros": ecpm_micros,
        "start": START - HOUR,
        "end": START + HOUR,
        "keywords": [],
        "caps": [],
        "creative": {"type": "text"},
        **changes,
    }


def zone_document(*rows: AdRow, floor_ecpm_micros: int = 0) -> ServedZone:
    return {
        "_id": ZONE_ID,
        "site_id": "blog",
        "zone_id": "banner",
        "version": 1,
        "size": {"width": 300, "height": 250},
        "floor_ecpm_micros": floor_ecpm_micros,
        "count_on": "beacon",
        "allow_html": False,
        "ads": in_order(rows),
    }


def compiled(*rows: AdRow, floor_ecpm_micros: int = 0) -> CompiledZone:
    return CompiledZone(zone_document(*rows, floor_ecpm_micros=floor_ecpm_micros))


def cap(
    scope: str = "ad", event: str = "impression", limit: int = 1, seconds: int = 3_600
) -> Document:
    return {"scope": scope, "event": event, "limit": limit, "window_seconds": seconds}


def event(ts: datetime, ad_unit_id: str = "one", campaign: str = "spring") -> Any:
    return {"ts": ts, "campaign": campaign, "ad_unit_id": ad_unit_id, "decision": "d" * 16}


def profile(count: int | None = None, **histories: History) -> VisitorProfile:
    """A profile of these advertisers, or of as many as `count` says."""
    return VisitorProfile("r", histories, len(histories) if count is None else count)


def chi_square(counts: Counter[str], names: list[str]) -> float:
    expected = counts.total() / len(names)
    assert set(counts) <= set(names)
    return sum((counts[name] - expected) ** 2 / expected for name in names)


def chosen(
    zone: CompiledZone,
    *keywords: str,
    seed: int = 7,
    visitor: VisitorProfile = NOBODY,
    now: datetime = START,
    **asked: Any,
) -> list[str]:
    """The ad units chosen, in order."""
    context = Context(now, keywords, **asked)
    ads = choose(zone, context, lambda _: visitor, random.Random(seed))
    return [ad.ad_unit_id for ad in ads]


def reference(
    zone: ServedZone,
    keywords: Sequence[str],
    visitor: VisitorProfile,
    now: datetime,
    taken: Sequence[AdRow] = (),
) -> list[tuple[float, AdRow]]:
    """Every ad that may be shown beside those taken, with its score, in no order."""
    return [
        (ad["ecpm_micros"] * math.log(1.1 + len(set(ad["keywords"]) & set(keywords))), ad)
        for ad in zone["ads"]
        if ad["ecpm_micros"] >= zone["floor_ecpm_micros"]
        and ad["start"] <= now < ad["end"]
        and ad not in taken
        and not any(reached(cap, ad, visitor, now, taken) for cap in ad["caps"])
    ]


def reached(
    cap: StoredCap, ad: AdRow, visitor: VisitorProfile, now: datetime, taken: Sequence[AdRow] = ()
) -> bool:
    advertiser, campaign = ad["campaign_id"].split(":")
    if advertiser not in visitor.histories and visitor.advertiser_count >= MAX_ADVERTISERS:
        return True
    events = visitor.histories.get(advertiser, {}).get(LISTS[cap["event"]], [])
    within = [e for e in events if now - e["ts"] < timedelta(seconds=cap["window_seconds"])]
    same: dict[str, Mapping[str, Any]] = {
        "ad": {"campaign": campaign, "ad_unit_id": ad["ad_unit_id"]},
        "campaign": {"campaign": campaign},
        "advertiser": {},
    }
    shown: list[Any] = [
        {"campaign": other["campaign_id"].split(":")[1], "ad_unit_id": other["ad_unit_id"]}
        for other in taken
        if cap["event"] == "impression" and other["campaign_id"].startswith(f"{advertiser}:")
    ]
    met = [e for e in [*within, *shown] if same[cap["scope"]].items() <= e.items()]
    return len(met) >= cap["limit"] or len(within) == len(events) >= MAX_EVENTS


def assert_allowed(
    ads: list[Any], zone: ServedZone, visitor: VisitorProfile, asked: Context
) -> None:
    """Each ad is one of the best that were left, and none was left that should have come."""
    taken: list[AdRow] = []

    def left() -> list[tuple[float, AdRow]]:
        campaigns = () if asked.repeat else {each["campaign_id"] for each in taken}
        rest = reference(zone, asked.keywords, visitor, asked.now, taken)
        return [each for each in rest if each[1]["campaign_id"] not in campaigns]

    for ad in ads:
        scores = {(row["campaign_id"], row["ad_unit_id"]): (score, row) for score, row in left()}
        score, row = scores[ad.campaign_id, ad.ad_unit_id]
        assert asked.explore_rate or score == max(other for other, _ in scores.values())
        taken.append(row)
    assert len(ads) == asked.count or not left()


WORDS = ("a", "b", "c", "d", "e", "é", "новости")
NAMES = ("x:one", "x:two", "y:one", "z:one")
times = st.integers(-2, 2).map(lambda number: START + number * HOUR)
caps = st.builds(
    cap,
    st.sampled_from(["ad", "campaign", "advertiser"]),
    st.sampled_from(["impression", "click"]),
    st.integers(1, 3),
    st.sampled_from([1, 3_600, 7_200]),
)
rows = st.builds(
    lambda name, unit, **changes: row(f"{name}/{unit}", **changes),
    st.sampled_from(NAMES),
    st.uuids(),
    # Few prices, so that ties are common.
    ecpm_micros=st.integers(0, 4),
    start=times,
    end=times,
    keywords=st.lists(st.sampled_from(WORDS), unique=True, max_size=5),
    caps=st.lists(caps, max_size=2),
)
inventories = st.builds(
    lambda rows, floor: zone_document(*rows, floor_ecpm_micros=floor),
    st.lists(rows, max_size=20),
    st.integers(0, 2),
)
keywords = st.lists(st.sampled_from([*WORDS, "unknown"]), unique=True, max_size=6).map(tuple)
contexts = st.builds(
    Context,
    now=times,
    keywords=keywords,
    count=st.integers(1, 20),
    repeat=st.booleans(),
)


@st.composite
def profiles(draw: st.DrawFn, zone: ServedZone) -> VisitorProfile:
    """A profile that knows some of the zone's ads, with lists up to full ones."""
    units = [ad["ad_unit_id"] for ad in zone["ads"]] or ["one"]
    entry = st.builds(
        event,
        st.integers(-7_300, 100).map(lambda seconds: START + timedelta(seconds=seconds)),
        st.sampled_from(units),
        st.sampled_from(["one", "two"]),
    )

    def ordered(entries: list[Entry]) -> list[Entry]:
        return sorted(entries, key=lambda each: each["ts"])

    lists = st.lists(entry, max_size=4).map(ordered) | entry.map(lambda each: [each] * MAX_EVENTS)
    history: Any = st.dictionaries(st.sampled_from(["impressions", "clicks"]), lists)
    histories = draw(st.dictionaries(st.sampled_from(["x", "y"]), history))
    count = draw(st.sampled_from([len(histories), MAX_ADVERTISERS]))
    return VisitorProfile("r", histories, count)

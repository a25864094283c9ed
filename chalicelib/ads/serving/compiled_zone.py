"""A zone in a warm container: its ads in order, with an index of their keywords.

A set of ads is an integer: bit n stands for the ad at position n. The ads are in descending
eCPM, so the lowest bit of a set is its best-paying ad. Python intersects two sets of 5,000 ads
in about 33 ns.
"""

from bisect import insort
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Literal, NamedTuple

from bson import ObjectId

from chalicelib.ads.inventory.campaigns import StoredPricing
from chalicelib.ads.inventory.creatives import StoredCreative
from chalicelib.ads.inventory.rows import AdRow
from chalicelib.ads.inventory.zones import ServedZone, ZoneSize

# By keyword: the position of its first ad, and the bit set of its ads, shifted right by that much.
Index = dict[str, tuple[int, int]]
# The old position of an ad that has none.
NEW = -1
# The most moves, keywords times runs of ads: some 30 ms, about half of a whole compilation.
MAX_MOVES = 60_000
_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)


class FrequencyCap(NamedTuple):
    """At most `limit` events of a kind (impression, click) in a window.

    `scope`: the cap counts the events of the ad, of its campaign or of its advertiser.
    """

    scope: Literal["ad", "campaign", "advertiser"]
    event: Literal["impression", "click"]
    limit: int
    window: timedelta


@dataclass(frozen=True, slots=True)
class Ad:
    """An ad of a zone, with all fields for its choice, display and billing.

    `pricing` is {type, bid_micros}. A small creative is in `creative`, and `creative_id` is None.
    A large creative has its own document by `creative_id`, and `creative` is None.
    """

    campaign_id: str
    advertiser: str
    campaign: str
    ad_unit_id: str
    pricing: StoredPricing
    ecpm_micros: int
    start: datetime
    end: datetime
    caps: tuple[FrequencyCap, ...]
    creative: StoredCreative | None
    creative_id: str | None


class _Move(NamedTuple):
    """A run of ads in the same order: the old positions [start, end) become [now, ...)."""

    start: int
    end: int
    now: int


class _Showable(NamedTuple):
    """The set of ads in flight, at or above the floor; valid from `since` until before `until`."""

    ads: int
    since: datetime
    until: datetime


class CompiledZone:
    """One version of a zone, immutable to its callers."""

    def __init__(
        self, document: ServedZone, compiled: tuple[tuple[Ad, ...], Index] | None = None
    ) -> None:
        rows = document["ads"]
        self.ads, self._by_keyword = compiled or (_ads(rows), _index(enumerate(rows)))
        self.id: ObjectId = document["_id"]
        self.site_id: str = document["site_id"]
        self.zone_id: str = document["zone_id"]
        self.size: ZoneSize = document["size"]
        self.version: int = document["version"]
        self.floor_ecpm_micros: int = document["floor_ecpm_micros"]
        self.counts_decisions: bool = document["count_on"] == "decision"
        self.allows_html: bool = document.get("allow_html", False)
        self.advertisers = tuple(dict.fromkeys(ad.advertiser for ad in self.ads if ad.caps))
        self.has_cpc = any(ad.pricing["type"] == "cpc" for ad in self.ads)
        self._group_ends = _group_ends(self.ads)
        self._showable = _Showable(0, _LAST, _FIRST)

    def replace_rows(
        self,
        document: ServedZone,
        campaigns: Collection[str] | None,
        max_moves: int = MAX_MOVES,
    ) -> "CompiledZone | None":
        """Return the zone with these campaigns' rows from the document; `self` if it is up to date.

        None: the zone needs a whole compilation. Either the document is another zone of the same
        name, or `campaigns` is None (unknown), or too many ads would move.
        """
        if document["_id"] != self.id:
            return None
        if document["version"] == self.version:
            return self
        if campaigns is None:
            return None
        rows = document["ads"]
        kept = [(ad, place) for place, ad in enumerate(self.ads) if ad.campaign_id not in campaigns]
        placed = kept
        for ad in _ads(rows):
            insort(placed, (ad, NEW), key=_rank)
        moves = _moves([old for _, old in placed])
        if len(moves) * len(self._by_keyword) > max_moves:
            return None
        added = [place for place, (_, old) in enumerate(placed) if old == NEW]
        index = _index(zip(added, rows, strict=True), _move(self._by_keyword, moves))
        return CompiledZone(document, (tuple(ad for ad, _ in placed), index))

    def showable(self, now: datetime) -> int:
        """Return the set of the ads that are in flight and pay the floor.

        The zone computes it again after a flight has begun or ended.
        """
        held = self._showable
        if not held.since <= now < held.until:
            # Two threads may both do this, with the same result.
            held = self._showable = self._find_showable(now)
        return held.ads

    def _find_showable(self, now: datetime) -> _Showable:
        found, since, until = 0, _FIRST, _LAST
        for position, ad in enumerate(self.ads):
            if ad.ecpm_micros < self.floor_ecpm_micros:
                break
            if ad.start <= now < ad.end:
                found |= 1 << position
            for change in (ad.start, ad.end):
                if change <= now:
                    since = max(since, change)
                else:
                    until = min(until, change)
        return _Showable(found, since, until)

    def with_keyword(self, keyword: str) -> int:
        """Return the set of the ads that name the keyword."""
        offset, ads = self._by_keyword.get(keyword, (0, 0))
        return ads << offset

    def best_group(self, ads: int) -> tuple[int, int]:
        """Return the best eCPM in a set that is not empty, and the ads of the set that pay it."""
        best = lowest(ads)
        group = ((1 << self._group_ends[best]) - 1) & ads
        return self.ads[best].ecpm_micros, group


def lowest(ads: int) -> int:
    """Return the position of the best-paying ad in a set that is not empty."""
    return (ads & -ads).bit_length() - 1


def _ads(rows: Iterable[AdRow]) -> tuple[Ad, ...]:
    known: dict[tuple[FrequencyCap, ...], tuple[FrequencyCap, ...]] = {}
    return tuple(_ad(row, known) for row in rows)


def _ad(row: AdRow, known: dict[tuple[FrequencyCap, ...], tuple[FrequencyCap, ...]]) -> Ad:
    """Return the ad of a row; ads with the same caps share them, to save memory."""
    caps = tuple(
        FrequencyCap(
            cap["scope"], cap["event"], cap["limit"], timedelta(seconds=cap["window_seconds"])
        )
        for cap in row["caps"]
    )
    campaign_id = row["campaign_id"]
    advertiser, _, campaign = campaign_id.partition(":")
    return Ad(
        campaign_id=campaign_id,
        advertiser=advertiser,
        campaign=campaign,
        ad_unit_id=row["ad_unit_id"],
        pricing=row["pricing"],
        ecpm_micros=row["ecpm_micros"],
        start=row["start"],
        end=row["end"],
        caps=known.setdefault(caps, caps),
        creative=row.get("creative"),
        creative_id=row.get("creative_id"),
    )


def _group_ends(ads: tuple[Ad, ...]) -> list[int]:
    """Return, for each position, the position after the last ad with the same eCPM."""
    ends: list[int] = []
    for _, group in groupby(ads, key=lambda ad: ad.ecpm_micros):
        size = len(list(group))
        ends += [len(ends) + size] * size
    return ends


def _index(rows: Iterable[tuple[int, AdRow]], index: Index | None = None) -> Index:
    """Add (position, row) pairs, in ascending order, to an inverted index in place; return it.

    An entry has the position of the keyword's first ad, and the set of its ads, shifted right by
    that much. Without the shift, a keyword of one ad would take as much memory as a keyword of
    all ads.
    """
    index = {} if index is None else index
    for position, row in rows:
        for keyword in row["keywords"]:
            first, ads = index.get(keyword, (position, 0))
            if position < first:
                first, ads = position, ads << (first - position)
            index[keyword] = first, ads | 1 << (position - first)
    return index


def _rank(placed: tuple[Ad, int]) -> tuple[int, str, str]:
    ad = placed[0]
    return -ad.ecpm_micros, ad.campaign_id, ad.ad_unit_id


def _moves(places: Iterable[int]) -> list[_Move]:
    """Return the runs of consecutive old positions, each with its new start; skip new ads."""
    moves: list[_Move] = []
    start = last = begins = NEW
    for now, old in enumerate(places):
        if old != NEW and old == last + 1 and last != NEW:
            last = old
            continue
        if last != NEW:
            moves.append(_Move(start, last + 1, begins))
        start, last, begins = old, old, now
    if last != NEW:
        moves.append(_Move(start, last + 1, begins))
    return moves


def _move(index: Index, moves: list[_Move]) -> Index:
    """Return a new index with the moved ads at their new positions; omit all other ads."""
    moved: Index = {}
    for keyword, (first, ads) in index.items():
        found = 0
        for start, end, now in moves:
            if end > first:
                part = (ads << first - start if first > start else ads >> start - first) & (
                    (1 << end - start) - 1
                )
                found |= part << now
        if found:
            lowest_ad = lowest(found)
            moved[keyword] = lowest_ad, found >> lowest_ad
    return moved

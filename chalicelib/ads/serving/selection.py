"""The choice of ads: pure functions over a compiled zone, a profile and injected randomness.

Source: "MongoDB Applied Design Patterns", ch. 7. Its three designs are stages of one search.
Design 1 is the first ad `by_score` without keywords. Design 2 is the first `acceptable` ad.
Design 3 has keywords and may `take` several ads. So a zone needs no setting: the parameters
of each request select the design.
"""

import math
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heappop, heappush
from itertools import islice

from chalicelib.ads.inventory.campaigns import MAX_KEYWORDS
from chalicelib.ads.serving.compiled_zone import Ad, CompiledZone, FrequencyCap, lowest
from chalicelib.ads.visitors.histories import (
    FEW_ADVERTISERS,
    LISTS,
    MAX_EVENTS,
    Entry,
    VisitorProfile,
)

# Frequency caps: the limits of a visitor's events of an ad.


def refusing_cap(
    ad: Ad, profile: VisitorProfile, now: datetime, taken: Sequence[Ad] = ()
) -> FrequencyCap | None:
    """Return the first of the ad's caps that refuses it to this visitor now, or None.

    An event counts from its time until before `window` later; the ads `taken` so far count as
    impressions now. The bounds of a profile never make a cap leak: a full list of events within
    the window may have lost others, and a full profile may have omitted an advertiser's events.
    Both refuse the ad.
    Source: "MongoDB Applied Design Patterns", ch. 7, design 2 (`ad_is_acceptable`).
    """
    history = profile.histories.get(ad.advertiser)
    if history is None:
        if profile.is_full:
            return ad.caps[0] if ad.caps else None
        if not taken:
            return None
        history = {}
    for cap in ad.caps:
        left = cap.limit - _count_taken(cap, ad, taken) if taken else cap.limit
        if _is_reached(cap, ad, history.get(LISTS[cap.event], ()), now, left):
            return cap
    return None


def _count_taken(cap: FrequencyCap, ad: Ad, taken: Iterable[Ad]) -> int:
    """Return the number of ads in `taken` that a cap of `ad` counts; `ad` is not in `taken`."""
    if cap.event != "impression" or cap.scope == "ad":
        return 0
    if cap.scope == "campaign":
        return sum(each.campaign_id == ad.campaign_id for each in taken)
    return sum(each.advertiser == ad.advertiser for each in taken)


def _is_reached(
    cap: FrequencyCap, ad: Ad, events: Sequence[Entry], now: datetime, left: int
) -> bool:
    if left <= 0:
        return True
    since = now - cap.window
    for event in reversed(events):
        if event["ts"] <= since:
            return False
        left -= _concerns(cap, ad, event)
        if not left:
            return True
    return len(events) >= MAX_EVENTS


def _concerns(cap: FrequencyCap, ad: Ad, event: Entry) -> bool:
    match cap.scope:
        case "advertiser":
            return True
        case "campaign":
            return event["campaign"] == ad.campaign
        case _:
            same_unit = event["ad_unit_id"] == ad.ad_unit_id
            return same_unit and event["campaign"] == ad.campaign


# The number of ads that the first read of a profile covers, in a zone of many advertisers. Each ad
# takes 1 to 4 us, or 10 with a full history; a read takes 150. In other zones, one read covers all.
AHEAD = 8
_GROWTH = 8
_WEIGHTS = [math.log(1.1 + matches) for matches in range(MAX_KEYWORDS + 1)]

# An entry of the heap, for a level (`by_score`): the negative score of its best-paying ads, its
# number of matches, the set of its best-paying ads, the set of its other ads.
_Head = tuple[float, int, int, int]

# Returns a visitor's profile, for at least these advertisers.
ReadProfile = Callable[[Collection[str]], VisitorProfile]


@dataclass(frozen=True)
class Context:
    """The input of a choice; keywords are normalised and without repeats.

    `is_anonymous`: the request has no visitor, so the choice needs no profile and no look-ahead.
    """

    now: datetime
    keywords: tuple[str, ...] = ()
    count: int = 1
    repeat: bool = False
    explore_rate: float = 0.0
    is_anonymous: bool = False


def choose(
    zone: CompiledZone,
    context: Context,
    read: ReadProfile,
    rng: random.Random,
    shows: Callable[[Ad], bool] = lambda _: True,
) -> list[Ad]:
    """Return up to `count` ads, the best first, that the visitor's caps accept.

    Each chosen ad counts in the caps of the next ad. An ad that `shows` refuses gives way to the
    next ad. In a zone with CPC ads, the order is random in a share `explore_rate` of the choices,
    so that an ad with a bad start gets another try.
    """
    order = by_chance if explores(zone, context, rng) else by_score
    ads = order(zone, context, rng)
    is_one_read = context.is_anonymous or len(zone.advertisers) <= FEW_ADVERTISERS
    ahead = 1 if is_one_read else AHEAD
    taken: list[Ad] = []
    shown = filter(shows, acceptable(ads, read, context.now, ahead, taken))
    take(shown, context.count, taken, repeat=context.repeat)
    return taken


def explores(zone: CompiledZone, context: Context, rng: random.Random) -> bool:
    """Draw whether the order of a choice is random; never in a zone without CPC ads."""
    return zone.has_cpc and rng.random() < context.explore_rate


def score(ecpm_micros: int, matches: int) -> float:
    """Return an ad's worth to a request: eCPM x ln(1.1 + matching keywords)."""
    return ecpm_micros * _WEIGHTS[matches]


def by_score(zone: CompiledZone, context: Context, rng: random.Random) -> Iterator[Ad]:
    """Yield the showable ads in descending score, ads of equal score in random order.

    The ads with equally many matches are a level, ordered by eCPM; the search merges the levels.
    It opens a level only when the level's upper bound, the zone's best eCPM with that many
    matches, reaches the best score so far.
    """
    showable = zone.showable(context.now)
    if not showable:
        return
    best_ecpm = zone.ads[lowest(showable)].ecpm_micros
    digits = _match_counts(zone, context.keywords)
    unopened = list(range(min(1 << len(digits), len(_WEIGHTS))))
    heads: list[_Head] = []
    while unopened or heads:
        while unopened and (not heads or score(best_ecpm, unopened[-1]) >= -heads[0][0]):
            matches = unopened.pop()
            _push_head(zone, matches, _level(showable, digits, matches), heads)
        if heads:
            yield from (zone.ads[place] for place in shuffle(_pop_tied(zone, heads), rng))


def _level(showable: int, digits: list[int], matches: int) -> int:
    """Return the showable ads with exactly `matches` matching keywords."""
    for place, digit in enumerate(digits):
        showable &= digit if matches >> place & 1 else ~digit
    return showable


def _match_counts(zone: CompiledZone, keywords: Iterable[str]) -> list[int]:
    """Return every ad's number of matching keywords, as binary digits.

    Set n holds the ads with bit n in their number. A ripple-carry addition adds a keyword to all
    ads at once (bit-sliced counting).
    """
    digits: list[int] = []
    for keyword in keywords:
        carry = zone.with_keyword(keyword)
        for place, digit in enumerate(digits):
            if not carry:
                break
            digits[place], carry = digit ^ carry, digit & carry
        if carry:
            digits.append(carry)
    return digits


def _push_head(zone: CompiledZone, matches: int, ads: int, heads: list[_Head]) -> None:
    """Push the best-paying ads in the rest of a level; nothing for an empty rest."""
    if ads:
        ecpm_micros, group = zone.best_group(ads)
        heappush(heads, (-score(ecpm_micros, matches), matches, group, ads ^ group))


def _pop_tied(zone: CompiledZone, heads: list[_Head]) -> int:
    """Remove and return the ads of the best score, from all levels."""
    best, tied = heads[0][0], 0
    while heads and heads[0][0] == best:
        _, matches, group, rest = heappop(heads)
        tied |= group
        _push_head(zone, matches, rest, heads)
    return tied


def by_chance(zone: CompiledZone, context: Context, rng: random.Random) -> Iterator[Ad]:
    """Yield the showable ads in random order."""
    return (zone.ads[place] for place in shuffle(zone.showable(context.now), rng))


def shuffle(ads: int, rng: random.Random) -> Iterator[int]:
    """Yield the positions of a set in random order; the work grows with the positions used."""
    if not ads:
        return
    first = lowest(ads)
    ads >>= first
    for left in range(ads.bit_count(), 1, -1):
        place = _draw(ads, left, rng)
        ads ^= 1 << place
        yield first + place
    yield first + lowest(ads)


def _draw(ads: int, size: int, rng: random.Random) -> int:
    """Draw a position of a set with `size` ads, each with the same chance."""
    width = ads.bit_length()
    if 2 * size < width:
        return _nth(ads, rng.randrange(size))
    # At least half of the positions are in the set, as with most ads of one price: a try hits
    # with a chance of half or more.
    while True:
        place = rng.randrange(width)
        if ads >> place & 1:
            return place


def _nth(ads: int, number: int) -> int:
    """Return the position of the set's n-th ad, from 0, by halving."""
    place, width = 0, ads.bit_length()
    while width > 1:
        half = width // 2
        lower = ads & ((1 << half) - 1)
        below = lower.bit_count()
        if number < below:
            ads, width = lower, half
        else:
            ads, width = ads >> half, width - half
            place, number = place + half, number - below
    return place


def acceptable(
    ads: Iterable[Ad], read: ReadProfile, now: datetime, ahead: int, taken: Sequence[Ad]
) -> Iterator[Ad]:
    """Yield the ads that the visitor's caps accept, in order; the caps count the `taken` ads.

    A read of the profile covers a batch: the next `ahead` ads, then _GROWTH times as many each
    time.
    """
    waiting = iter(ads)
    while batch := list(islice(waiting, ahead)):
        profile = read({ad.advertiser for ad in batch if ad.caps})
        yield from (ad for ad in batch if refusing_cap(ad, profile, now, taken) is None)
        ahead *= _GROWTH


def take(ads: Iterable[Ad], count: int, taken: list[Ad], *, repeat: bool) -> None:
    """Add the first `count` ads to `taken`; without `repeat`, no two of one campaign.

    Each ad is in `taken` before the search for the next ad, so that the caps count it.
    """
    campaigns: set[str] = set()
    for ad in ads:
        if not repeat and ad.campaign_id in campaigns:
            continue
        taken.append(ad)
        campaigns.add(ad.campaign_id)
        if len(taken) == count:
            return

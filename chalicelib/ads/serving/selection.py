"""Which ads to show: pure functions over a compiled zone, a profile and injected randomness.

Source: "MongoDB Applied Design Patterns", ch. 7. Its three designs are one search with more
or less asked of it. Design 1 is the first ad `by_score` without keywords; design 2 the first
of those that are `acceptable`; design 3 takes keywords and goes on for `several` ads. So a
zone needs no setting: each request gets the design that what it says allows.
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
from chalicelib.ads.visitors.histories import LISTS, MAX_EVENTS, Entry, VisitorProfile
from chalicelib.ads.visitors.profile_reader import FEW_ADVERTISERS

# Frequency caps: whether a visitor may meet an ad once more.


def refusing_cap(ad: Ad, profile: VisitorProfile, now: datetime) -> FrequencyCap | None:
    """Return the first of the ad's caps that refuses it to this visitor now, or None.

    An event counts from its millisecond on until `window` later, without the end. A bound of
    the profile never makes a cap leak: a full list that lies wholly within a window may have
    lost events of it, and a full profile may have refused an advertiser's, so both refuse.
    Source: "MongoDB Applied Design Patterns", ch. 7, design 2 (`ad_is_acceptable`).
    """
    history = profile.histories.get(ad.advertiser)
    if history is None:
        return ad.caps[0] if ad.caps and profile.is_full else None
    for cap in ad.caps:
        if _is_reached(cap, ad, history.get(LISTS[cap.event], ()), now):
            return cap
    return None


def _is_reached(cap: FrequencyCap, ad: Ad, events: Sequence[Entry], now: datetime) -> bool:
    since = now - cap.window
    met = 0
    for event in reversed(events):
        if event["ts"] <= since:
            return False
        met += _concerns(cap, ad, event)
        if met == cap.limit:
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


# A zone of few advertisers has a profile read for all of them at once. In others it is read
# for this many ads at first: each takes 1 to 4 us, with a full history 10, and another read 150.
AHEAD = 8
_GROWTH = 8
_WEIGHTS = [math.log(1.1 + matches) for matches in range(MAX_KEYWORDS + 1)]

# A level's best-paying ads: minus their score, their matches, the ads, the rest of the level.
_Head = tuple[float, int, int, int]

# Gives a visitor's profile, which covers at least the advertisers named.
ReadProfile = Callable[[Collection[str]], VisitorProfile]


@dataclass(frozen=True)
class Context:
    """What a choice is made for; keywords are normalised and without repeats.

    For nobody no profile is read, so that no ad has to be looked at before it is its turn.
    """

    now: datetime
    keywords: tuple[str, ...] = ()
    count: int = 1
    repeat: bool = False
    explore_rate: float = 0.0
    for_nobody: bool = False


def choose(
    zone: CompiledZone,
    context: Context,
    read: ReadProfile,
    rng: random.Random,
    shows: Callable[[Ad], bool] = lambda _: True,
) -> list[Ad]:
    """Return up to `count` ads, the best first, that the visitor's caps accept.

    An ad that `shows` refuses gives way to the next. In a zone with CPC ads, `explore_rate`
    of the choices are made by chance, so that an ad with a bad start is tried again.
    """
    order = by_chance if explores(zone, context, rng) else by_score
    ads = order(zone, context, rng)
    is_one_read = context.for_nobody or len(zone.advertisers) <= FEW_ADVERTISERS
    ahead = 1 if is_one_read else AHEAD
    shown = filter(shows, acceptable(ads, read, context.now, ahead))
    return list(several(shown, context.count, repeat=context.repeat))


def explores(zone: CompiledZone, context: Context, rng: random.Random) -> bool:
    """Draw whether a choice is made by chance, which takes a zone with CPC ads."""
    return zone.has_cpc and rng.random() < context.explore_rate


def score(ecpm_micros: int, matches: int) -> float:
    """Return what an ad is worth to a request: eCPM x ln(1.1 + matching keywords)."""
    return ecpm_micros * _WEIGHTS[matches]


def by_score(zone: CompiledZone, context: Context, rng: random.Random) -> Iterator[Ad]:
    """Give the showable ads in descending score, those of equal score in random order.

    The ads with equally many matches are a level, within which eCPM decides; the levels are
    merged. A level is opened only when its upper bound, the zone's best eCPM with that many
    matches, reaches the best score that is held.
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
            yield from (zone.ads[place] for place in shuffled(_pop_tied(zone, heads), rng))


def _level(showable: int, digits: list[int], matches: int) -> int:
    """Return the ads that match exactly so many keywords."""
    for place, digit in enumerate(digits):
        showable &= digit if matches >> place & 1 else ~digit
    return showable


def _match_counts(zone: CompiledZone, keywords: Iterable[str]) -> list[int]:
    """Return every ad's number of matching keywords, as binary digits.

    The n-th set holds the ads whose number has the n-th digit; a keyword is added to all
    ads at once, as a ripple-carry adder would (bit-sliced counting).
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
    """Hold the best-paying ads of what is left of a level."""
    if ads:
        ecpm_micros, group = zone.best_group(ads)
        heappush(heads, (-score(ecpm_micros, matches), matches, group, ads ^ group))


def _pop_tied(zone: CompiledZone, heads: list[_Head]) -> int:
    """Take out the ads of the best score, of whichever levels."""
    best, tied = heads[0][0], 0
    while heads and heads[0][0] == best:
        _, matches, group, rest = heappop(heads)
        tied |= group
        _push_head(zone, matches, rest, heads)
    return tied


def by_chance(zone: CompiledZone, context: Context, rng: random.Random) -> Iterator[Ad]:
    """Give the showable ads in random order."""
    return (zone.ads[place] for place in shuffled(zone.showable(context.now), rng))


def shuffled(ads: int, rng: random.Random) -> Iterator[int]:
    """Give the positions of a set in random order, without working out more than are taken."""
    if not ads:
        return
    first = lowest(ads)
    ads >>= first
    for left in range(ads.bit_count(), 1, -1):
        place = _drawn(ads, left, rng)
        ads ^= 1 << place
        yield first + place
    yield first + lowest(ads)


def _drawn(ads: int, size: int, rng: random.Random) -> int:
    """Draw a position of a set of this size, each with the same chance."""
    width = ads.bit_length()
    if 2 * size < width:
        return _nth(ads, rng.randrange(size))
    # Of two tries one hits, in a set as dense as the ads of one price mostly are.
    while True:
        place = rng.randrange(width)
        if ads >> place & 1:
            return place


def _nth(ads: int, number: int) -> int:
    """Return the position of the set's n-th ad, counted from 0, by halving."""
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


def acceptable(ads: Iterable[Ad], read: ReadProfile, now: datetime, ahead: int) -> Iterator[Ad]:
    """Give those of the ads that the visitor's caps accept, in their order.

    The profile is asked for the advertisers of so many ads ahead, and of more where the caps
    refuse all of those.
    """
    waiting = iter(ads)
    while batch := list(islice(waiting, ahead)):
        profile = read({ad.advertiser for ad in batch if ad.caps})
        yield from (ad for ad in batch if refusing_cap(ad, profile, now) is None)
        ahead *= _GROWTH


def several(ads: Iterable[Ad], count: int, *, repeat: bool) -> Iterator[Ad]:
    """Give the first `count` of the ads; no two of one campaign, unless it may repeat."""
    taken: set[str] = set()
    for ad in ads:
        if not repeat and ad.campaign_id in taken:
            continue
        yield ad
        taken.add(ad.campaign_id)
        count -= 1
        if not count:
            return

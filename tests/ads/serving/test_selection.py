import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads.inventory.campaigns import StoredPricing
from chalicelib.ads.inventory.zones import ServedZone
from chalicelib.ads.serving.compiled_zone import Ad, CompiledZone
from chalicelib.ads.serving.selection import Context, by_score, choose, shuffle
from chalicelib.ads.visitors.histories import VisitorProfile
from tests.ads.serving.support.zones import (
    HOUR,
    MILLISECOND,
    NOBODY,
    assert_allowed,
    cap,
    chi_square,
    chosen,
    compiled,
    contexts,
    event,
    inventories,
    profile,
    profiles,
    reference,
    row,
    zone_document,
)
from tests.support.clock import START

CPC: StoredPricing = {"type": "cpc", "bid_micros": 50_000}
# The 99.9th percentile of chi-square with nine degrees of freedom.
NINE_DEGREES = 27.88


def test_the_best_paying_ad_is_chosen() -> None:
    assert chosen(compiled(row("cheap", 200_000), row("dear", 250_000))) == ["dear"]


def test_an_empty_zone_gives_none() -> None:
    assert chosen(compiled()) == []
    assert chosen(compiled(), "car", count=20) == []


def test_the_same_seed_gives_the_same_ads() -> None:
    tied = compiled(*[row(str(number)) for number in range(100)])

    assert chosen(tied, count=20, seed=3) == chosen(tied, count=20, seed=3)
    assert chosen(tied, count=20, seed=3) != chosen(tied, count=20, seed=4)


@pytest.mark.parametrize(
    "keywords", [(), ("car",), ("car", "red")], ids=["none", "one", "two that are not shared"]
)
def test_ties_are_chosen_uniformly(keywords: tuple[str, ...]) -> None:
    tied = [str(number) for number in range(10)]
    # With both keywords asked for, half of the ties match the one and half the other.
    ads = [row(name, keywords=["car" if int(name) % 2 else "red"]) for name in tied]
    if keywords == ("car",):
        ads = [row(name, keywords=["car"]) for name in tied]
    zone = compiled(*ads, row("cheap", 1_000))
    rng = random.Random(1)

    counts = Counter(
        choose(zone, Context(START, keywords), lambda _: NOBODY, rng)[0].ad_unit_id
        for _ in range(10_000)
    )

    assert chi_square(counts, tied) < NINE_DEGREES


def test_ties_are_chosen_uniformly_among_those_that_the_caps_accept() -> None:
    names = [str(number) for number in range(15)]
    zone = compiled(*[row(f"x:spring/{name}", caps=[cap()]) for name in names])
    seen = profile(x={"impressions": [event(START, name) for name in names[:5]]})
    rng = random.Random(2)

    counts = Counter(
        choose(zone, Context(START), lambda _: seen, rng)[0].ad_unit_id for _ in range(10_000)
    )

    assert chi_square(counts, names[5:]) < NINE_DEGREES


def test_every_order_of_ties_is_equally_likely() -> None:
    zone = compiled(row("a"), row("b"), row("c"))
    rng = random.Random(3)

    counts = Counter(
        "".join(ad.ad_unit_id for ad in by_score(zone, Context(START), rng)) for _ in range(6_000)
    )

    # The 99.9th percentile with five degrees of freedom.
    assert chi_square(counts, ["abc", "acb", "bac", "bca", "cab", "cba"]) < 20.52


def test_every_order_of_a_set_with_wide_gaps_is_equally_likely() -> None:
    names = {0: "a", 50: "b", 99: "c"}
    rng = random.Random(4)

    counts = Counter(
        "".join(names[place] for place in shuffle(sum(1 << n for n in names), rng))
        for _ in range(6_000)
    )

    assert chi_square(counts, ["abc", "acb", "bac", "bca", "cab", "cba"]) < 20.52


def test_an_ad_at_the_floor_is_chosen_and_one_below_it_is_not() -> None:
    assert chosen(compiled(row("at", 250_000), floor_ecpm_micros=250_000)) == ["at"]
    assert chosen(compiled(row("below", 250_000), floor_ecpm_micros=250_001)) == []


def test_a_flight_is_served_from_its_start_to_before_its_end() -> None:
    zone = compiled(row("flying"))
    start, end = START - HOUR, START + HOUR

    # One compiled zone sees its flights begin and end.
    assert chosen(zone, now=start - MILLISECOND) == []
    assert chosen(zone, now=start) == ["flying"]
    assert chosen(zone, now=end - MILLISECOND) == ["flying"]
    assert chosen(zone, now=end) == []
    assert chosen(zone, now=start) == ["flying"]


def test_a_better_ad_outside_its_flight_gives_way() -> None:
    assert chosen(compiled(row("over", 300_000, end=START), row("flying"))) == ["flying"]


def test_a_matching_keyword_outweighs_a_price_up_to_seven_times_as_high() -> None:
    # ln(2.1) / ln(1.1) is 7.78.
    fitting = row("fitting", 1_000, keywords=["car"])

    assert chosen(compiled(fitting, row("dear", 7_000)), "car") == ["fitting"]
    assert chosen(compiled(fitting, row("dear", 8_000)), "car") == ["dear"]
    assert chosen(compiled(fitting, row("dear", 7_000))) == ["dear"]


def test_more_matching_keywords_weigh_more() -> None:
    one = row("one", 1_000, keywords=["car"])
    two = row("two", 1_000, keywords=["car", "luxury"])

    assert chosen(compiled(one, two), "car", "luxury", count=2) == ["two", "one"]


def test_a_request_takes_many_keywords_of_which_most_match_nothing() -> None:
    words = [f"word-{number}" for number in range(100)]
    ads = [row(str(n), keywords=words[:n]) for n in range(33)]

    assert chosen(compiled(*ads), *words, count=3) == ["32", "31", "30"]
    assert chosen(compiled(*ads), *[f"{word}!" for word in words]) != []


def test_several_ads_are_of_different_campaigns_unless_they_may_repeat() -> None:
    zone = compiled(row("x:a/1", 3_000), row("x:a/2", 2_000), row("x:b/3", 1_000))

    assert chosen(zone, count=20) == ["1", "3"]
    assert chosen(zone, count=20, repeat=True) == ["1", "2", "3"]
    assert chosen(zone, count=1, repeat=True) == ["1"]


@pytest.mark.parametrize(
    ("scope", "limit", "shown"),
    [
        ("advertiser", 1, ["1", "5"]),
        ("advertiser", 2, ["1", "2", "5"]),
        ("campaign", 1, ["1", "4", "5"]),
        ("campaign", 2, ["1", "2", "4", "5"]),
        ("ad", 1, ["1", "2", "3", "4", "5"]),
    ],
)
def test_the_ads_of_one_decision_count_in_each_other_s_caps(
    scope: str, limit: int, shown: list[str]
) -> None:
    capped = {"caps": [cap(scope, limit=limit)]}
    names = ["x:a/1", "x:a/2", "x:a/3", "x:b/4", "y:a/5"]
    zone = compiled(*[row(name, 5_000 - n, **capped) for n, name in enumerate(names)])

    assert chosen(zone, count=20, repeat=True) == shown


def test_the_ads_of_one_decision_count_beside_those_seen_before() -> None:
    zone = compiled(
        *[row(f"x:a/{n}", 5_000 - n, caps=[cap("campaign", limit=3)]) for n in range(5)],
        *[row(f"x:b/{n}", n + 1, caps=[cap("campaign", "click")]) for n in range(5, 8)],
    )
    seen = profile(x={"impressions": [event(START, "0", "a")]})

    assert chosen(zone, count=20, repeat=True, visitor=seen) == ["0", "1", "7", "6", "5"]


def test_an_ad_over_its_cap_is_not_paid_for() -> None:
    zone = compiled(*[row(f"x:a/{n}", 5_000 - n, caps=[cap("campaign")]) for n in range(5)])
    paid: list[str] = []

    def shows(ad: Ad) -> bool:
        paid.append(ad.ad_unit_id)
        return ad.ad_unit_id != "0"

    context = Context(START, count=20, repeat=True)
    ads = choose(zone, context, lambda _: NOBODY, random.Random(1), shows)

    assert [ad.ad_unit_id for ad in ads] == ["1"]
    assert paid == ["0", "1"]


def test_an_ad_that_cannot_be_shown_gives_way_to_another_of_its_campaign() -> None:
    zone = compiled(row("x:a/1", 3_000), row("x:a/2", 2_000))

    ads = choose(
        zone,
        Context(START),
        lambda _: NOBODY,
        random.Random(1),
        lambda ad: ad.ad_unit_id != "1",
    )

    assert [ad.ad_unit_id for ad in ads] == ["2"]


def test_an_exploring_zone_with_cpc_ads_gives_every_ad_its_chance() -> None:
    names = [str(number) for number in range(10)]
    zone = compiled(*[row(name, 1_000 * (int(name) + 1), pricing=CPC) for name in names])

    counts = Counter(chosen(zone, seed=s, explore_rate=1.0)[0] for s in range(10_000))
    assert chi_square(counts, names) < NINE_DEGREES

    counts = Counter(chosen(zone, seed=s, explore_rate=0.1)[0] for s in range(10_000))
    assert counts["9"] == pytest.approx(9_100, abs=100)


def test_chance_does_not_break_a_rule() -> None:
    zone = compiled(
        row("capped", caps=[cap()], pricing=CPC),
        row("over", end=START),
        row("below", 1),
        row("good", 10),
        floor_ecpm_micros=10,
    )
    seen = profile(capped={"impressions": [event(START, "capped")]})

    for seed in range(50):
        assert chosen(zone, seed=seed, visitor=seen, explore_rate=1.0) == ["good"]


def test_a_zone_of_cpm_ads_does_not_explore() -> None:
    zone = compiled(row("cheap", 1_000), row("dear", 2_000))

    assert {chosen(zone, seed=seed, explore_rate=1.0)[0] for seed in range(50)} == {"dear"}


def test_5000_ads_are_given_in_order_and_once() -> None:
    rng = random.Random(4)
    words = [str(number) for number in range(50)]
    rows = [
        row(str(n), rng.randint(1, 900), keywords=rng.sample(words, rng.randint(0, 32)))
        for n in range(5_000)
    ]
    zone = compiled(*rows)
    asked = Context(START, tuple(words[:10]))

    ads = list(by_score(zone, asked, random.Random(5)))

    keywords = {each["ad_unit_id"]: set(each["keywords"]) for each in rows}
    everything = reference(zone_document(*rows), words[:10], NOBODY, START)
    scores = {each["ad_unit_id"]: score for score, each in everything}
    assert [scores[ad.ad_unit_id] for ad in ads] == sorted(scores.values(), reverse=True)
    assert {ad.ad_unit_id for ad in ads} == set(keywords)


@given(st.integers(min_value=0, max_value=2**200), st.integers())
def test_a_set_is_shuffled_without_loss(ads: int, seed: int) -> None:
    places = list(shuffle(ads, random.Random(seed)))

    assert len(places) == len(set(places))
    assert sum(1 << place for place in places) == ads


@given(st.data(), inventories, contexts, st.integers())
def test_the_choice_is_one_that_scoring_everything_allows(
    data: st.DataObject, inventory: ServedZone, context: Context, seed: int
) -> None:
    visitor = data.draw(profiles(inventory))

    ads = choose(CompiledZone(inventory), context, lambda _: visitor, random.Random(seed))

    assert_allowed(ads, inventory, visitor, context)


@given(inventories, contexts)
def test_every_ad_that_scoring_everything_allows_is_chosen_by_some_seed(
    inventory: ServedZone, context: Context
) -> None:
    allowed = reference(inventory, context.keywords, NOBODY, context.now)
    best = max((score for score, _ in allowed), default=0.0)
    zone, rng = CompiledZone(inventory), random.Random(5)
    one = Context(context.now, context.keywords)

    found = {ad.ad_unit_id for _ in range(500) for ad in choose(zone, one, lambda _: NOBODY, rng)}

    # Of 20 ads, one is missed by 500 draws in 1 case of 10^10.
    assert found == {ad["ad_unit_id"] for score, ad in allowed if score == best}


@given(st.data(), inventories, contexts, st.integers())
def test_chance_too_keeps_every_rule(
    data: st.DataObject, inventory: ServedZone, context: Context, seed: int
) -> None:
    for ad in inventory["ads"][:1]:
        ad["pricing"] = CPC
    visitor = data.draw(profiles(inventory))
    exploring = Context(context.now, context.keywords, 20, repeat=True, explore_rate=1.0)

    ads = choose(CompiledZone(inventory), exploring, lambda _: visitor, random.Random(seed))

    assert_allowed(ads, inventory, visitor, exploring)


def test_a_profile_is_asked_for_8_ads_at_first_and_more_only_if_those_are_refused() -> None:
    ads = [row(f"x{n}:spring/{n}", 5_000 - n, caps=[cap()]) for n in range(200)]
    asked: list[int] = []

    def reader(refused: int) -> Callable[..., VisitorProfile]:
        def read(advertisers: set[str]) -> VisitorProfile:
            asked.append(len(advertisers))
            names = [n for n in range(refused) if f"x{n}" in advertisers]
            met: Any = {f"x{n}": {"impressions": [event(START, str(n))]} for n in names}
            return VisitorProfile("r", met)

        return read

    for refused, expected in ((0, [8]), (7, [8]), (8, [8, 64]), (200, [8, 64, 128])):
        asked.clear()
        found = choose(compiled(*ads), Context(START), reader(refused), random.Random(1))
        assert [ad.ad_unit_id for ad in found] == ([str(refused)] if refused < 200 else [])
        assert asked == expected

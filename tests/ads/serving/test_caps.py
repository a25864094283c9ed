from datetime import timedelta

import pytest

from chalicelib.ads.serving.selection import refusing_cap
from chalicelib.ads.visitors.histories import MAX_ADVERTISERS, MAX_EVENTS, Entry, VisitorProfile
from chalicelib.database import Document
from tests.ads.serving.support.zones import (
    HOUR,
    MILLISECOND,
    NOBODY,
    cap,
    compiled,
    event,
    profile,
    row,
)
from tests.support.clock import START


def accepts(visitor: VisitorProfile, *caps: Document, name: str = "x:spring/one") -> bool:
    (ad,) = compiled(row(name, caps=list(caps))).ads
    return refusing_cap(ad, visitor, START) is None


def met(*events: Entry) -> VisitorProfile:
    return profile(x={"impressions": list(events)})


@pytest.mark.parametrize("seconds", [1, 3_600, 86_400, 30 * 86_400])
def test_an_impression_counts_until_its_window_has_passed_to_the_millisecond(
    seconds: int,
) -> None:
    window = timedelta(seconds=seconds)

    assert not accepts(met(event(START - window + MILLISECOND)), cap(seconds=seconds))
    assert accepts(met(event(START - window)), cap(seconds=seconds))


def test_an_impression_that_another_container_s_clock_puts_ahead_counts() -> None:
    assert not accepts(met(event(START + HOUR)), cap())


def test_a_cap_is_reached_by_as_many_as_its_limit() -> None:
    def seen(count: int) -> VisitorProfile:
        return met(*[event(START)] * count)

    for limit in (1, 2, 50):
        assert accepts(seen(limit - 1), cap(limit=limit))
        assert not accepts(seen(limit), cap(limit=limit))


def test_a_visitor_or_advertiser_never_seen_accepts_all() -> None:
    assert accepts(NOBODY, cap())
    assert accepts(profile(y={"impressions": [event(START)]}), cap())
    assert accepts(profile(x={}), cap())
    assert accepts(profile(x={"clicks": [event(START)]}), cap())


def test_an_ad_s_cap_counts_that_ad_of_that_campaign() -> None:
    assert not accepts(met(event(START, "one", "spring")), cap("ad"))
    assert accepts(met(event(START, "two", "spring")), cap("ad"))
    assert accepts(met(event(START, "one", "summer")), cap("ad"))


def test_a_campaign_s_cap_counts_all_its_ads() -> None:
    assert not accepts(met(event(START, "two", "spring")), cap("campaign"))
    assert accepts(met(event(START, "one", "summer")), cap("campaign"))


def test_an_advertiser_s_cap_counts_all_its_campaigns() -> None:
    assert not accepts(met(event(START, "two", "summer")), cap("advertiser"))
    assert accepts(met(event(START, "two", "summer")), cap("advertiser"), name="y:spring/one")


def test_a_cap_on_clicks_counts_clicks_alone() -> None:
    clicked = profile(x={"clicks": [event(START)]})

    assert not accepts(clicked, cap(event="click"))
    assert accepts(met(event(START)), cap(event="click"))


def test_every_one_of_several_caps_has_to_accept() -> None:
    hourly, daily = cap(limit=2), cap("campaign", limit=3, seconds=86_400)
    early, now = START - 2 * HOUR, START

    assert accepts(met(event(early), event(early)), hourly, daily)
    assert not accepts(met(event(early), event(early), event(now, "two")), hourly, daily)
    assert not accepts(met(event(now), event(now)), hourly, daily)


def test_a_full_list_that_is_younger_than_the_window_refuses() -> None:
    others = [event(START - HOUR + MILLISECOND, "other", "other")] * (MAX_EVENTS - 1)

    assert accepts(met(*others), cap("ad", limit=50))
    assert not accepts(met(*others, event(START, "other", "other")), cap("ad", limit=50))


def test_a_full_list_that_reaches_beyond_the_window_has_lost_nothing_of_it() -> None:
    older = event(START - HOUR, "other", "other")
    others = [event(START, "other", "other")] * (MAX_EVENTS - 1)

    assert accepts(met(older, *others), cap("ad", limit=50))
    assert not accepts(met(older, *others), cap("ad", limit=50, seconds=3_601))


def test_a_full_profile_refuses_the_capped_ads_of_an_advertiser_it_does_not_know() -> None:
    assert not accepts(profile(MAX_ADVERTISERS), cap())
    assert accepts(profile(MAX_ADVERTISERS - 1), cap())
    assert accepts(profile(MAX_ADVERTISERS))
    assert accepts(profile(MAX_ADVERTISERS, x={"impressions": []}), cap())

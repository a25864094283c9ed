"""Serving through HTTP: what is asked, what a profile decides, what is recorded."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.ads.serving import decisions
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import AdRequest, decide
from chalicelib.ads.visitors import profiles as visitors
from chalicelib.ads.visitors.profiles import PROFILES
from chalicelib.runtime import Runtime
from tests.ads.serving.support.asking import get, profiles, shown
from tests.ads.serving.support.zones import event
from tests.ads.support.events import ANN, BOB
from tests.ads.support.factories import activate, ad_unit, add_zones, cpm, put_campaign
from tests.support.clock import START, Clock
from tests.support.http_client import Client

SPRING = "mercedes:spring"


SUMMER = "bmw:summer"


DAY_SECONDS = 86_400


@pytest.fixture
def strict(runtime: Runtime) -> Runtime:
    """A zone that counts its decisions, with two campaigns of the default cap."""
    add_zones(runtime, "blog/banner", count_on="decision")
    put_campaign(runtime, SPRING)
    put_campaign(runtime, SUMMER, pricing=cpm(1_000))
    activate(runtime, SPRING, SUMMER)
    return runtime


@pytest.mark.usefixtures("strict")
def test_a_capped_ad_gives_way_to_the_next_and_comes_back_after_its_window(
    client: Client, clock: Clock
) -> None:
    assert shown(client, f"visitor={ANN}") == ["mercedes:spring/one"]
    assert shown(client, f"visitor={ANN}") == ["bmw:summer/one"]
    assert shown(client, f"visitor={ANN}") == []
    assert shown(client, f"visitor={BOB}") == ["mercedes:spring/one"]

    clock.advance(seconds=DAY_SECONDS, milliseconds=-1)
    assert shown(client, f"visitor={ANN}") == []
    clock.advance(milliseconds=1)
    assert shown(client, f"visitor={ANN}") == ["mercedes:spring/one"]


def test_a_decision_that_counts_is_recorded_in_the_profile(strict: Runtime, client: Client) -> None:
    reply = get(client, f"visitor={ANN}&count=2")

    (profile,) = profiles(strict)
    assert profile["_id"] == "ann"
    for slot, (advertiser, campaign) in enumerate((("mercedes", "spring"), ("bmw", "summer"))):
        assert profile["advertisers"][advertiser]["impressions"] == [
            {
                "ts": START,
                "campaign": campaign,
                "ad_unit_id": "one",
                "site_id": "blog",
                "zone_id": "banner",
                "decision": reply.json["id"],
                "slot": slot,
            }
        ]


def test_a_zone_that_counts_beacons_writes_no_profile(runtime: Runtime, client: Client) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)

    assert (
        shown(client, f"visitor={ANN}")
        == shown(client, f"visitor={ANN}")
        == ["mercedes:spring/one"]
    )
    assert profiles(runtime) == []


def test_requests_at_once_cannot_defeat_a_cap(strict: Runtime) -> None:
    limited = [
        {"scope": "advertiser", "event": "impression", "limit": 5, "window_seconds": DAY_SECONDS}
    ]
    put_campaign(strict, SPRING, caps=limited, ad_units=[ad_unit("a"), ad_unit("b")])
    memories = [ZoneCache(strict), ZoneCache(strict)]

    for visitor in ("ann", "bob", "cy"):
        asked = AdRequest("blog", "banner", visitor=visitor)

        def ask(number: int, asked: AdRequest = asked) -> list[str]:
            found = decide(strict, memories[number % 2], asked)
            return [each.ad.advertiser for each in found.placements]

        with ThreadPoolExecutor(8) as pool:
            served = [name for names in pool.map(ask, range(16)) for name in names]

        assert served.count("mercedes") == 5
        assert served.count("bmw") == 1


def test_a_visitor_met_by_another_writer_at_every_try_is_shown_nothing(
    strict: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def refuse(*arguments: Any) -> bool:
        tries.append(arguments)
        return False

    monkeypatch.setattr(visitors, "record", refuse)

    assert decide(strict, ZoneCache(strict), AdRequest("blog", "banner", "ann")).placements == ()
    assert len(tries) == decisions.MAX_ROUNDS


def test_a_decision_that_is_made_again_pays_for_one_impression(
    strict: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_campaign(strict, SPRING, budget={"total_micros": 250})
    record, tries = visitors.record, []

    def refuse_once(*arguments: Any) -> bool:
        tries.append(arguments)
        return len(tries) > 1 and record(*arguments)

    monkeypatch.setattr(visitors, "record", refuse_once)

    decided = decide(strict, ZoneCache(strict), AdRequest("blog", "banner", "ann"))

    assert [each.ad.advertiser for each in decided.placements] == ["mercedes"]
    assert len(tries) == 2


def test_an_ad_without_caps_is_counted_too(strict: Runtime, client: Client) -> None:
    put_campaign(strict, SPRING, caps=[])

    assert (
        shown(client, f"visitor={ANN}")
        == shown(client, f"visitor={ANN}")
        == ["mercedes:spring/one"]
    )

    (profile,) = profiles(strict)
    assert len(profile["advertisers"]["mercedes"]["impressions"]) == 2


def test_a_visitor_with_full_lists_of_200_advertisers_is_served_right(
    runtime: Runtime, client: Client
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    put_campaign(runtime, SUMMER, pricing=cpm(1_000))
    put_campaign(runtime, "new:uncapped", pricing=cpm(1_000), caps=[])
    activate(runtime, SPRING, SUMMER)
    full = {"impressions": [event(START, "other", "other")] * 100}
    histories = {f"x{number}": full for number in range(198)} | {"mercedes": full, "y": full}
    profile = {"_id": "ann", "revision": "r", "last_seen": START, "advertiser_count": 200}
    runtime.database[PROFILES.name].insert_one({**profile, "advertisers": histories})

    # One advertiser's list may have lost the impression, the other's was never begun.
    assert shown(client, f"visitor={ANN}&count=20") == []
    activate(runtime, "new:uncapped")
    assert shown(client, f"visitor={ANN}&count=20") == ["new:uncapped/one"]


def test_several_ads_are_of_different_campaigns_unless_they_may_repeat(
    runtime: Runtime, client: Client
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, ad_units=[ad_unit("a"), ad_unit("b")])
    put_campaign(runtime, SUMMER, pricing=cpm(1_000))
    activate(runtime, SPRING, SUMMER)

    assert len(shown(client, "count=20")) == 2
    assert sorted(shown(client, "count=20&repeat=true")) == [
        "bmw:summer/one",
        "mercedes:spring/a",
        "mercedes:spring/b",
    ]


@pytest.mark.parametrize(
    "keywords", ["car", "CAR", "Car,,", "x,%20car%20", "%EF%BD%83%EF%BD%81%EF%BD%92", "car,car"]
)
def test_keywords_are_compared_in_one_form(runtime: Runtime, client: Client, keywords: str) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    put_campaign(runtime, SUMMER, pricing=cpm(50_000), ad_units=[ad_unit(keywords=["Car"])])
    activate(runtime, SPRING, SUMMER)

    assert shown(client) == shown(client, "keywords=boat") == ["mercedes:spring/one"]
    assert shown(client, f"keywords={keywords}") == ["bmw:summer/one"]


def test_a_page_may_say_100_keywords_of_any_length(runtime: Runtime, client: Client) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, ad_units=[ad_unit(keywords=["straße", "日本"])])
    activate(runtime, SPRING)

    many = ",".join(str(number) for number in range(100))
    assert shown(client, f"keywords={many}") == ["mercedes:spring/one"]
    assert get(client, f"keywords={many},100").code == "invalid_request"
    assert shown(client, f"keywords={'x' * 5_000},STRASSE") == ["mercedes:spring/one"]


@pytest.mark.parametrize(
    "query",
    [
        "count=0",
        "count=21",
        "count=x",
        "repeat=perhaps",
        "consent=perhaps",
        "visitor=",
        "visitor=$ne",
        "visitor=a.b",
        "visitor=a%00",
        "visitor=" + "a" * 65,
        "colour=red",
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    strict: Runtime, client: Client, query: str
) -> None:
    reply = get(client, query)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert profiles(strict) == []


def test_an_exploring_deployment_shows_other_ads_in_zones_with_cpc_ads(
    runtime: Runtime,
) -> None:
    settings = runtime.settings.model_copy(update={"explore_rate": 1.0})
    exploring = dataclasses.replace(runtime, settings=settings)
    client = Client(create_app(exploring, LocalChalice), lambda *_: "")
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    put_campaign(runtime, SUMMER, pricing={"type": "cpc", "bid_micros": 1})
    activate(runtime, SPRING, SUMMER)

    seen = {ad for _ in range(60) for ad in shown(client)}

    assert seen == {"mercedes:spring/one", "bmw:summer/one"}


def test_a_decision_has_all_that_a_token_needs(strict: Runtime) -> None:
    decision = decide(strict, ZoneCache(strict), AdRequest("blog", "banner", "ann", count=2))

    first, second = decision.placements
    assert (first.slot, second.slot) == (0, 1)
    assert (first.ad.campaign_id, first.ad.ad_unit_id) == (SPRING, "one")
    assert first.ad.pricing == cpm(250_000)
    assert decision.zone.counts_decisions
    assert (decision.ts, decision.asked.visitor) == (START, "ann")

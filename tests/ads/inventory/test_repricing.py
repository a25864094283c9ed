import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from pymongo import monitoring

from chalicelib.ads.bounds import MAX_BID_MICROS, MAX_BUDGET_MICROS
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns, click_rates, placing, repricing, waiting
from chalicelib.ads.inventory.campaigns import StoredPricing
from chalicelib.ads.inventory.click_rates import AD_COUNTS, Estimate
from chalicelib.ads.inventory.ecpm import (
    DEFAULT_PRIOR,
    MAX_WEIGHT,
    MIN_WEIGHT,
    ClickCounts,
    Prior,
    ecpm_micros,
    fit_prior,
)
from chalicelib.ads.inventory.fitting import Refused
from chalicelib.ads.inventory.waiting import WAITING
from chalicelib.ads.reports.counters import DAYS
from chalicelib.database import in_transaction
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    activate,
    ad_unit,
    add_zones,
    cpm,
    placed,
    put_campaign,
    zone,
)
from tests.support.clock import Clock
from tests.support.commands import listening

CPC: StoredPricing = {"type": "cpc", "bid_micros": 50_000}
GOOD, BAD, NEW, FIXED = "a:good", "b:bad", "c:new", "d:fixed"


def binomial(rng: random.Random, trials: int, rate: float) -> int:
    return sum(rng.random() < rate for _ in range(trials))


@pytest.mark.parametrize(("alpha", "beta"), [(2, 98), (5, 95), (1, 199)])
def test_a_prior_is_found_again_in_what_it_makes(alpha: float, beta: float) -> None:
    rng = random.Random(1)
    counts = [
        ClickCounts(n, binomial(rng, n, rng.betavariate(alpha, beta)))
        for n in rng.choices([300, 1_000, 3_000], k=600)
    ]

    fitted = fit_prior(counts)

    assert fitted.alpha / (fitted.alpha + fitted.beta) == pytest.approx(
        alpha / (alpha + beta), rel=0.1
    )
    assert fitted.alpha + fitted.beta == pytest.approx(alpha + beta, rel=0.25)


def test_rates_that_differ_by_chance_alone_give_a_heavy_prior() -> None:
    rng = random.Random(2)
    counts = [ClickCounts(2_000, binomial(rng, 2_000, 0.02)) for _ in range(200)]

    fitted = fit_prior(counts)

    assert fitted.alpha + fitted.beta > 2_000
    assert fit_prior([ClickCounts(1_000, 10)] * 10) == Prior(0.01 * MAX_WEIGHT, 0.99 * MAX_WEIGHT)


def test_rates_that_have_nothing_in_common_give_a_light_prior() -> None:
    fitted = fit_prior([ClickCounts(1_000, 0)] * 5 + [ClickCounts(1_000, 1_000)] * 5)

    assert fitted == Prior(MIN_WEIGHT / 2, MIN_WEIGHT / 2)


@pytest.mark.parametrize(
    "counts",
    [
        [],
        [ClickCounts()],
        [ClickCounts(1_000_000, 10_000)],
        [ClickCounts(100, 10)] * 9,
        [ClickCounts(10_000, 0)] * 10,
        [ClickCounts(1_000, 1_000)] * 10,
        [ClickCounts(10, 20)] * 200,
        [ClickCounts(0, 5)] * 10,
    ],
)
def test_too_little_to_go_by_leaves_the_default(counts: list[ClickCounts]) -> None:
    assert fit_prior(counts) == DEFAULT_PRIOR


def test_a_new_ad_has_the_zone_s_mean_and_one_click_moves_it_little() -> None:
    prior = Prior(20.0, 980.0)

    assert ecpm_micros(CPC, prior=prior) == 1_000_000
    assert ecpm_micros(CPC, ClickCounts(1, 1), prior) == pytest.approx(1_049_000, rel=0.001)
    assert ecpm_micros(CPC, ClickCounts(10, 0), prior) == pytest.approx(990_000, rel=0.001)
    assert ecpm_micros(cpm(7_000), ClickCounts(10, 10), prior) == 7_000


def count(runtime: Runtime, campaign_id: str, impressions: int, clicks: int) -> None:
    key = {"site_id": "blog", "zone_id": "banner", "campaign_id": campaign_id}
    runtime.database[AD_COUNTS.name].update_one(
        {**key, "ad_unit_id": "one"},
        {"$set": {"impressions": impressions, "clicks": clicks}},
        upsert=True,
    )


def report(runtime: Runtime, ad: str, day: datetime, impressions: int, clicks: int) -> None:
    place = {"site_id": "blog", "zone_id": "banner", "campaign_id": ad, "ad_unit_id": "one"}
    counted = {**place, "period": day, "impressions": impressions, "clicks": clicks}
    runtime.database[DAYS.name].insert_one({"_id": f"{ad}:{day}", **counted})


def find_counts(runtime: Runtime) -> dict[str, tuple[int, int]]:
    rows = runtime.database[AD_COUNTS.name].find()
    return {row["campaign_id"]: (row["impressions"], row["clicks"]) for row in rows}


@pytest.mark.parametrize("days", [2, 20, 40])
def test_an_ad_that_pauses_keeps_its_counts_and_one_that_runs_has_its_last_days(
    runtime: Runtime, clock: Clock, days: int
) -> None:
    today = clock().replace(hour=0, minute=0, second=0, microsecond=0)
    for n in range(30):
        report(runtime, GOOD, today - timedelta(days=n), 100, 2)
        report(runtime, BAD, today - timedelta(days=n), 100, 0)
    click_rates.estimate(runtime.database, clock())
    assert find_counts(runtime) == {GOOD: (3_000, 60), BAD: (3_000, 0)}

    for n in range(days):
        report(runtime, BAD, today + timedelta(days=n + 1), 10, 1)
        clock.advance(days=1)
        click_rates.estimate(runtime.database, clock())

    impressions, clicks = find_counts(runtime)[GOOD]
    # Its first day may leave before two days without events.
    assert (impressions, clicks) in {(3_000, 60), (2_900, 58)}
    # It comes back, and its first events count for little.
    report(runtime, GOOD, today + timedelta(days=days), 10, 0)
    click_rates.estimate(runtime.database, clock())
    shown, clicked = find_counts(runtime)[GOOD]
    assert (shown >= 1_000, clicked >= 20) == (True, True)
    assert find_counts(runtime)[BAD] == (
        100 * max(0, 31 - days) + 10 * min(days, 31),
        min(days, 31),
    )


def test_an_ad_whose_days_no_run_has_seen_is_counted_while_it_pauses(
    runtime: Runtime, clock: Clock
) -> None:
    today = clock().replace(hour=0, minute=0, second=0, microsecond=0)
    report(runtime, GOOD, today - timedelta(days=9), 100, 2)
    click_rates.estimate(runtime.database, clock())
    report(runtime, GOOD, today - timedelta(days=8), 50, 1)

    click_rates.estimate(runtime.database, clock())

    assert find_counts(runtime) == {GOOD: (150, 3)}


@pytest.fixture
def priced(runtime: Runtime) -> Runtime:
    add_zones(runtime, "blog/banner", "blog/side")
    for name in (BAD, GOOD, NEW):
        put_campaign(runtime, name, "blog/banner", "blog/side", pricing=CPC)
    put_campaign(runtime, FIXED, "blog/banner", pricing=cpm(1_000))
    activate(runtime, BAD, GOOD, NEW, FIXED)
    count(runtime, GOOD, 10_000, 500)
    count(runtime, BAD, 10_000, 10)
    return runtime


def ecpms(runtime: Runtime, name: str = "blog/banner") -> dict[str, int]:
    return {ad["campaign_id"]: ad["ecpm_micros"] for ad in zone(runtime, name)["ads"]}


def test_a_zone_follows_its_counts(priced: Runtime) -> None:
    before = zone(priced, "blog/banner")["version"]
    assert set(ecpms(priced).values()) == {250_000, 1_000}

    assert repricing.reprice(priced) == 1

    assert placed(priced, "blog/banner") == [GOOD, NEW, BAD, FIXED]
    assert ecpms(priced) == {
        GOOD: ecpm_micros(CPC, ClickCounts(10_000, 500)),
        NEW: 250_000,
        BAD: ecpm_micros(CPC, ClickCounts(10_000, 10)),
        FIXED: 1_000,
    }
    assert zone(priced, "blog/banner")["version"] == before + 1
    assert set(ecpms(priced, "blog/side").values()) == {250_000}


def test_clicks_without_impressions_keep_no_zone_from_its_new_prices(priced: Runtime) -> None:
    dearest = {"type": "cpc", "bid_micros": MAX_BID_MICROS}
    put_campaign(priced, NEW, pricing=dearest, budget={"total_micros": MAX_BUDGET_MICROS})
    count(priced, NEW, 0, 10**6)

    assert repricing.reprice(priced) == 1

    assert placed(priced, "blog/banner") == [NEW, GOOD, BAD, FIXED]


def test_a_zone_without_news_is_left_alone(priced: Runtime) -> None:
    repricing.reprice(priced)
    before = zone(priced, "blog/banner")

    assert repricing.reprice(priced) == 0

    assert zone(priced, "blog/banner") == before


def test_a_fitted_prior_is_kept_and_moves_the_new_ads(priced: Runtime) -> None:
    for number in range(10):
        count(priced, f"x{number}:gone", 5_000, 100 + number * 10)

    repricing.reprice(priced)

    prior = Prior(**zone(priced, "blog/banner")["ctr_prior"])
    assert prior != DEFAULT_PRIOR
    assert ecpms(priced)[NEW] == ecpm_micros(CPC, ClickCounts(), prior)


def test_a_changed_bid_keeps_what_is_known_of_the_clicks(priced: Runtime) -> None:
    for number in range(10):
        count(priced, f"x{number}:gone", 5_000, 100 + number * 10)
    repricing.reprice(priced)
    prior = Prior(**zone(priced, "blog/banner")["ctr_prior"])
    dearer: StoredPricing = {**CPC, "bid_micros": 60_000}

    put_campaign(priced, GOOD, "blog/banner", "blog/side", pricing=dearer)

    assert ecpms(priced)[GOOD] == ecpm_micros(dearer, ClickCounts(10_000, 500), prior)
    assert ecpms(priced, "blog/side")[GOOD] == 300_000


def test_an_ad_that_pauses_does_not_come_back_as_a_new_one(priced: Runtime) -> None:
    repricing.reprice(priced)
    bad = ecpms(priced)[BAD]

    lifecycle.deactivate(priced.database, BAD)
    activate(priced, BAD)

    assert ecpms(priced)[BAD] == bad < 250_000


def test_repricing_among_writers_loses_none_of_their_changes(priced: Runtime) -> None:
    def work(task: int) -> None:
        for number in range(10):
            if task == 0:
                count(priced, NEW, 1_000, number * 10)
                repricing.reprice(priced)
            else:
                units = [ad_unit("one"), ad_unit(f"{task}-{number}")]
                name = (GOOD, BAD)[task - 1]
                put_campaign(priced, name, pricing=CPC, ad_units=units)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    repricing.reprice(priced)

    found = zone(priced, "blog/banner")
    counts = {
        (each["campaign_id"], each["ad_unit_id"]): ClickCounts(each["impressions"], each["clicks"])
        for each in priced.database[AD_COUNTS.name].find()
    }
    estimate = Estimate(Prior(**found["ctr_prior"]), counts)
    stored = campaigns.CAMPAIGNS.of(priced.database).find()
    assert found["ads"] == placing.in_order(
        row for campaign in stored for row in placing.rows(campaign, estimate)
    )


class Updates(monitoring.CommandListener):
    """Notes whether updates of waiting rows are part of a transaction."""

    def __init__(self) -> None:
        self.in_transaction: list[bool] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if event.command.get("update") == WAITING.name:
            self.in_transaction.append("autocommit" in event.command)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """A command counts when it is sent."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """A command counts when it is sent."""


def test_rows_that_wait_are_priced_after_their_zone_however_many_they_are(
    priced: Runtime,
) -> None:
    """One advertiser's waiting rows must not keep a zone from its new order."""
    (new,) = (each for each in zone(priced, "blog/banner")["ads"] if each["campaign_id"] == NEW)
    rows_of: list[Any] = [{**new, "campaign_id": f"vw:late-{n}"} for n in range(5)]
    late = [Refused(row, "zone_full") for row in rows_of]
    rows = [(("blog", "banner"), each) for each in late]
    in_transaction(priced.database, lambda session: waiting.add(priced.database, session, rows))
    for each in late:
        count(priced, each.row["campaign_id"], 10_000, 500)
    updates = Updates()

    with listening(priced, updates) as watched:
        assert repricing.reprice(watched) == 1

    assert updates.in_transaction == [False] * 5
    prices = {row["ecpm_micros"] for row in WAITING.of(priced.database).find()}
    prior = Prior(**zone(priced, "blog/banner")["ctr_prior"])
    assert prices == {ecpm_micros(CPC, ClickCounts(10_000, 500), prior)}

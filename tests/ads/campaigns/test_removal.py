"""Deleting campaigns and zones: at once for visitors, to the last event for money."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.ads import jobs
from chalicelib.ads.budgets import audit, balances, exhaustion
from chalicelib.ads.campaigns import removal
from chalicelib.ads.errors import CampaignDeleted, UnknownCampaign
from chalicelib.ads.inventory import campaigns, creatives, placing, waiting
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.ads.campaigns.support.removal import Crash
from tests.ads.support.events import count, impression, stored
from tests.ads.support.factories import (
    LANDING_URL,
    activate,
    ad_unit,
    add_zones,
    advertiser,
    campaign_body,
    html,
    placed,
    publisher,
    put_campaign,
)
from tests.ads.support.movements import GRACE, PRICE, SPRING, acquire, charge, end, funded, money
from tests.support.clock import Clock
from tests.support.http_client import Client

CAMPAIGN, ZONE = f"/campaigns/{SPRING}", "/sites/blog/zones/banner"


CPC = {"type": "cpc", "bid_micros": PRICE}


def delete(runtime: Runtime, campaign_id: str = SPRING) -> None:
    removal.delete(runtime.database, campaign_id, runtime.now())


def finish(runtime: Runtime) -> int:
    return removal.finish(runtime.database, GRACE, runtime.now())


def document(runtime: Runtime, campaign_id: str = SPRING) -> Document:
    found = runtime.database[campaigns.CAMPAIGNS.name].find_one({"_id": campaign_id})
    assert found is not None
    return found


def test_a_deleted_campaign_is_served_and_found_no_more(runtime: Runtime, client: Client) -> None:
    funded(runtime, 100)
    ann = advertiser(client)
    assert len(client.get("/ads/blog/banner").json["ads"]) == 1

    assert ann.request("DELETE", CAMPAIGN).status == 204

    assert client.get("/ads/blog/banner").json["ads"] == []
    assert ann.get(CAMPAIGN).code == "unknown_campaign"
    assert ann.post(f"{CAMPAIGN}/activate").code == "unknown_campaign"
    assert ann.post(f"{CAMPAIGN}/deactivate").code == "unknown_campaign"
    assert ann.put(CAMPAIGN, **campaign_body()).code == "campaign_deleted"
    assert ann.request("DELETE", CAMPAIGN).status == 204
    assert ann.get(f"{CAMPAIGN}/budget").json["spent_micros"] == 0


def test_only_its_advertiser_deletes_a_campaign(runtime: Runtime, client: Client) -> None:
    funded(runtime, 100)

    assert client.request("DELETE", CAMPAIGN).status == 401
    assert advertiser(client, "bmw").request("DELETE", CAMPAIGN).status == 403
    assert publisher(client).request("DELETE", CAMPAIGN).status == 403

    assert placed(runtime, "blog/banner") == [SPRING]


def test_large_creatives_and_what_waits_go_with_the_campaign(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", floor_ecpm_micros=10**9)
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html("x" * 2_000))])
    activate(runtime, SPRING)
    assert waiting.list_unplaced_units(runtime.database, SPRING) != []

    delete(runtime)

    assert waiting.list_unplaced_units(runtime.database, SPRING) == []
    assert runtime.database["ad.creative"].count_documents({}) == 0


def test_impressions_out_of_open_leases_are_billed_until_they_end(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 100)
    lease = acquire(runtime)
    assert lease
    delete(runtime)

    clock.advance(seconds=GRACE.total_seconds())
    count(runtime, impression(1, lease["_id"], runtime.now()))
    assert finish(runtime) == 0
    assert money(runtime) == {"released": 100, "available": 50, "leased": 49, "spent": 1}

    end(runtime, lease)
    assert finish(runtime) == 1
    assert money(runtime) == {"released": 1, "available": 0, "leased": 0, "spent": 1}
    count(runtime, impression(2, lease["_id"], runtime.now()))
    assert money(runtime) == {"released": 1, "available": 0, "leased": 0, "spent": 1}
    # What comes too late is recorded all the same.
    assert [row["billed"] for row in stored(runtime)] == [True, False]


def test_clicks_are_billed_up_to_the_grace_and_refused_after_it(
    runtime: Runtime, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, pricing=CPC, budget={"total_micros": 10 * PRICE})
    activate(runtime, SPRING)
    delete(runtime)

    clock.advance(seconds=GRACE.total_seconds(), milliseconds=-1)
    assert finish(runtime) == 0
    assert charge(runtime, PRICE) == [True]
    clock.advance(milliseconds=1)
    assert finish(runtime) == 1

    assert charge(runtime, PRICE) == [False]
    assert money(runtime) == {"released": 1, "available": 0, "leased": 0, "spent": 1}


def test_a_click_leads_to_its_page_after_the_deletion_too(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    funded(runtime, 100)
    (ad,) = client.get("/ads/blog/banner").json["ads"]
    delete(runtime)

    assert client.get(ad["click_url"]).status == 302

    clock.advance(hours=1)
    for _ in range(2):
        jobs.run_minute(runtime)
    assert document(runtime)["status"] == "deleted"
    assert client.get(ad["click_url"]).headers["Location"] == LANDING_URL


def test_the_schedule_finishes_a_deletion_once_and_leaves_only_the_money(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 100)
    lease = acquire(runtime)
    assert lease
    count(runtime, impression(1, lease["_id"], runtime.now()))
    delete(runtime)
    clock.advance(seconds=GRACE.total_seconds() + 60)

    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(jobs.run_minute, runtime) for _ in range(4)]
    finished = sum(run.result()["campaigns_deleted"] for run in runs)
    finished += jobs.run_minute(runtime)["campaigns_deleted"]

    assert finished == 1
    kept = document(runtime)
    assert (kept["status"], kept["targets"], kept["ad_units"]) == ("deleted", [], [])
    assert money(runtime) == {"released": 1, "available": 0, "leased": 0, "spent": 1}
    assert len(stored(runtime)) == 1
    assert runtime.database["ad.report.day"].count_documents({"campaign_id": SPRING}) == 1


def test_a_deleted_campaign_s_id_is_never_made_again(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 100)
    delete(runtime)

    for _ in range(2):
        with pytest.raises(CampaignDeleted):
            put_campaign(runtime, SPRING)
        clock.advance(days=400)
        finish(runtime)

    assert audit.read(runtime.database, SPRING)["released_micros"] == 0


def test_a_draft_leaves_nothing_that_could_be_mixed_into_another(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html("x" * 2_000))])

    delete(runtime)

    for collection in runtime.database.list_collection_names():
        found = runtime.database[collection].find_one({"$expr": {"$eq": ["$_id", SPRING]}})
        assert found is None, collection
    assert runtime.database["ad.creative"].count_documents({}) == 0
    assert runtime.database["ad.ledger"].count_documents({"campaign_id": SPRING}) == 0
    assert put_campaign(runtime, SPRING)["status"] == "draft"


def test_a_campaign_unknown_is_deleted_without_a_word(client: Client) -> None:
    assert advertiser(client).request("DELETE", CAMPAIGN).status == 204


@pytest.mark.parametrize("status", ["active", "paused", "ended", "exhausted"])
def test_a_campaign_of_any_status_that_has_been_active_is_marked(
    runtime: Runtime, status: str
) -> None:
    funded(runtime, 100)
    runtime.database[campaigns.CAMPAIGNS.name].update_one({}, {"$set": {"status": status}})

    delete(runtime)

    assert document(runtime)["status"] == "deleting"
    assert placed(runtime, "blog/banner") == []


@pytest.mark.parametrize("step", ["clear", "follow"])
def test_a_deletion_that_dies_between_two_writes_has_done_nothing(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    funded(runtime, 100)
    before = document(runtime)
    module: Any = placing if step == "clear" else creatives

    def dies(*_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(module, step, dies)
        with pytest.raises(Crash):
            delete(runtime)

    assert document(runtime) == before
    assert placed(runtime, "blog/banner") == [SPRING]


def test_a_finish_that_dies_is_resumed_by_the_next_run(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    funded(runtime, 100)
    delete(runtime)
    clock.advance(seconds=GRACE.total_seconds())

    def dies(*_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(balances, "bring_up_to_date", dies)
        with pytest.raises(Crash):
            finish(runtime)
    assert document(runtime)["status"] == "deleting"

    assert finish(runtime) == 1
    assert money(runtime) == {"released": 0, "available": 0, "leased": 0, "spent": 0}


def test_deleting_among_those_who_change_the_campaign_leaves_no_row(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for number in range(10):
        name = f"mercedes:race-{number}"
        put_campaign(runtime, name)
        activate(runtime, name)

        def change(what: int, name: str = name) -> None:
            try:
                match what:
                    case 0:
                        delete(runtime, name)
                    case 1:
                        activate(runtime, name)
                    case 2:
                        put_campaign(runtime, name, pricing={"type": "cpm", "bid_micros": 9_000})
                    case _:
                        exhaustion.refresh(runtime.database, name, runtime.now())
            except (CampaignDeleted, UnknownCampaign):
                pass

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(change, range(4)))
        assert document(runtime, name)["status"] == "deleting"
        assert placed(runtime, "blog/banner") == []


def test_a_deleted_campaign_takes_no_new_lease(runtime: Runtime) -> None:
    funded(runtime, 100)
    memory = ZoneCache(runtime)
    memory.zone("blog", "banner", runtime.now())
    delete(runtime)

    assert acquire(runtime) is None

"""Two writers at once, and a crash between two lines: zones and campaigns never disagree."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from pymongo.client_session import ClientSession
from pymongo.errors import OperationFailure

from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns, creatives, former, placing, zones
from chalicelib.ads.inventory.forms import Zone
from chalicelib.database import Document, in_transaction
from chalicelib.errors import ChangeTooLarge, Unavailable
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    BANNER,
    activate,
    ad_unit,
    add_zones,
    advertiser,
    assert_zones_agree,
    campaign,
    campaign_body,
    cpm,
    html,
    placed,
    put_campaign,
    target,
    zone,
)
from tests.support.http_client import Client

SPRING = "mercedes:spring"
THREADS = 6
ROUNDS = 10
CHANGES_PER_ROUND = 4
ZONES = [f"blog/zone-{number}" for number in range(5)]
CAMPAIGNS = [f"mercedes:campaign-{number}" for number in range(8)]


def change_something(runtime: Runtime, rng: random.Random, campaign_ids: list[str]) -> None:
    """Activate, deactivate, or give another price, other targets and other ad units."""
    campaign_id = rng.choice(campaign_ids)
    match rng.randrange(4):
        case 0 | 1:
            activate(runtime, campaign_id)
        case 2:
            lifecycle.deactivate(runtime.database, campaign_id)
        case _:
            put_campaign(
                runtime,
                campaign_id,
                *rng.sample(ZONES, rng.randint(1, len(ZONES))),
                pricing=cpm(rng.randint(1, 5) * 1_000),
                ad_units=[ad_unit(f"unit-{n}") for n in range(rng.randint(1, 3))],
            )


def in_threads(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


@pytest.mark.parametrize("count", [1, 3, 8])
def test_zones_equal_the_campaigns_after_many_writers_at_once(runtime: Runtime, count: int) -> None:
    add_zones(runtime, *ZONES)
    for campaign_id in CAMPAIGNS[:count]:
        put_campaign(runtime, campaign_id, *ZONES)
    # The zones are compared after each of many short races: a later change would repair them.
    for number in range(ROUNDS):

        def write(thread: int, number: int = number) -> None:
            rng = random.Random(number * THREADS + thread)
            for _ in range(CHANGES_PER_ROUND):
                change_something(runtime, rng, CAMPAIGNS[:count])

        in_threads(write)
        assert_zones_agree(runtime, *ZONES)


def test_no_reader_sees_a_zone_out_of_order_while_writers_are_at_work(runtime: Runtime) -> None:
    add_zones(runtime, *ZONES)
    for campaign_id in CAMPAIGNS:
        put_campaign(runtime, campaign_id, *ZONES)

    def write_or_read(number: int) -> None:
        rng, version = random.Random(number), 0
        for _ in range(ROUNDS):
            if number:
                change_something(runtime, rng, CAMPAIGNS)
                continue
            seen = zone(runtime, ZONES[0])
            prices = [ad["ecpm_micros"] for ad in seen["ads"]]
            assert prices == sorted(prices, reverse=True)
            assert seen["version"] >= version
            version = seen["version"]

    in_threads(write_or_read, 3)


def test_a_campaign_that_two_create_at_once_is_created_once(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for number in range(10):
        name = f"mercedes:race-{number}"

        def create(_: int, name: str = name) -> bool:
            return lifecycle.put(runtime, name, campaign())[1]

        assert sorted(in_threads(create, 4)) == [False, False, False, True]


def test_a_zone_that_two_create_at_once_is_created_once(runtime: Runtime) -> None:
    wanted = Zone.model_validate({"size": BANNER})

    def create(_: int) -> int:
        return int(zones.put(runtime.database, **target("blog/banner"), zone=wanted)["version"])

    assert sorted(in_threads(create, 4)) == [1, 2, 3, 4]


def test_changing_a_zone_s_floor_loses_none_of_the_ads_placed_meanwhile(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for campaign_id in CAMPAIGNS:
        put_campaign(runtime, campaign_id)

    def place_or_change(number: int) -> None:
        if number < len(CAMPAIGNS):
            activate(runtime, CAMPAIGNS[number])
        else:
            add_zones(runtime, "blog/banner", floor_ecpm_micros=number)

    in_threads(place_or_change, len(CAMPAIGNS) + 4)

    assert placed(runtime, "blog/banner") == CAMPAIGNS
    assert zone(runtime, "blog/banner")["version"] == 1 + len(CAMPAIGNS) + 4


def test_a_change_that_another_blocks_too_long_is_refused_for_now(
    runtime: Runtime, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    with monkeypatch.context() as short, runtime.database.client.start_session() as session:
        short.setattr("chalicelib.database.connection.TRANSACTION_TIMEOUT_SECONDS", 1.0)
        session.start_transaction()
        runtime.database[zones.ZONES.name].update_one(
            target("blog/banner"), {"$inc": {"version": 1}}, session=session
        )

        reply = advertiser(client).post(f"/campaigns/{SPRING}/activate")

        assert (reply.status, reply.code) == (503, "unavailable")
        assert reply.headers["Retry-After"] == "1"
        session.abort_transaction()
    assert advertiser(client).post(f"/campaigns/{SPRING}/activate").status == 200


def test_a_change_that_others_cross_until_its_time_is_up_is_refused_for_now(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver runs it again as long as there is time, and raises the last conflict then."""
    monkeypatch.setattr("chalicelib.database.connection.TRANSACTION_TIMEOUT_SECONDS", 0.2)

    def work(_: ClientSession) -> None:
        labels = {"errorLabels": ["TransientTransactionError"]}
        raise OperationFailure("write conflict", 112, labels)

    with pytest.raises(Unavailable):
        in_transaction(runtime.database, work)


def test_a_change_that_is_too_large_for_one_transaction_is_a_conflict(runtime: Runtime) -> None:
    def work(_: ClientSession) -> None:
        raise OperationFailure("transaction is too large", 388)

    with pytest.raises(ChangeTooLarge):
        in_transaction(runtime.database, work)


@pytest.mark.parametrize(
    "call",
    [
        f"PUT /campaigns/{SPRING}",
        f"POST /campaigns/{SPRING}/activate",
        f"POST /campaigns/{SPRING}/deactivate",
        f"DELETE /campaigns/{SPRING}",
        "PUT /sites/blog/zones/banner",
        "DELETE /sites/blog/zones/banner",
    ],
)
def test_a_call_whose_change_is_too_large_is_told_so(
    runtime: Runtime, client: Client, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)

    def fail(*_: Any, **__: Any) -> None:
        raise OperationFailure("transaction is too large", 388)

    monkeypatch.setattr(ClientSession, "with_transaction", fail)
    method, path = call.split()
    sent = {"size": BANNER} if "zones" in path else campaign_body()
    body, kind = orjson.dumps(sent), {"Content-Type": "application/json"}
    reply = client.as_("root", roles=["admin"]).request(method, path, body=body, headers=kind)

    assert (reply.status, reply.code) == (409, "change_too_large")


class Crash(Exception):
    """The process dies here."""


def state(runtime: Runtime) -> list[Document]:
    kept = (campaigns.CAMPAIGNS, zones.ZONES, creatives.CREATIVES, former.FORMER_PAGES)
    names = [each.name for each in (*kept, former.FORMER_MARKUP)]
    return [row for name in names for row in runtime.database[name].find().sort("_id", 1)]


@pytest.fixture
def active(runtime: Runtime) -> Runtime:
    """A runtime with a campaign at work in two zones, with a large creative."""
    add_zones(runtime, "blog/banner", "blog/side")
    units = [ad_unit(creative=html("x" * 2_000))]
    put_campaign(runtime, SPRING, "blog/banner", "blog/side", ad_units=units)
    activate(runtime, SPRING)
    return runtime


@pytest.mark.parametrize(
    ("module", "step"),
    [(lifecycle, "_update"), (creatives, "follow"), (former, "keep"), (placing, "place")],
    ids=["campaign", "creatives", "former", "zones"],
)
def test_a_change_that_dies_after_any_of_its_writes_leaves_nothing(
    active: Runtime, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    before = state(active)
    real = getattr(module, step)

    def dies_after(*arguments: Any) -> None:
        real(*arguments)
        raise Crash

    monkeypatch.setattr(module, step, dies_after)
    with pytest.raises(Crash):
        put_campaign(active, SPRING, "blog/banner", pricing=cpm(1_000))

    assert state(active) == before


@pytest.mark.parametrize(
    ("module", "step"), [(lifecycle, "_update"), (placing, "clear")], ids=["campaign", "zones"]
)
def test_a_deactivation_that_dies_after_any_of_its_writes_leaves_nothing(
    active: Runtime, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    before = state(active)
    real = getattr(module, step)

    def dies_after(*arguments: Any) -> None:
        real(*arguments)
        raise Crash

    monkeypatch.setattr(module, step, dies_after)
    with pytest.raises(Crash):
        lifecycle.deactivate(active.database, SPRING)

    assert state(active) == before


def test_an_activation_whose_second_zone_cannot_be_written_leaves_nothing(
    runtime: Runtime,
) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    put_campaign(runtime, SPRING, "blog/banner", "blog/side")
    runtime.database[zones.ZONES.name].update_one(
        target("blog/side"), {"$set": {"ads": "not a list"}}, bypass_document_validation=True
    )
    before = state(runtime)

    with pytest.raises(OperationFailure):
        activate(runtime, SPRING)

    assert state(runtime) == before

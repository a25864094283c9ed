"""What the ad network's minute does first, should its time not suffice for all."""

from typing import Any

import pytest

from chalicelib.ads import accounts, jobs
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import Payment, transfer
from chalicelib.ads.budgets import exhaustion
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.support.clock import Clock

NAMES = ["audi:early", "bmw:spent", "mercedes:late"]


def test_campaigns_out_of_the_zones_are_looked_at_before_those_within(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_zones(runtime, "blog/banner")
    for name in NAMES:
        put_campaign(runtime, name, budget={"total_micros": 10**6, "daily_micros": 10**5})
        activate(runtime, name)
    exhausted = {"$set": {"status": "exhausted"}}
    runtime.database[CAMPAIGNS.name].update_one({"_id": "bmw:spent"}, exhausted)
    refreshed: list[str] = []
    monkeypatch.setattr(exhaustion, "refresh", lambda _, name, __: refreshed.append(name))
    clock.advance(minutes=1)

    exhaustion.refresh_all(runtime.database, clock(), runtime.random)

    assert refreshed[0] == "bmw:spent"
    assert sorted(refreshed) == NAMES


def test_money_on_its_way_arrives_whatever_becomes_of_the_campaigns(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for account in (accounts.BANK, "advertiser:mercedes"):
        accounts.open_account(runtime.database, account, clock())

    def fails(*_: Any) -> None:
        raise Unavailable

    with monkeypatch.context() as dying:
        dying.setattr(transfers, "retire", fails)
        with pytest.raises(Unavailable):
            transfer(
                runtime.database,
                "top-up",
                Payment(accounts.BANK, "advertiser:mercedes", 500),
                clock(),
            )
    monkeypatch.setattr(exhaustion, "refresh_all", fails)

    with pytest.raises(Unavailable):
        jobs.run_minute(runtime)

    assert accounts.get(runtime.database, "advertiser:mercedes")["balance_micros"] == 500

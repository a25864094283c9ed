"""The settings of a shop: its currency, which stays, and how long a cart holds."""

import dataclasses
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from chalice.local import LocalChalice
from pymongo.collection import Collection
from pymongo.errors import DuplicateKeyError

from app import create_app
from chalicelib.memory import Memory
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.settings import SITES
from tests.shop.support.buying import SKU, cart_of, put_line, stocked
from tests.shop.support.factories import SITE, open_shop, publisher
from tests.support.clock import Clock
from tests.support.http_client import Client


def test_a_shop_is_opened_and_changed(client: Client) -> None:
    paula = publisher(client)
    path = f"/shops/{SITE}"

    assert paula.get(path).code == "unknown_shop"
    opened = paula.put(path, currency="EUR")
    assert opened.json == {
        "site": SITE,
        "currency": "EUR",
        "hold_seconds": 900,
        "hold_percent": 50,
        "payments": "fake",
        "order_page": None,
        "layout": "details",
        "is_rewriting": False,
    }

    assert paula.put(path, currency="EUR", hold_seconds=60).json["hold_seconds"] == 60
    assert paula.get(path).json["hold_seconds"] == 60


def test_a_shops_currency_never_changes(client: Client) -> None:
    paula = open_shop(client)

    assert paula.put(f"/shops/{SITE}", currency="JPY").code == "currency_fixed"
    assert paula.get(f"/shops/{SITE}").json["currency"] == "EUR"


def test_of_two_calls_that_open_a_shop_at_once_both_are_served(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, made = Collection.find_one_and_update, list[str]()

    def another_first(self: Any, *given: Any, **options: Any) -> Any:
        if options.get("upsert") and not made:
            made.append(SITE)
            assert change(self, *given, **options) is not None
            raise DuplicateKeyError("E11000")
        return change(self, *given, **options)

    monkeypatch.setattr(Collection, "find_one_and_update", another_first)

    opened = publisher(client).put(f"/shops/{SITE}", currency="EUR", hold_seconds=60)

    assert (opened.status, opened.json["hold_seconds"]) == (200, 60)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"currency": "XYZ"}, "currency"),
        ({"currency": "eur"}, "currency"),
        ({"hold_seconds": 59}, "hold_seconds"),
        ({"hold_seconds": 7_201}, "hold_seconds"),
        ({"hold_seconds": "900"}, "hold_seconds"),
        ({"payments": "cash"}, "payments"),
        ({"tax": 19}, "tax"),
    ],
)
def test_bad_settings_are_refused(client: Client, change: dict[str, Any], field: str) -> None:
    reply = publisher(client).put(f"/shops/{SITE}", **{"currency": "EUR", **change})

    assert reply.code == "invalid_request"
    assert reply.json["errors"][0]["field"] == field


class TestAccounts:
    """A deployment has one account at Stripe, which is for the sites that it names."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"stripe_sites": ("beta", "gamma")})

    def test_a_shop_takes_money_by_stripe_if_the_deployment_names_its_site(
        self, client: Client
    ) -> None:
        paula = client.as_("paula", roles=["publisher"], sites=[SITE, "beta"])

        refused = paula.put(f"/shops/{SITE}", currency="EUR", payments="stripe")
        taken = paula.put("/shops/beta", currency="EUR", payments="stripe")

        assert (refused.status, refused.code) == (409, "other_account")
        assert paula.get(f"/shops/{SITE}").code == "unknown_shop"
        assert (taken.status, taken.json["payments"]) == (200, "stripe")
        assert paula.put(f"/shops/{SITE}", currency="EUR").status == 200
        assert paula.put(f"/shops/{SITE}", currency="EUR", payments="stripe").status == 409
        assert paula.get(f"/shops/{SITE}").json["payments"] == "fake"

    def test_a_shop_of_release_0_3_0_that_has_the_account_keeps_it(
        self, client: Client, runtime: Runtime
    ) -> None:
        paula = client.as_("paula", roles=["publisher"], sites=[SITE])
        paula.put(f"/shops/{SITE}", currency="EUR")
        SITES.of(runtime.database).update_one({"_id": SITE}, {"$set": {"payments": "stripe"}})

        kept = paula.put(f"/shops/{SITE}", currency="EUR", payments="stripe", hold_seconds=60)

        assert (kept.status, kept.json["hold_seconds"]) == (200, 60)


def test_a_change_holds_here_at_once_and_elsewhere_within_five_seconds(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 9)
    there = dataclasses.replace(runtime, memory=Memory())
    elsewhere = Client(create_app(there, LocalChalice), client.token)
    seconds = partial(_held_seconds, clock)
    assert (seconds(client), seconds(elsewhere)) == (900, 900)

    publisher(client).put(f"/shops/{SITE}", currency="EUR", hold_seconds=60, hold_percent=100)

    assert (seconds(client), seconds(elsewhere)) == (60, 900)
    clock.advance(seconds=5)
    assert (seconds(client), seconds(elsewhere)) == (60, 60)


def _held_seconds(clock: Clock, client: Client) -> float:
    """Return how long a new cart holds a line."""
    (line,) = put_line(client, cart_of(client), SKU, 1).json["lines"]
    return (datetime.fromisoformat(line["until"]) - clock.time).total_seconds()

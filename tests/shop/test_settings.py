"""The settings of a shop: its currency, which stays, and how long a cart holds."""

from typing import Any

import pytest

from tests.shop.support.factories import SITE, open_shop, publisher
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
        "layout": "details",
        "is_rewriting": False,
    }

    assert paula.put(path, currency="EUR", hold_seconds=60).json["hold_seconds"] == 60
    assert paula.get(path).json["hold_seconds"] == 60


def test_a_shops_currency_never_changes(client: Client) -> None:
    paula = open_shop(client)

    assert paula.put(f"/shops/{SITE}", currency="JPY").code == "currency_fixed"
    assert paula.get(f"/shops/{SITE}").json["currency"] == "EUR"


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

"""Calls of one cart at once: in the end its lines say what the cart holds."""

from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.stock import shelf
from tests.shop.support.buying import OTHER, SKU, cart_of, put_line, shelf_of, stocked
from tests.shop.support.factories import SITE
from tests.support.http_client import Client

HOLDS = f"/shops/{SITE}/holds"


def held_of(client: Client, cart: str) -> dict[str, int]:
    """Return how many units of each SKU a cart says that it holds."""
    found = client.get(f"/carts/{cart}").json["lines"]
    return {each["sku"]: each["held"] for each in found}


def test_no_cart_holds_again_while_a_publisher_ends_its_holds(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1, PEQUOD=1)
    release, freed = shelf.release, []

    def again(_: Runtime, stock_id: str, *others: Any) -> int:
        units = release(runtime, stock_id, *others)
        freed.append(stock_id)
        put_line(client, cart, stock_id.partition(":")[2], 1)
        return units

    monkeypatch.setattr(shelf, "release", again)

    assert paula.delete(HOLDS).json["units"] == len(freed) == 2

    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (0, 0)
    assert held_of(client, cart) == {SKU: 0, OTHER: 0}


def test_a_publishers_call_that_crashes_leaves_no_cart_that_holds_again(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    with monkeypatch.context() as patch:
        patch.setattr(shelf, "release", lambda *_: 1 / 0)
        assert paula.delete(HOLDS).status == 500

    assert put_line(client, cart, SKU, 1).status == 200

    assert held_of(client, cart) == {SKU: 0}
    assert shelf_of(runtime).held == 0

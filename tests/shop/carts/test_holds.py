"""A publisher's view of holds reads many stocks at once."""

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.carts import holds
from chalicelib.shop.ids import key_of
from chalicelib.shop.stock import documents
from tests.shop.support.buying import OTHER, SKU, cart_of, stocked
from tests.shop.support.factories import SITE
from tests.support.commands import Commands
from tests.support.http_client import Client


@pytest.mark.parametrize("sku", [None, SKU])
def test_stocks_that_are_held_are_read_in_one_round_trip(
    client: Client, listened: Runtime, commands: Commands, sku: str | None
) -> None:
    stocked(client)
    carts = [cart_of(client, MOBY_HARD=1, PEQUOD=1) for _ in range(2)]
    commands.names.clear()

    shown = holds.page(listened, SITE, "", 50)
    freed = holds.free(listened, SITE, sku, holds.cart_digest(listened, carts[0]))

    assert [(each["sku"], each["in_carts"]) for each in shown] == [(SKU, 2), (OTHER, 2)]
    assert freed["units"] == (1 if sku else 2)
    assert commands.names.count("find") == 2
    assert "commitTransaction" not in commands.names


def test_holds_apart_from_their_stock_are_read_beside_the_others(
    client: Client, runtime: Runtime
) -> None:
    stocked(client)
    cart_of(client, MOBY_HARD=1, PEQUOD=2)
    documents.move_in(runtime.database, key_of(SITE, SKU))

    shown = holds.page(runtime, SITE, "", 50)

    assert [(each["sku"], each["in_carts"]) for each in shown] == [(SKU, 1), (OTHER, 2)]
    assert holds.free(runtime, SITE, None, None)["units"] == 3
    assert holds.free(runtime, SITE, "NOT-HERE", None)["units"] == 0

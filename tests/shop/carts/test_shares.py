"""The share that carts hold of a shop: how much, for how long, and who goes before them."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.carts import carts, clocks, lines
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.carts.sources import Buyer
from chalicelib.shop.errors import OutOfStock
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders import resuming, sweep
from chalicelib.shop.settings import SITES, ShopSettings
from chalicelib.shop.stock import documents
from chalicelib.shop.stock.shapes import STOCKS
from chalicelib.shop.stock.shares import shares_of
from tests.shop.support.buying import (
    OTHER,
    SKU,
    agreement,
    cart_of,
    check_out,
    fill,
    ordered,
    pay,
    put_line,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE, SITE, book, put
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")

HALF = {"hold_percent": 50}
HOLDS = f"/shops/{SITE}/holds"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Behind a proxy, so that a test says which address calls."""
    return settings.model_copy(update={"trusted_hops": 1})


def at(client: Client, network: int) -> Client:
    """Return a caller of a network of its own."""
    address = f"10.{network // 256}.{network % 256}.7"
    return Client(client.app, client.token, {"X-Forwarded-For": f"{address}, 192.0.2.1"})


def held_of(client: Client, cart: str, sku: str = SKU) -> int:
    """Return how many units of a SKU a cart says that it holds."""
    found = {each["sku"]: each for each in client.get(f"/carts/{cart}").json["lines"]}
    assert found[sku]["lapsed"] == (found[sku]["held"] == 0)
    return int(found[sku]["held"])


def holds(paula: Client) -> dict[str, Any]:
    return {each["sku"]: each for each in paula.get(HOLDS).json["holds"]}


def buy(client: Client, sku: str = SKU, qty: int = 1) -> Any:
    """Buy units as any visitor; return the order."""
    cart = cart_of(client)
    assert put_line(client, cart, sku, qty).status == 200
    order = ordered(client, cart, agreement(qty))
    return pay(client, cart, order)


def test_one_cart_takes_no_shop_off_the_shelf(client: Client, runtime: Runtime) -> None:
    """Nineteen SKUs of 108 units, and the twenty-one calls that held them all."""
    paula = stocked(client, 1, **HALF)
    skus = [f"BOOK-{number}" for number in range(19)]
    units = dict(zip(skus, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 18], strict=True))
    for sku in skus:
        assert put(paula, sku.lower(), book(sku)).status == 201
        fill(paula, units[sku], sku)
    stranger, visitor = at(client, 1), at(client, 2)

    cart = cart_of(stranger)
    for sku in skus:
        assert put_line(stranger, cart, sku, units[sku]).status == 200
    assert stranger.post(f"/carts/{cart}/hold").status == 200

    assert sum(units.values()) == 108
    held = {sku: shelf_of(runtime, sku).held for sku in skus}
    assert held == {sku: shares_of(units[sku], 50).cart for sku in skus}
    assert sum(held.values()) == 20
    for sku in skus:
        assert buy(visitor, sku, units[sku])["state"] == "done"


def test_no_renewal_passes_the_end_of_a_hold(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 1, hold_seconds=60, **HALF)
    cart = cart_of(client, MOBY_HARD=1)
    begun, ends = clock(), []
    for second in range(25, 500, 25):
        clock.time = begun + timedelta(seconds=second)
        sweep.sweep(runtime)
        if second % 2:
            put_line(client, cart, SKU, 1)
        else:
            client.post(f"/carts/{cart}/hold")
        ends.append(shelf_of(runtime).held)

    assert ends == [1, 1, 1, 1] + [0] * 15
    assert held_of(client, cart) == 0
    assert check_out(client, cart).status == 201


@pytest.mark.parametrize("times", [1, 5])
def test_a_cart_that_drops_a_sku_and_takes_it_again_starts_no_new_clock(
    client: Client, runtime: Runtime, clock: Clock, times: int
) -> None:
    stocked(client, 1, hold_seconds=60, **HALF)
    cart = cart_of(client, MOBY_HARD=1)
    for _ in range(times):
        clock.advance(seconds=119 // times)
        client.delete(f"/carts/{cart}/lines/{SKU}")
        put_line(client, cart, SKU, 1)
        assert held_of(client, cart) == 1
    clock.advance(seconds=120 - 119 // times * times)
    sweep.sweep(runtime)

    client.delete(f"/carts/{cart}/lines/{SKU}")
    put_line(client, cart, SKU, 1)

    assert (held_of(client, cart), shelf_of(runtime).held) == (0, 0)


@pytest.mark.parametrize("way", ["put", "hold"])
def test_the_clock_of_a_hold_starts_once_the_cart_holds_a_unit(
    client: Client, runtime: Runtime, clock: Clock, way: str
) -> None:
    stocked(client, 1, hold_seconds=60, **HALF)
    holder, other = cart_of(client, MOBY_HARD=1), cart_of(client, MOBY_HARD=1)
    assert (held_of(client, holder), held_of(client, other)) == (1, 0)
    assert client.post(f"/carts/{other}/hold").status == 200
    clock.advance(seconds=120)
    sweep.sweep(runtime)

    if way == "put":
        put_line(client, other, SKU, 1)
    else:
        client.post(f"/carts/{other}/hold")

    assert held_of(client, other) == 1
    assert carts.find(runtime.database, other)["first"] == {SKU: clock()}


def test_a_checkout_that_is_not_paid_starts_no_new_clock(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 1, **HALF)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart, agreement(email="slow@example.org"))
    clock.advance(seconds=1_800)
    client.post(f"/orders/{order}/cancel?cart={cart}")

    assert client.post(f"/carts/{cart}/hold").status == 200

    assert (held_of(client, cart), shelf_of(runtime).held) == (0, 0)


def test_two_carts_of_one_address_share_its_share(client: Client, runtime: Runtime) -> None:
    stocked(client, 16, **HALF)
    here, there = at(client, 1), at(client, 2)
    mine = [cart_of(here, MOBY_HARD=16) for _ in range(3)]
    theirs = cart_of(there, MOBY_HARD=16)

    assert [held_of(here, cart) for cart in (*mine, theirs)] == [2, 2, 0, 2]
    here.delete(f"/carts/{mine[0]}/lines/{SKU}")
    here.post(f"/carts/{mine[2]}/hold")
    assert held_of(here, mine[2]) == 2
    assert shelf_of(runtime).held == 6


@pytest.mark.parametrize("units", [1, 2, 3])
def test_of_a_few_pieces_one_is_held_and_all_can_be_bought(
    client: Client, runtime: Runtime, units: int
) -> None:
    stocked(client, units, **HALF)
    keepers = [cart_of(at(client, n), MOBY_HARD=units) for n in range(1, 6)]

    assert [held_of(client, cart) for cart in keepers] == [1, 0, 0, 0, 0]
    assert client.get(f"/shops/{SITE}/stock?skus={SKU}").json == {"available": {SKU: units}}
    assert buy(at(client, 9), qty=units)["state"] == "done"
    assert held_of(client, keepers[0]) == 0
    assert shelf_of(runtime).on_hand == 0


def test_who_checks_out_first_has_it_and_the_cart_that_held_it_hears_so(client: Client) -> None:
    stocked(client, 1, **HALF)
    holder, buyer = cart_of(client, MOBY_HARD=1), cart_of(client, MOBY_HARD=1)
    assert (held_of(client, holder), held_of(client, buyer)) == (1, 0)

    assert check_out(client, buyer).status == 201

    assert held_of(client, holder) == 0
    refused = check_out(client, holder)
    assert (refused.code, refused.json["facts"]) == ("out_of_stock", {"sku": SKU, "available": 0})


@pytest.mark.parametrize("store", ["embedded", "documents"])
def test_a_swarm_leaves_a_buyer_able_to_buy(client: Client, runtime: Runtime, store: str) -> None:
    """A thousand carts of as many addresses, each of which takes all it can, again and again."""
    stocked(client, 40, **HALF)
    if store == "documents":
        documents.move_in(runtime.database, key_of(SITE, SKU))
    swarm = [carts.open_cart(runtime, SITE, None)["_id"] for _ in range(1_000)]
    for number, cart in enumerate(swarm):
        lines.put(runtime, cart, SKU, 40, Buyer(source=f"{number:016x}"))

    assert shelf_of(runtime).held == 20
    assert buy(at(client, 1))["state"] == "done"
    assert buy(at(client, 2), qty=30)["state"] == "done"
    for cart in swarm[:50]:
        with suppress(OutOfStock):
            lines.hold_all(runtime, cart, Buyer(source="f" * 16))
    assert buy(at(client, 3), qty=9)["state"] == "done"
    assert shelf_of(runtime).on_hand == 0


def test_of_a_line_beyond_the_share_the_checkout_holds_all(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 8, **HALF)
    cart = cart_of(client, MOBY_HARD=5)
    assert held_of(client, cart) == 1

    order = ordered(client, cart, agreement(5))

    assert held_of_frozen(client, cart) == (5, False)
    assert pay(client, cart, order)["state"] == "done"
    assert shelf_of(runtime).on_hand == 3


def held_of_frozen(client: Client, cart: str) -> tuple[int, bool]:
    (line,) = client.get(f"/carts/{cart}").json["lines"]
    return line["held"], line["lapsed"]


def test_more_than_orders_have_left_is_not_put_into_a_cart(client: Client) -> None:
    stocked(client, 5, **HALF)
    ordered(client, cart_of(client, MOBY_HARD=3), agreement(3))

    refused = put_line(client, cart_of(client), SKU, 3)

    assert (refused.code, refused.json["facts"]) == ("out_of_stock", {"sku": SKU, "available": 2})


def test_a_cart_remembers_so_many_first_holds_and_holds_no_further_sku(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 1, **HALF)
    cart = cart_of(client, MOBY_HARD=1)
    many = {f"first.S{number}": runtime.now() for number in range(clocks.MAX_CLOCKS - 1)}
    CARTS.of(runtime.database).update_one({"_id": cart}, {"$set": many})

    assert put_line(client, cart, OTHER, 1).status == 200

    assert (held_of(client, cart), held_of(client, cart, OTHER)) == (1, 0)
    assert len(carts.find(runtime.database, cart)["first"]) == clocks.MAX_CLOCKS


def test_the_share_is_a_publishers_setting_and_what_is_read_can_be_written(
    client: Client,
) -> None:
    paula = stocked(client, 1, hold_percent=20, hold_seconds=70)
    path = f"/shops/{SITE}"
    read = paula.get(path).json

    again = paula.put(path, **{name: read[name] for name in ShopSettings.model_fields})

    assert (again.json, read["hold_percent"]) == (read, 20)
    assert paula.get(path).json == read
    assert paula.put(path, currency="EUR").json["hold_percent"] == 50
    for percent in (0, 101, 1.5, "x", None):
        assert paula.put(path, currency="EUR", hold_percent=percent).status == 422


def test_what_earlier_releases_stored_is_held_and_ends(client: Client, runtime: Runtime) -> None:
    stocked(client, 8)
    SITES.of(runtime.database).update_one({}, {"$unset": {"hold_percent": ""}})
    cart = cart_of(client)
    until = runtime.now() + timedelta(seconds=900)
    entry = {"cart": cart, "qty": 4, "until": until, "order": None}
    change = {"$push": {"carted": entry}, "$inc": {"available": -4}}
    STOCKS.of(runtime.database).update_one({"_id": key_of(SITE, SKU)}, change)
    line = {"product": "moby-dick", "qty": 4, "price_micros": PRICE, "title": "x", "until": until}
    CARTS.of(runtime.database).update_one({"_id": cart}, {"$set": {f"lines.{SKU}": line}})
    paula = client.as_("paula", roles=["publisher"], sites=[SITE])
    (holder,) = holds(paula)[SKU]["holders"]

    assert (holder["since"], holder["address"], holder["units"]) == (None, None, 4)
    assert held_of(client, cart) == 4
    assert paula.get(f"/shops/{SITE}").json["hold_percent"] == 50
    assert client.post(f"/carts/{cart}/hold").status == 200
    assert held_of(client, cart) == 1
    assert buy(client, qty=8)["state"] == "done"


def test_a_publisher_sees_who_holds_and_never_the_id_of_a_cart(client: Client) -> None:
    paula = stocked(client, 16, **HALF)
    here, there = at(client, 1), at(client, 2)
    mine = [cart_of(here, MOBY_HARD=16, PEQUOD=1), cart_of(here, MOBY_HARD=1)]
    theirs = cart_of(there, MOBY_HARD=1)
    ordered(there, cart_of(there, MOBY_HARD=3), agreement(3))

    reply = paula.get(HOLDS)

    seen = holds(paula)
    assert list(seen) == [SKU, OTHER]
    moby = seen[SKU]
    assert {name: moby[name] for name in ("on_hand", "in_carts", "in_orders", "carts")} == {
        "on_hand": 16,
        "in_carts": 4,
        "in_orders": 3,
        "carts": 3,
    }
    assert [each["units"] for each in moby["holders"]] == [2, 1, 1]
    assert moby["holders"][0]["cart"] == seen[OTHER]["holders"][0]["cart"]
    assert moby["holders"][0]["address"] == moby["holders"][1]["address"]
    assert moby["holders"][1]["address"] != moby["holders"][2]["address"]
    assert (moby["holders"][0]["since"], moby["holders"][0]["until"]) == (
        "2026-03-01T12:00:00Z",
        "2026-03-01T12:15:00Z",
    )
    assert not any(cart.encode() in reply.body for cart in (*mine, theirs))


def test_holds_are_listed_by_pages(client: Client) -> None:
    paula = stocked(client, 4, **HALF)
    cart_of(client, MOBY_HARD=1, PEQUOD=1)

    first = paula.get(f"{HOLDS}?limit=1").json
    second = paula.get(f"{HOLDS}?limit=1&cursor={first['next']}").json

    assert [each["sku"] for each in first["holds"] + second["holds"]] == [SKU, OTHER]
    assert second["next"] is None
    assert paula.get(f"{HOLDS}?limit=51").status == 422
    assert paula.get(f"{HOLDS}?cursor=x").code == "invalid_cursor"


@pytest.mark.parametrize("store", ["embedded", "documents"])
@pytest.mark.parametrize("which", ["", "?sku=MOBY-HARD", "?cart=", "?sku=MOBY-HARD&cart="])
def test_a_publisher_ends_holds_and_their_carts_hold_these_skus_no_more(
    client: Client, runtime: Runtime, which: str, store: str
) -> None:
    paula = stocked(client, 8, **HALF)
    cart, other = cart_of(at(client, 1), MOBY_HARD=1, PEQUOD=1), cart_of(at(client, 2), MOBY_HARD=1)
    ordered(client, cart_of(client, MOBY_HARD=2), agreement(2))
    if store == "documents":
        documents.move_in(runtime.database, key_of(SITE, SKU))
    named = holds(paula)[OTHER]["holders"][0]["cart"]
    query = which.replace("cart=", f"cart={named}")

    freed = paula.delete(HOLDS + query)

    moby = 1 if "cart" in which else 2
    pequod = 0 if "sku" in which else 1
    units = moby + pequod
    assert freed.json == {"units": units, "holds": units, "is_done": True}
    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (4 - moby, 1 - pequod)
    for path in (f"/carts/{cart}/hold", None):
        call = client.post(path) if path else put_line(client, cart, SKU, 1)
        assert call.status == 200
        assert held_of(client, cart) == 0
        assert held_of(client, cart, OTHER) == 1 - pequod
    assert held_of(client, other) == (1 if "cart" in which else 0)
    assert check_out(client, cart, agreement(2)).status == 201


@pytest.mark.bounds(shop={"tended_at_once": 2})
def test_many_holds_are_ended_by_several_calls(client: Client, runtime: Runtime) -> None:
    paula = stocked(client, 100, **HALF)
    for number in range(5):
        cart_of(at(client, number), MOBY_HARD=1)

    replies = [paula.delete(HOLDS).json for _ in range(3)]

    assert [(each["holds"], each["is_done"]) for each in replies] == [
        (2, False),
        (2, False),
        (1, True),
    ]
    assert shelf_of(runtime).held == 0
    assert paula.delete(HOLDS).json == {"units": 0, "holds": 0, "is_done": True}


def test_holds_are_a_publishers_own(client: Client) -> None:
    stocked(client, 1)
    pat = client.as_("pat", roles=["publisher"], sites=["beta"])

    for call in (pat.get(HOLDS), pat.delete(HOLDS)):
        assert call.status == 403
    assert client.get(HOLDS).status == client.delete(HOLDS).status == 401
    paula = client.as_("paula", roles=["publisher"], sites=[SITE])
    assert paula.delete(f"{HOLDS}?cart=nothing").status == 422
    assert paula.delete(f"{HOLDS}?sku=NOTHING").json["holds"] == 0


def unpaid(client: Client, qty: int, email: str = "slow@example.org") -> tuple[str, str]:
    cart = cart_of(client, MOBY_HARD=qty)
    return cart, ordered(client, cart, agreement(qty, email))


def test_an_unpaid_order_of_all_there_is_gives_way_to_another_network(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 8, **HALF)
    stranger = at(client, 1)
    cart, order = unpaid(stranger, 8)
    assert shelf_of(runtime).held == 8

    visitor = at(client, 2)
    assert put_line(visitor, cart_of(visitor), SKU, 5).code == "out_of_stock"
    bought = buy(visitor, qty=2)

    assert bought["state"] == "done"
    assert stored_order(runtime, order)["state"] == "void"
    assert stored_order(runtime, order)["reason"] == "cancelled"
    assert stranger.get(f"/carts/{cart}").json["state"] == "open"
    assert shelf_of(runtime).on_hand == 6


def test_where_one_order_cannot_be_called_off_the_next_one_is(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 12, hold_percent=25)
    _, large = unpaid(at(client, 1), 7)
    _, small = unpaid(at(client, 2), 5)
    resume = resuming.resume

    def resume_small(runtime: Runtime, order: str, **how: Any) -> Any:
        if order == large:
            raise Unavailable("the payment is pending at the bank")
        return resume(runtime, order, **how)

    monkeypatch.setattr(resuming, "resume", resume_small)

    bought = buy(at(client, 3), qty=1)

    assert bought["state"] == "done"
    assert stored_order(runtime, small)["state"] == "void"
    assert stored_order(runtime, large)["state"] == "paying"


def test_an_order_that_was_paid_in_time_gives_way_to_none(client: Client, runtime: Runtime) -> None:
    stocked(client, 8, **HALF)
    _, order = unpaid(at(client, 1), 8, "ann@example.org")
    visitor = at(client, 2)
    mine = cart_of(visitor, MOBY_HARD=1)

    refused = check_out(visitor, mine)

    assert refused.code == "out_of_stock"
    assert stored_order(runtime, order)["state"] == "done"
    assert shelf_of(runtime).on_hand == 0


def test_unpaid_orders_within_a_share_give_way_to_none(client: Client, runtime: Runtime) -> None:
    stocked(client, 8, **HALF)
    _, one = unpaid(at(client, 1), 4)
    _, other = unpaid(at(client, 2), 4)
    visitor = at(client, 3)

    assert put_line(visitor, cart_of(visitor), SKU, 1).code == "out_of_stock"

    assert {stored_order(runtime, each)["state"] for each in (one, other)} == {"paying"}


def test_a_network_beyond_its_share_calls_off_no_other(client: Client, runtime: Runtime) -> None:
    stocked(client, 8, **HALF)
    _, mine = unpaid(at(client, 1), 5)
    stranger = at(client, 2)
    unpaid(stranger, 3)

    assert put_line(stranger, cart_of(stranger), SKU, 2).code == "out_of_stock"

    assert stored_order(runtime, mine)["state"] == "paying"

"""Readers of an order, its buyer and its seller."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts, lines
from chalicelib.shop.carts.shapes import MAX_ATTEMPTS, Cart
from chalicelib.shop.carts.sources import Buyer
from chalicelib.shop.errors import UnknownCart
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders import personal_data
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import StockClaim
from tests.shop.support.buying import (
    OTHER,
    SKU,
    agreement,
    bought,
    cart_of,
    check_out,
    ordered,
    pay,
    put_line,
    refund_came_back,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import SITE, open_shop, publisher
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")
HOUR = timedelta(hours=1)


def test_who_may_see_an_order(client: Client) -> None:
    paula = stocked(client)
    ann = client.as_("ann")
    cart = cart_of(ann, MOBY_HARD=1)
    order = ordered(ann, cart)
    bob, by_cart = client.as_("bob"), f"?cart={cart}"

    for caller, query in ((ann, by_cart), (ann, ""), (paula, "")):
        assert caller.get(f"/orders/{order}{query}").status == 200
    hidden_from = [(client, ""), (bob, ""), (client, by_cart), (bob, by_cart)]
    for caller, query in (*hidden_from, (client, f"?cart={'x' * 22}")):
        for method, end in (("GET", ""), ("POST", "/payment"), ("POST", "/cancel")):
            hidden = caller.request(method, f"/orders/{order}{end}{query}")
            assert (hidden.status, hidden.code) == (404, "unknown_order")
    assert client.get(f"/orders/{'x' * 16}?cart={cart}").code == "unknown_order"


Call = tuple[str, str, dict[str, Any]]
CALLS: list[Call] = [
    ("GET", "", {}),
    ("PUT", f"/lines/{SKU}", {"qty": 2}),
    ("DELETE", f"/lines/{SKU}", {}),
    ("POST", "/hold", {}),
    ("POST", "/checkout", agreement()),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("way", ["opened", "claimed"])
@pytest.mark.parametrize("name", ["bob", None])
def test_the_cart_of_a_user_is_theirs_alone(
    client: Client, runtime: Runtime, call: Call, way: str, name: str | None
) -> None:
    method, end, body = call
    stocked(client)
    ann, other = client.as_("ann"), client.as_(name) if name else client
    cart = cart_of(ann if way == "opened" else client, MOBY_HARD=1)
    if way == "claimed":
        assert ann.post(f"/carts/{cart}/claim").status == 200
    before = carts.find(runtime.database, cart)
    sent = orjson.dumps(body) if body else b""
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k1"}

    refused = other.request(method, f"/carts/{cart}{end}", body=sent, headers=headers)

    assert (refused.status, refused.code) == (404, "unknown_cart")
    assert carts.find(runtime.database, cart) == before
    assert shelf_of(runtime).held == 1
    assert ann.request(method, f"/carts/{cart}{end}", body=sent, headers=headers).status < 300


@pytest.mark.parametrize("call", CALLS)
def test_whoever_has_the_id_may_use_a_guests_cart(client: Client, call: Call) -> None:
    method, end, body = call
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    sent = orjson.dumps(body) if body else b""
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k1"}
    bob = client.as_("bob")

    assert bob.request(method, f"/carts/{cart}{end}", body=sent, headers=headers).status < 300


@pytest.mark.parametrize("call", ["put", "remove", "hold_all"])
def test_a_cart_that_is_claimed_while_it_is_changed_stays_its_users(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    change = lines._change

    def claimed_first(*given: Any) -> Cart | None:
        personal_data.claim(runtime, cart, "ann")
        return change(*given)

    monkeypatch.setattr(lines, "_change", claimed_first)
    more = {"put": (SKU, 3), "remove": (SKU,), "hold_all": ()}[call]
    with pytest.raises(UnknownCart):
        getattr(lines, call)(runtime, cart, *more)

    found = carts.find(runtime.database, cart)
    assert (found["user"], found["lines"][SKU]["qty"]) == ("ann", 1)
    assert shelf_of(runtime).held >= 1


@pytest.mark.parametrize(("call", "qty"), [("put", 3), ("remove", 0), ("hold_all", 1)])
def test_a_cart_that_its_own_caller_claims_while_it_is_changed_is_changed(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, call: str, qty: int
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    change = lines._change

    def claimed_first(*given: Any) -> Cart | None:
        monkeypatch.setattr(lines, "_change", change)
        personal_data.claim(runtime, cart, "ann")
        return change(*given)

    monkeypatch.setattr(lines, "_change", claimed_first)
    more = {"put": (SKU, 3), "remove": (SKU,), "hold_all": ()}[call]

    changed = getattr(lines, call)(runtime, cart, *more, Buyer(user="ann"))

    held = {sku: (line["qty"], line["held"]) for sku, line in changed["lines"].items()}
    assert held == ({SKU: (qty, qty)} if qty else {})
    assert shelf_of(runtime).held == qty


def test_a_line_that_is_removed_while_all_are_held_keeps_no_units(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1, PEQUOD=1)
    change = lines._change

    def removed_first(*given: Any) -> Cart | None:
        monkeypatch.setattr(lines, "_change", change)
        lines.remove(runtime, cart, SKU)
        # The other call had held the line before that.
        shelf.put(runtime, StockClaim(key_of(SITE, SKU), cart, 1, runtime.now() + HOUR))
        return change(*given)

    monkeypatch.setattr(lines, "_change", removed_first)

    held = lines.hold_all(runtime, cart)

    assert list(held["lines"]) == [OTHER]
    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (0, 1)


@pytest.mark.parametrize("call", ["put", "remove", "hold_all"])
def test_a_cart_that_changes_at_every_try_is_to_be_tried_again(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    monkeypatch.setattr(lines, "_change", lambda *_: None)
    more = {"put": (SKU, 3), "remove": (SKU,), "hold_all": ()}[call]

    with pytest.raises(Unavailable):
        getattr(lines, call)(runtime, cart, *more)


def test_a_cart_of_another_site_opens_no_order_and_holds_nothing_here(
    client: Client, runtime: Runtime
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    open_shop(client, "beta")
    other = str(client.post("/carts", site="beta").json["id"])

    assert put_line(client, other, SKU, 1).code == "unknown_sku"
    for call in ("", "/payment", "/cancel"):
        method = "POST" if call else "GET"
        hidden = client.request(method, f"/orders/{order}{call}?cart={other}")
        assert (hidden.status, hidden.code) == (404, "unknown_order")
    assert check_out(client, other, agreement(1), "k2").code == "empty_cart"
    assert shelf_of(runtime).held == 1


def test_an_order_is_theirs_who_has_claimed_its_cart_and_is_erased_with_them(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    declined = ordered(client, cart, agreement(email="declines@example.org"))
    pay(client, cart, declined)
    paid = ordered(client, cart, key="k2")
    ann = client.as_("ann")

    assert ann.post(f"/carts/{cart}/claim").status == 200

    mine = ann.get("/users/me/orders").json["orders"]
    assert {each["id"] for each in mine} == {declined, paid}
    personal_data.erase(runtime, "ann")
    for order in (declined, paid):
        stored = stored_order(runtime, order)
        assert (stored["user"], stored["email"], stored["address"]) == (None, None, None)


def test_all_orders_of_a_cart_are_its_claimers_however_many_checkouts_it_had(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    declined = []
    for number in range(MAX_ATTEMPTS + 1):
        wanted = agreement(email="declines@example.org")
        declined.append(ordered(client, cart, wanted, key=f"k{number}"))
        pay(client, cart, declined[-1])
    other = ordered(client, cart_of(client, MOBY_HARD=1))

    assert client.as_("ann").post(f"/carts/{cart}/claim").status == 200

    assert {stored_order(runtime, order)["user"] for order in declined} == {"ann"}
    assert stored_order(runtime, other)["user"] is None


def test_orders_are_listed_by_shop_and_by_buyer(client: Client, clock: Clock) -> None:
    paula = stocked(client, 50)
    ann = client.as_("ann")
    orders = []
    for number in range(5):
        clock.advance(seconds=1)
        buyer = ann if number % 2 else client
        orders.append(bought(buyer)[1])
    orders.reverse()

    seen, cursor = [], ""
    while True:
        page = paula.get(f"/shops/{SITE}/orders?limit=2&state=done{cursor}").json
        seen += [each["id"] for each in page["orders"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"

    assert seen == orders
    assert paula.get(f"/shops/{SITE}/orders?state=void").json["orders"] == []
    mine = ann.get("/users/me/orders").json["orders"]
    assert [each["id"] for each in mine] == [orders[1], orders[3]]
    assert paula.get(f"/shops/{SITE}/orders?state=void&cursor={cursor[8:]}").status == 400


def test_an_order_is_sent_once_it_is_paid(client: Client, clock: Clock) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    assert paula.post(f"/orders/{order}/sent").code == "order_not_paid"
    pay(client, cart, order)

    first = paula.post(f"/orders/{order}/sent").json["sent"]
    clock.advance(hours=1)

    assert paula.post(f"/orders/{order}/sent").json["sent"] == first
    other = client.as_("pat", roles=["publisher"], sites=["beta"])
    assert other.post(f"/orders/{order}/sent").code == "unknown_order"


def test_an_order_whose_units_are_all_refunded_is_not_sent(client: Client) -> None:
    paula = stocked(client)
    _, order = bought(client, MOBY_HARD=2)
    paula.post(f"/orders/{order}/refund", restock=True, key="first", lines={SKU: 1})
    _, other = bought(client, MOBY_HARD=1)
    assert paula.post(f"/orders/{other}/sent").status == 200
    paula.post(f"/orders/{order}/refund", restock=True, key="second")
    paula.post(f"/orders/{other}/refund", restock=False, key="after")

    refused = paula.post(f"/orders/{order}/sent")

    assert (refused.status, refused.code) == (409, "order_refunded")
    assert paula.get(f"/orders/{order}").json["order"]["sent"] is None
    # What was sent before its refund stays sent.
    assert paula.post(f"/orders/{other}/sent").json["sent"]


def test_an_order_whose_refund_has_failed_is_sent_after_all(client: Client) -> None:
    stocked(client)
    _, order = refund_came_back(client)

    assert publisher(client).post(f"/orders/{order}/sent").json["sent"]

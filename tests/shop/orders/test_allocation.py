"""Refunds by units of orders with discounts and taxes: each unit gives back its share, no more."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.shop import pricing
from chalicelib.shop.errors import RefundRefused, RefundTooLarge
from chalicelib.shop.money import step_micros
from chalicelib.shop.orders import allocation, refunds
from chalicelib.shop.orders.reconciliation import reconcile
from chalicelib.shop.orders.shapes import ORDERS, Order, OrderLine, charge_of
from chalicelib.shop.payments import providers, records
from chalicelib.shop.payments.fake import FAKE_PAYMENTS, FakeProvider
from chalicelib.shop.payments.port import PaymentRefused
from chalicelib.shop.payments.records import PAYMENTS
from chalicelib.shop.pricing import Adjustment
from tests.shop.support.buying import (
    SKU,
    Shelf,
    agreement,
    cart_of,
    ordered,
    pay,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE, SITE
from tests.support.clock import START
from tests.support.http_client import Client, Reply

pytestmark = pytest.mark.usefixtures("workers")

CURRENCIES = ("JPY", "EUR", "KWD")
SEEDS = 40


def refund(paula: Client, order: str, key: str, lines: dict[str, int] | None = None) -> Reply:
    units = {"lines": lines} if lines else {}
    return paula.post(f"/orders/{order}/refund", restock=True, key=key, **units)


def adjustment(kind: pricing.Kind, micros: int) -> Adjustment:
    return {"kind": kind, "label": kind, "amount_micros": micros}


def bought_with(
    client: Client, monkeypatch: pytest.MonkeyPatch, adjusted: list[Adjustment], **lines: int
) -> str:
    """Buy lines with adjustments; return the order, which is done."""
    monkeypatch.setattr(pricing, "_registered", [lambda *_: adjusted])
    cart = cart_of(client, **lines)
    total = sum(lines.values()) * PRICE + sum(each["amount_micros"] for each in adjusted)
    order = ordered(client, cart, agreement(total_micros=total))
    assert pay(client, cart, order)["state"] == "done"
    return order


def test_a_unit_of_a_discounted_order_gives_back_what_was_paid_for_it(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 5)
    order = bought_with(client, monkeypatch, [adjustment("discount", -7_990_000)], MOBY_HARD=2)

    replies = [refund(paula, order, key, {SKU: 1}) for key in ("one", "other")]

    assert [each.status for each in replies] == [200, 200]
    assert [each.json["refunded_micros"] for each in replies] == [15_000_000, 29_990_000]
    assert shelf_of(runtime) == Shelf(5, 5, 0)
    assert refund(paula, order, "more", {SKU: 1}).code == "refund_too_large"


def test_the_answer_says_how_much_was_paid_for_each_line(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    adjusted = [adjustment("tax", 5_000_000), adjustment("shipping", 4_000_000)]
    order = bought_with(client, monkeypatch, adjusted, MOBY_HARD=2, PEQUOD=1)

    mine = client.as_("paula", roles=["publisher"], sites=[SITE]).get(f"/orders/{order}")

    lines = mine.json["order"]["lines"]
    # 56.97 and a tax of 5.00, of which 41.3133… are of two units and 20.6566… of one.
    assert [line["paid_micros"] for line in lines] == [41_310_000, 20_660_000]
    assert mine.json["order"]["total_micros"] - 4_000_000 == 61_970_000


def test_shipping_goes_back_with_the_last_units(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 5)
    adjusted = [adjustment("shipping", 4_000_000)]
    order = bought_with(client, monkeypatch, adjusted, MOBY_HARD=2, PEQUOD=1)

    one = refund(paula, order, "one", {SKU: 2})
    other = refund(paula, order, "other", {"PEQUOD": 1})

    assert one.json["refunded_micros"] == 2 * PRICE
    assert other.json["refunded_micros"] == 3 * PRICE + 4_000_000


def test_a_unit_of_which_nothing_was_paid_is_given_back_without_money(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 5)
    adjusted = [adjustment("discount", 10_000 - 2 * PRICE)]
    order = bought_with(client, monkeypatch, adjusted, MOBY_HARD=2)

    replies = [refund(paula, order, key, {SKU: 1}) for key in ("one", "other", "other")]

    assert [each.json["refunded_micros"] for each in replies] == [10_000] * 3
    assert replies[2].json["refunds"][1]["state"] == "done"
    fake = FAKE_PAYMENTS.of(runtime.database).find_one({"_id": order})
    assert fake is not None
    assert [each["amount_micros"] for each in fake["refunds"]] == [10_000]
    assert shelf_of(runtime) == Shelf(5, 5, 0)


def test_an_order_of_an_earlier_release_gives_back_what_was_paid_for_its_units(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a unit of it was given back at its whole price, as that release did."""
    paula = stocked(client, 9)
    adjusted = [adjustment("discount", -7_990_000)]
    fresh, begun = (bought_with(client, monkeypatch, adjusted, MOBY_HARD=2) for _ in range(2))
    ORDERS.of(runtime.database).update_many({}, {"$unset": {"lines.$[].paid_micros": ""}})
    refund(paula, begun, "one", {SKU: 1})
    whole_price = {"$set": {"refunds.0.amount_micros": PRICE, "refunded_micros": PRICE}}
    PAYMENTS.of(runtime.database).update_one({"_id": begun}, whole_price)

    shown = client.as_("paula", roles=["publisher"], sites=[SITE]).get(f"/orders/{fresh}")

    assert shown.json["order"]["lines"][0]["paid_micros"] == 29_990_000
    assert refund(paula, fresh, "one", {SKU: 1}).json["refunded_micros"] == 15_000_000
    assert refund(paula, fresh, "other", {SKU: 1}).json["refunded_micros"] == 29_990_000
    assert refund(paula, begun, "other", {SKU: 1}).json["refunded_micros"] == 29_990_000


@pytest.mark.parametrize("micros", [1_000_000, 20_000_000, 29_990_000])
def test_money_given_back_without_units_is_never_given_back_twice(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, micros: int
) -> None:
    paula = stocked(client, 5)
    order = bought_with(client, monkeypatch, [adjustment("discount", -7_990_000)], MOBY_HARD=2)
    sold, payment = stored_order(runtime, order), records.find(runtime.database, order)
    assert payment is not None
    goodwill = refunds._new(runtime, "goodwill", {}, micros, restock=False)
    assert refunds._owe(runtime, payment, goodwill)
    refunds._settle(runtime, sold, "goodwill")

    replies = [refund(paula, order, key, {SKU: 1}) for key in ("one", "other")]

    assert [each.status for each in replies] == [200, 200]
    shares = [min(29_990_000, micros + 15_000_000), 29_990_000]
    assert [each.json["refunded_micros"] for each in replies] == shares


def test_after_more_than_its_share_was_given_back_for_a_unit_the_others_give_back_the_rest(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 9)
    order = bought_with(client, monkeypatch, [adjustment("discount", -3 * PRICE)], MOBY_HARD=4)
    refund(paula, order, "one", {SKU: 1})
    more = {"refunds.0.amount_micros": PRICE - 10_000}
    for rows in (PAYMENTS, FAKE_PAYMENTS):
        rows.of(runtime.database).update_one({"_id": order}, {"$set": more})
    refunded = {"$set": {"refunded_micros": PRICE - 10_000}}
    PAYMENTS.of(runtime.database).update_one({"_id": order}, refunded)

    replies = [refund(paula, order, key, {SKU: 1}) for key in ("two", "three", "four")]

    assert [each.status for each in replies] == [200, 200, 200]
    assert [each.json["refunded_micros"] for each in replies] == [PRICE - 10_000] * 2 + [PRICE]


# Lines of an order: units and prices in the smallest unit of its currency.
LINES = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 10**9)), min_size=1, max_size=8)
KINDS = st.sampled_from(["discount", "tax", "shipping", "other"])


@given(
    lines=LINES,
    adjusted=st.lists(st.tuples(KINDS, st.integers(-(10**6), 10**6)), max_size=5),
    currency=st.sampled_from(CURRENCIES),
    provider=st.sampled_from(["fake", "stripe"]),
    order_of_units=st.randoms(use_true_random=False),
)
def test_units_given_back_in_any_order_make_the_total(
    lines: list[tuple[int, int]],
    adjusted: list[tuple[pricing.Kind, int]],
    currency: str,
    provider: Any,
    order_of_units: random.Random,
) -> None:
    order = order_like(lines, adjusted, currency, provider)
    step = step_micros(currency, provider)
    back: dict[str, int] = {}
    given_micros = 0
    units = [line["sku"] for line in order["lines"] for _ in range(line["qty"])]
    order_of_units.shuffle(units)
    for sku in units:
        back[sku] = back.get(sku, 0) + 1
        amount = allocation.paid_for(order, back) - given_micros
        assert amount >= 0
        assert amount % step == 0
        given_micros += amount
    assert given_micros == order["total_micros"]


def test_ten_thousand_random_orders_give_back_what_was_paid_in_any_parts() -> None:
    rng = random.Random(213)
    for number in range(10_000):
        lines = [(rng.randint(1, 30), rng.randint(1, 10**6)) for _ in range(rng.randint(1, 5))]
        bought = sum(qty * price for qty, price in lines)
        discount, tax = -rng.randint(0, bought), rng.randint(0, bought // 3)
        adjusted: list[tuple[pricing.Kind, int]] = [("discount", discount), ("tax", tax)]
        order = order_like(lines, adjusted, CURRENCIES[number % 3], "fake")
        left = {line["sku"]: line["qty"] for line in order["lines"]}
        back, given_micros = dict.fromkeys(left, 0), 0
        while any(left.values()):
            sku = rng.choice([each for each, qty in left.items() if qty])
            part = rng.randint(1, left[sku])
            left[sku] -= part
            back[sku] += part
            amount = allocation.paid_for(order, back) - given_micros
            assert amount >= 0, number
            given_micros += amount
        assert given_micros == order["total_micros"], number


@given(lines=LINES, micros=st.integers(0, 10**9), step=st.sampled_from([1, 10, 10_000]))
def test_a_lines_share_is_within_a_step_of_its_part_of_the_prices(
    lines: list[tuple[int, int]], micros: int, step: int
) -> None:
    order = order_like(lines, [], "EUR", "fake")
    prices = [line["qty"] * line["price_micros"] for line in order["lines"]]

    shares = allocation.allocate(order["lines"], [], micros, step)

    assert sum(shares) == micros // step * step
    for share, price in zip(shares, prices, strict=True):
        assert abs(share * sum(prices) - micros // step * step * price) < step * sum(prices)


def order_like(
    lines: list[tuple[int, int]],
    adjusted: list[tuple[pricing.Kind, int]],
    currency: str,
    provider: Any,
) -> Order:
    """Return a paid order of lines, in the steps of its provider, whose total is more than 0."""
    step = step_micros(currency, provider)
    bought: list[OrderLine] = [
        {"sku": f"sku-{number}", "title": "Thing", "qty": qty, "price_micros": price * step}
        for number, (qty, price) in enumerate(lines)
    ]
    added = [adjustment(kind, amount * step) for kind, amount in adjusted]
    total = pricing.total_micros(bought, added)
    if total <= 0:
        added.append(adjustment("other", step - total))
        total = step
    shares = allocation.allocate(bought, added, total, step)
    return {
        "_id": "to-be-named",
        "cart": "c" * 22,
        "site": SITE,
        "user": None,
        "state": "done",
        "lines": [{**each, "paid_micros": paid} for each, paid in zip(bought, shares, strict=True)],
        "adjustments": added,
        "total_micros": total,
        "currency": currency,
        "provider": provider,
        "email": None,
        "address": None,
        "at": START,
        "deadline": None,
        "reason": None,
        "sent": None,
    }


@pytest.mark.parametrize("currency", CURRENCIES)
def test_refunds_of_any_split_make_what_was_paid_whatever_is_refused_or_comes_back(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, currency: str
) -> None:
    """Of forty random orders, whose refunds are refused, fail later, or are asked for twice."""
    rng = random.Random(f"allocation {currency}")
    refuses = [False]
    made = FakeProvider.refund

    def refund_or_refuse(*args: Any) -> None:
        if refuses[0]:
            raise PaymentRefused("balance_insufficient")
        made(*args)

    monkeypatch.setattr(FakeProvider, "refund", refund_or_refuse)
    for _ in range(SEEDS):
        order = stored(runtime, rng, currency)
        refund_all(runtime, rng, order, refuses)
        fake = FAKE_PAYMENTS.of(runtime.database).find_one({"_id": order["_id"]})
        payment = records.find(runtime.database, order["_id"])
        assert payment is not None
        assert fake is not None
        assert payment["refunded_micros"] == order["total_micros"]
        sent = [each["amount_micros"] for each in fake["refunds"] if not each.get("failed")]
        assert sum(sent) == order["total_micros"]
        with pytest.raises(RefundTooLarge):
            refunds.refund_order(runtime, order, "more", None, restock=False)


def stored(runtime: Runtime, rng: random.Random, currency: str) -> Order:
    """Store a random paid order; of every second one, the release was an earlier one."""
    lines = [(rng.randint(1, 6), rng.randint(1, 10**6)) for _ in range(rng.randint(1, 4))]
    adjusted: list[tuple[pricing.Kind, int]] = [
        ("discount", -rng.randint(0, 10**6)),
        ("tax", rng.randint(0, 10**5)),
        ("shipping", rng.randint(0, 10**4)),
    ]
    order = order_like(lines, adjusted, currency, "fake")
    order["_id"] = new_id(runtime.now(), runtime.random)
    if rng.random() < 0.5:
        for line in order["lines"]:
            del line["paid_micros"]
    ORDERS.of(runtime.database).insert_one(order)
    providers.begin(runtime, "fake", charge_of(order))
    assert providers.look(runtime, "fake", charge_of(order)) == "succeeded"
    return order


def refund_all(runtime: Runtime, rng: random.Random, order: Order, refuses: list[bool]) -> None:
    """Give back all units of an order, a random few at a time."""
    left = {line["sku"]: line["qty"] for line in order["lines"]}
    number = 0
    while any(left.values()):
        units = {sku: rng.randint(0, qty) for sku, qty in left.items()}
        units = {sku: qty for sku, qty in units.items() if qty}
        if not units:
            continue
        number += 1
        refuses[0] = rng.random() < 0.1
        try:
            for _ in range(rng.randint(1, 2)):
                refunds.refund_order(runtime, order, f"r{number}", units, restock=False)
        except RefundRefused:
            continue
        finally:
            refuses[0] = False
        if rng.random() < 0.2:
            come_back(runtime, order, f"r{number}")
        left = {sku: qty - units.get(sku, 0) for sku, qty in left.items()}
    payment = records.find(runtime.database, order["_id"])
    assert payment is not None
    for each in payment["refunds"]:
        if each["state"] == "failed":
            refunds.refund_order(runtime, order, each["key"], each["units"], restock=False)


def come_back(runtime: Runtime, order: Order, key: str) -> None:
    """Have a refund that was made come back from the bank."""
    this = {"_id": order["_id"], "refunds.key": key}
    FAKE_PAYMENTS.of(runtime.database).update_one(this, {"$set": {"refunds.$.failed": True}})
    reconcile(runtime, order)

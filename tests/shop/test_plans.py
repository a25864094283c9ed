"""What a shop's sweeps and lists of orders read among 10,000 stocks, carts, orders and payments."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors
from chalicelib.instants import milliseconds
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.carts.shapes import CARTS, Cart
from chalicelib.shop.catalogue.offers import offers
from chalicelib.shop.catalogue.rows import PRODUCTS
from chalicelib.shop.orders import personal_data, reading, reconciliation, sweep
from chalicelib.shop.orders.shapes import ORDERS, Order
from chalicelib.shop.payments.records import PAYMENTS, OrderPayment
from chalicelib.shop.settings import ShopSettings
from chalicelib.shop.stock.shapes import HOLDS, STOCKS, Stock, StockEntry, StoredHold

SITE = "large"
MANY = 10_000
AT_ONCE = 5_000
# A page of a list, and one more.
PAGE = 21
# What one look of a sweep may examine where nothing is due: the end of a range.
NOTHING = 2


@pytest.fixture
def large_shop(runtime: Runtime) -> Runtime:
    """A shop in which nothing is due: everything is finished, or goes on for an hour."""
    settings.put(runtime.database, SITE, ShopSettings(currency="EUR"))
    for make, rows in (
        (lambda n: _stock(runtime, n), STOCKS.of(runtime.database)),
        (lambda n: _hold(runtime, n), HOLDS.of(runtime.database)),
        (lambda n: _cart(runtime, n), CARTS.of(runtime.database)),
        (lambda n: _order(runtime, n), ORDERS.of(runtime.database)),
        (_payment, PAYMENTS.of(runtime.database)),
    ):
        _fill(rows, make)
    return runtime


def _fill(rows: Any, make: Callable[[int], Any]) -> None:
    for begin in range(0, MANY, AT_ONCE):
        made = [make(number) for number in range(begin, begin + AT_ONCE)]
        rows.insert_many(made, ordered=False)


def _entry(runtime: Runtime, number: int) -> StockEntry:
    """Return an entry that goes on; each tenth is an order's."""
    order = f"order{number}" if number % 10 == 0 else None
    until = runtime.now() + timedelta(hours=1)
    return {"cart": f"cart{number}", "qty": 1, "until": until, "order": order}


def _stock(runtime: Runtime, number: int) -> Stock:
    return {
        "_id": f"{SITE}:s{number}",
        "on_hand": 2,
        "available": 1,
        "store": "embedded",
        "carted": [_entry(runtime, number)],
        "version": 1,
    }


def _hold(runtime: Runtime, number: int) -> StoredHold:
    entry = _entry(runtime, number)
    key = {"stock": f"{SITE}:d{number % 100}", "cart": entry["cart"]}
    held: Any = {"_id": key, "qty": 1, "until": entry["until"], "order": entry["order"]}
    row: StoredHold = held
    return row


def _cart(runtime: Runtime, number: int) -> Cart:
    state: Any = ("open", "ordered", "expired", "checkout")[number % 4]
    ended = state in {"ordered", "expired"}
    return {
        "_id": f"cart{number}",
        "site": SITE,
        "user": None,
        "state": state,
        "lines": {},
        "order": None,
        "attempts": [],
        "version": 1,
        "touched": runtime.now(),
        "ended": runtime.now() if ended else None,
    }


def _order(runtime: Runtime, number: int) -> Order:
    """Return an order of one of 200 buyers; each tenth is being paid."""
    is_paying = number % 10 == 0
    order: Any = {
        "_id": f"order{number:06}",
        "cart": f"cart{number}",
        "site": SITE,
        "user": f"buyer{number % 200}",
        "state": "paying" if is_paying else "done",
        "lines": [],
        "adjustments": [],
        "total_micros": 0,
        "currency": "EUR",
        "provider": "fake",
        "email": f"buyer{number}@example.org",
        "address": None,
        "at": runtime.now() - timedelta(minutes=number),
        "deadline": None,
        "reason": None,
        "sent": None,
        **({"due": runtime.now() + timedelta(hours=1)} if is_paying else {}),
    }
    row: Order = order
    return row


def _payment(number: int) -> OrderPayment:
    return {
        "_id": f"order{number:06}",
        "provider": "fake",
        "intent": f"intent{number}",
        "client_secret": None,
        "redirect_url": None,
        "status": "succeeded",
        "amount_micros": 0,
        "refunded_micros": 0,
        "refunds": [],
    }


def profiled(runtime: Runtime, work: Callable[[], object]) -> Iterator[Document]:
    """Do a work; give what the server did for each of its reads and updates."""
    runtime.database.command("profile", 2)
    try:
        work()
    finally:
        runtime.database.command("profile", 0)
    # The shop's alone: the server may still end what an earlier test has begun.
    wanted = {"planSummary": {"$exists": True}, "ns": {"$regex": r"\.shop\."}}
    done = list(runtime.database["system.profile"].find(wanted))
    runtime.database.drop_collection("system.profile")
    for each in done:
        assert "COLLSCAN" not in each["planSummary"], each
        # An index of a list gives no order: the due events are sorted, and nothing else.
        is_sorted = "due_events.at" in each["command"].get("sort", {})
        assert is_sorted or not each.get("hasSortStage"), each
        yield each


def test_a_sweep_without_anything_due_reads_nothing(large_shop: Runtime) -> None:
    reconciliation.read_changes(large_shop, large_shop.now() + timedelta(seconds=9))

    done = list(profiled(large_shop, lambda: sweep.sweep(large_shop)))

    looked = {each["ns"].partition(".")[2] for each in done}
    due = {"shop.stock", "shop.hold", "shop.cart", "shop.order", "shop.payment"}
    assert looked == {*due, "shop.reconciliation"}
    # When the provider's changes are due stands in a document.
    done = [each for each in done if not each["ns"].endswith("shop.reconciliation")]
    for each in done:
        assert each["keysExamined"] <= NOTHING, each
        assert each["docsExamined"] == 0, each


def test_a_sweep_reads_what_is_due_alone(large_shop: Runtime) -> None:
    before = large_shop.now() - timedelta(hours=2)
    database = large_shop.database
    for number in (1, 2):
        ended = {"$set": {"carted.0.until": before}}
        STOCKS.of(database).update_one({"_id": f"{SITE}:s{number}"}, ended)
    ORDERS.of(database).update_one({"_id": "order000001"}, {"$set": {"due": before}})
    CARTS.of(database).update_one({"_id": "cart0"}, {"$set": {"touched": before - timedelta(31)}})

    done = list(profiled(large_shop, lambda: sweep.sweep(large_shop)))

    assert sum(each["docsExamined"] for each in done) <= 30
    assert all(each["keysExamined"] <= 5 for each in done), done


def _after(runtime: Runtime, state: str, number: int) -> PageQuery:
    """Return the query of the page after an order, in a list of a state."""
    cursors = Cursors(f"orders:{SITE}:{state}", runtime.settings.signing_keys)
    at = runtime.now() - timedelta(minutes=number)
    cursor = cursors.following([milliseconds(at), f"order{number:06}"])
    return PageQuery(limit=PAGE - 1, cursor=cursor)


def test_lists_of_orders_read_their_page(large_shop: Runtime) -> None:
    first = PageQuery(limit=PAGE - 1)
    for read in (
        lambda: reading.of_site(large_shop, SITE, None, first),
        lambda: reading.of_site(large_shop, SITE, None, _after(large_shop, "", MANY // 2)),
        lambda: reading.of_site(large_shop, SITE, "paying", first),
        lambda: reading.of_site(
            large_shop, SITE, "paying", _after(large_shop, "paying", MANY * 4 // 5)
        ),
        lambda: reading.of_user(large_shop, "buyer7", first),
    ):
        done = list(profiled(large_shop, read))
        (listed,) = [each for each in done if each["ns"].endswith("shop.order")]
        assert listed["nreturned"] == listed["docsExamined"] == PAGE
        assert listed["keysExamined"] <= PAGE + 1


def test_a_claim_reads_the_orders_of_its_cart_alone(large_shop: Runtime) -> None:
    guest = {"$set": {"user": None}}
    ORDERS.of(large_shop.database).update_many({}, guest)

    done = list(profiled(large_shop, lambda: personal_data.claim(large_shop, "cart7", "ann")))

    (claimed,) = [each for each in done if each["ns"].endswith("shop.order")]
    assert (claimed["keysExamined"], claimed["docsExamined"], claimed["nModified"]) == (1, 1, 1)


def test_the_offer_of_a_sku_reads_its_product(large_shop: Runtime) -> None:
    rows: Any = [
        {
            "_id": f"{SITE}:p{number}",
            "site": SITE,
            "type": "book",
            "title": "",
            "text": "",
            "html": "",
            "state": "active",
            "version": 1,
            "skus": [{"sku": f"S{number}", "options": {}, "price_micros": 1}],
            "price_micros": 1,
            "categories": [],
            "under": [],
            "tags": [],
            "assets": [],
            "search": [],
            "added": large_shop.now(),
            "updated": large_shop.now(),
            "layout": "details",
            "details": {},
        }
        for number in range(1_000)
    ]
    PRODUCTS.of(large_shop.database).insert_many(rows)
    skus = ["S1", "S500", "S999"]

    found = profiled(large_shop, lambda: offers(large_shop.database, SITE, skus))
    (done,) = [each for each in found if each["ns"].endswith(PRODUCTS.name)]

    assert done["docsExamined"] == len(skus)
    assert done["keysExamined"] <= 2 * len(skus)

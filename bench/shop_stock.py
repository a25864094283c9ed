"""Cost of holding units of a SKU, by store and by how many carts hold it, for one and for eight.

The floor is the write that trusts what the cart held before, and checks nothing: one update of a
stock's document with as many entries, or a transaction of two writes.
"""

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_args

from pymongo.client_session import ClientSession

from bench.case import Case
from bench.stage import Stage
from chalicelib.database import in_transaction
from chalicelib.runtime import Runtime
from chalicelib.shop.ids import key_of
from chalicelib.shop.stock import documents, movements, shelf
from chalicelib.shop.stock.movements import NewMovement
from chalicelib.shop.stock.shapes import StockClaim, StoreName

SITE = "bench"
UNITS = 1_000_000
# Carts that hold the hot SKU, and how many writers there are.
HOT_ENTRIES, WRITERS = 50, 8
STORES: tuple[StoreName, ...] = get_args(StoreName)
_HOLD = timedelta(days=1)


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield reservations by store and entries, and those of one SKU by eight writers."""
    # A stock of more entries is kept in documents.
    sizes = {"embedded": (10, 100), "documents": stage.sizes(10, 100, 1_000)}
    yield [Shelf(stage.runtime, store, size).alone() for store in STORES for size in sizes[store]]
    yield [Shelf(stage.runtime, store, HOT_ENTRIES, "hot").hot() for store in STORES]


class Shelf:
    """A SKU that so many carts hold."""

    def __init__(self, runtime: Runtime, store: StoreName, entries: int, name: str = "sku") -> None:
        self._runtime, self._store, self._entries = runtime, store, entries
        self._stock = key_of(SITE, f"{name}-{store}-{entries}")
        self._turns = itertools.count()
        movements.move(runtime, self._stock, NewMovement("first", UNITS, None, ""))
        if store == "documents":
            documents.move_in(runtime.database, self._stock)
        for number in range(entries):
            self._hold(number, 1)
        self._raw: Any = runtime.database["bench.raw_stock"]
        self._raw_holds: Any = runtime.database["bench.raw_hold"]
        self._plant()

    def alone(self) -> Case:
        """Return the case of one writer."""
        return self._case("a cart holds another number", 1)

    def hot(self) -> Case:
        """Return the case of many writers."""
        return self._case("eight carts hold one SKU at once", WRITERS)

    def _case(self, operation: str, connections: int) -> Case:
        is_embedded = self._store == "embedded"
        return Case(
            operation,
            self._change,
            self._update if is_embedded else self._transaction,
            floor_is="one update" if is_embedded else "a transaction of two updates",
            store=self._store,
            size=self._entries,
            unit="entries",
            door="function",
            connections=connections,
            samples_at_most=400,
        )

    def _plant(self) -> None:
        """Store as many entries for the floor."""
        until = self._runtime.now() + _HOLD
        carts = [_cart(number) for number in range(self._entries)]
        held = {"qty": 1, "until": until, "order": None}
        is_embedded = self._store == "embedded"
        carted = [{"cart": cart, **held} for cart in carts] if is_embedded else []
        counters = {"on_hand": UNITS, "available": UNITS - self._entries, "version": 0}
        self._raw.insert_one({"_id": self._stock, **counters, "carted": carted})
        if not is_embedded:
            rows = [{"_id": {"stock": self._stock, "cart": cart}, **held} for cart in carts]
            self._raw_holds.insert_many(rows)

    def _hold(self, number: int, qty: int) -> None:
        until = self._runtime.now() + _HOLD
        shelf.put(self._runtime, StockClaim(self._stock, _cart(number), qty, until))

    def _next(self) -> tuple[int, int]:
        """Return the next cart, and what it is to hold: one at a pass, and two at the next."""
        turn = next(self._turns)
        return turn % self._entries, 1 + turn // self._entries % 2

    def _change(self) -> None:
        self._hold(*self._next())

    def _update(self) -> None:
        number, qty = self._next()
        entry = {"carted.$.qty": qty, "carted.$.until": self._runtime.now() + _HOLD}
        this = {"_id": self._stock, "available": {"$gte": 1}, "carted.cart": _cart(number)}
        self._raw.update_one(this, {"$set": entry, "$inc": {"available": 3 - 2 * qty}})

    def _transaction(self) -> None:
        number, qty = self._next()
        entry = {"qty": qty, "until": self._runtime.now() + _HOLD}
        key = {"stock": self._stock, "cart": _cart(number)}

        def work(session: ClientSession) -> None:
            counted = {"$inc": {"available": 3 - 2 * qty, "version": 1}}
            self._raw.update_one({"_id": self._stock}, counted, session=session)
            self._raw_holds.update_one({"_id": key}, {"$set": entry}, session=session)

        in_transaction(self._runtime.database, work)


def _cart(number: int) -> str:
    return f"cart{number:018}"

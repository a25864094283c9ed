"""What a shop's books say once everything is at rest: nobody is charged for nothing, and so on."""

from collections import Counter
from dataclasses import dataclass

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.orders.shapes import ORDERS, charge_of
from chalicelib.shop.payments.fake import FAKE_PAYMENTS
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import MOVEMENTS, STOCKS


@dataclass(frozen=True)
class Figures:
    """What went wrong, in units and orders; and how much there was of it at all."""

    sold_and_on_the_shelf: int
    lost: int
    charged_without_order: int
    unpaid: int
    stuck: int
    unbalanced: int
    sold: int

    @property
    def wrong(self) -> tuple[int, ...]:
        """Return what has to be nothing."""
        units = (self.sold_and_on_the_shelf, self.lost, self.unbalanced)
        return (*units, self.charged_without_order, self.unpaid, self.stuck)


def figures(runtime: Runtime) -> Figures:
    """Compare the shelves, the orders and the provider's books, after everything has ended."""
    sold = sold_units(runtime.database)
    came = Counter[str]()
    for movement in MOVEMENTS.of(runtime.database).find({}):
        came[movement["stock"]] += movement["by"]
    twice = lost = unbalanced = 0
    for stock in STOCKS.of(runtime.database).find({}):
        ought = came[stock["_id"]] - sold[stock["_id"]]
        held = sum(each["qty"] for each in shelf.entries(runtime, stock["_id"]))
        twice += max(0, stock["available"] - ought)
        lost += max(0, ought - stock["available"])
        unbalanced += abs(stock["available"] + held - stock["on_hand"])
    return Figures(
        sold_and_on_the_shelf=twice,
        lost=lost,
        charged_without_order=charged_without_order(runtime.database),
        unpaid=unpaid(runtime.database),
        stuck=_stuck(runtime.database),
        unbalanced=unbalanced,
        sold=sum(sold.values()),
    )


def sold_units(database: Database[Document]) -> Counter[str]:
    """Return the units of finished orders, by stock."""
    units: Counter[str] = Counter()
    for order in ORDERS.of(database).find({"state": "done"}):
        for line in order["lines"]:
            units[f"{order['site']}:{line['sku']}"] += line["qty"]
    return units


def charged_without_order(database: Database[Document]) -> int:
    """Count payments that were made and not given back, whose order is not done."""
    charged = 0
    for payment in FAKE_PAYMENTS.of(database).find({"status": "succeeded"}):
        order = ORDERS.of(database).find_one({"_id": payment["_id"]})
        given = sum(each["amount_micros"] for each in payment["refunds"])
        is_done = order is not None and order["state"] == "done"
        charged += given != (0 if is_done else payment["amount_micros"])
    return charged


def unpaid(database: Database[Document]) -> int:
    """Count orders that are done without a payment of their total."""
    done = list(ORDERS.of(database).find({"state": "done"}))
    paid = FAKE_PAYMENTS.of(database).find({"status": "succeeded"})
    amounts = {payment["_id"]: payment["amount_micros"] for payment in paid}
    return sum(amounts.get(each["_id"]) != charge_of(each).amount_micros for each in done)


def _stuck(database: Database[Document]) -> int:
    frozen = CARTS.of(database).count_documents({"state": "checkout"})
    unfinished = {"state": {"$nin": ["done", "void"]}}
    return frozen + ORDERS.of(database).count_documents(unfinished)

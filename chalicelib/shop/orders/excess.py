"""Unpaid orders of one network that keep more than their share of a SKU from other buyers.

A checkout has no share: a buyer may buy all units. But until the payment, an order is sure only of
the share of its network. An order of another network, within its own share, calls it off. A payment
that has succeeded by then stays.
"""

from chalicelib.errors import Problem
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.ids import site_of
from chalicelib.shop.orders import resuming
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import StockClaim, StockEntry


def call_off(runtime: Runtime, claim: StockClaim) -> bool:
    """Cancel the largest unpaid order of a network beyond its share; return whether it ended."""
    shop = settings.find(runtime.database, site_of(claim.stock))
    terms = claim._replace(percent=settings.hold_percent(shop))
    found = shelf.beyond_share(runtime, terms)
    return bool(found) and _let_go(runtime, found[0])


def _let_go(runtime: Runtime, entry: StockEntry) -> bool:
    try:
        order = resuming.resume(runtime, str(entry["order"]), cancels=True)
    except Problem as problem:
        fields = {"order": entry["order"], "reason": problem.code}
        log.warning("order not called off", extra={"fields": fields})
        return False
    return order is None or order["state"] in {"void", "done"}

"""Unpaid orders that hold more of a SKU than their network's share.

A checkout has no bound: a buyer may buy all units. But until its payment, an order is safe only
within the share of its network. If units run out, an order of another network, within its own
share, cancels the unpaid order. If the payment has succeeded by then, the order stays.
"""

from chalicelib import deadlines
from chalicelib.errors import Problem
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.ids import site_of
from chalicelib.shop.orders import resuming
from chalicelib.shop.orders.shapes import ENDED
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import StockClaim, StockEntry

# The most orders that one `call_off` tries to cancel; each try may ask the provider.
_TRIED = 3


def call_off(runtime: Runtime, claim: StockClaim) -> bool:
    """Cancel an unpaid order beyond its network's share; return whether an order ended.

    The largest order comes first. False: there is no such order, or none of _TRIED orders ends, as
    with payments pending at the bank.
    """
    shop = settings.find(runtime.database, site_of(claim.stock))
    terms = claim._replace(percent=settings.hold_percent(shop))
    found = shelf.beyond_share(runtime, terms)
    has_time = deadlines.share(0.3)
    return any(has_time() and _let_go(runtime, each) for each in found[:_TRIED])


def _let_go(runtime: Runtime, entry: StockEntry) -> bool:
    try:
        order = resuming.resume(runtime, str(entry["order"]), cancels=True)
    except Problem as problem:
        fields = {"order": entry["order"], "reason": problem.code}
        log.warning("order not called off", extra={"fields": fields})
        return False
    return order is None or order["state"] in ENDED

"""The units and amounts of refunds: sums of what a payment has given back, without I/O."""

from collections import Counter
from collections.abc import Iterable, Mapping

from chalicelib.errors import IdempotencyKeyReused
from chalicelib.shop.errors import RefundTooLarge
from chalicelib.shop.orders.allocation import paid_for
from chalicelib.shop.orders.shapes import Order
from chalicelib.shop.payments.records import (
    OrderPayment,
    Refund,
    left_micros,
)

UNFINISHED = frozenset({"owed", "made"})
_IN_FORCE = UNFINISHED | {"done"}


def units_of(
    order: Order, payment: OrderPayment, units: Mapping[str, int] | None
) -> dict[str, int]:
    """Return the units of a refund by SKU. `units` None: all units left.

    Raises RefundTooLarge for more units than are left.
    """
    back = _units_back(payment)
    left = {line["sku"]: line["qty"] - back.get(line["sku"], 0) for line in order["lines"]}
    wanted = {sku: qty for sku, qty in left.items() if qty} if units is None else dict(units)
    if any(qty > left.get(sku, 0) for sku, qty in wanted.items()):
        raise RefundTooLarge
    return wanted


def amount_of(
    order: Order, payment: OrderPayment, wanted: Mapping[str, int], *, is_whole: bool
) -> int:
    """Return the amount of a refund in micros. `is_whole`: all the money left.

    Otherwise the paid amount of all refunded units, `wanted` included, less the earlier refunds of
    units; at most the money left. Raises RefundTooLarge if a whole refund finds neither units nor
    money.
    """
    left = left_micros(payment)
    if is_whole:
        if not (wanted or left):
            raise RefundTooLarge
        return left
    back = _units_back(payment)
    after = {sku: back.get(sku, 0) + wanted.get(sku, 0) for sku in {**back, **wanted}}
    given = sum(each["amount_micros"] for each in _taken_on(payment) if each["units"])
    return min(left, max(paid_for(order, after) - given, 0))


def is_all_back(order: Order, payment: OrderPayment) -> bool:
    """Return whether refunds that are made, or may still be, name all units of an order."""
    back = _sum_units(each for each in payment["refunds"] if each["state"] in _IN_FORCE)
    return all(back[line["sku"]] >= line["qty"] for line in order["lines"])


def _units_back(payment: OrderPayment) -> dict[str, int]:
    """Return the units, by SKU, of all refunds that the provider has not refused."""
    return dict(_sum_units(_taken_on(payment)))


def _sum_units(refunds: Iterable[Refund]) -> Counter[str]:
    back: Counter[str] = Counter()
    for refund in refunds:
        back.update(refund["units"])
    return back


def _taken_on(payment: OrderPayment) -> list[Refund]:
    """Return the refunds that are not `refused`; a `failed` refund counts: a call may repeat it."""
    return [each for each in payment["refunds"] if each["state"] != "refused"]


def find(payment: OrderPayment, key: str) -> Refund | None:
    """Return the refund of a key."""
    return next((each for each in payment["refunds"] if each["key"] == key), None)


def check_same(known: Refund, units: Mapping[str, int] | None, *, restock: bool) -> None:
    """Raise IdempotencyKeyReused if a key stands for another refund."""
    is_same = known["whole"] if units is None else dict(units) == known["units"]
    if not is_same or known["restock"] != restock:
        raise IdempotencyKeyReused

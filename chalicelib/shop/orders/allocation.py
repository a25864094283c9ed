"""The share of each unit in the total of an order.

The largest remainder method allocates discounts, taxes and other adjustments to the lines, in steps
that the provider can refund. Shipping belongs to the order as a whole: the refund of the last units
includes it.
"""

from collections.abc import Mapping, Sequence

from chalicelib.shop.money import step_micros
from chalicelib.shop.orders.shapes import Order, OrderLine
from chalicelib.shop.pricing import Adjustment


def allocate(
    lines: Sequence[OrderLine], adjusted: Sequence[Adjustment], total_micros: int, step: int
) -> list[int]:
    """Return the paid amount of each line without shipping, in micros, never negative.

    Each is a multiple of `step`. Their sum is the total less shipping, rounded down to a step; 0 if
    shipping exceeds the total.
    """
    shipping = sum(each["amount_micros"] for each in adjusted if each["kind"] == "shipping")
    steps = min(max(total_micros - shipping, 0), total_micros) // step
    weights = [line["qty"] * line["price_micros"] for line in lines]
    shares = [divmod(steps * weight, sum(weights)) for weight in weights]
    missing = steps - sum(whole for whole, _ in shares)
    by_remainder = sorted(range(len(lines)), key=lambda index: -shares[index][1])
    raised = set(by_remainder[:missing])
    return [(whole + (index in raised)) * step for index, (whole, _) in enumerate(shares)]


def paid_by_line(order: Order) -> list[int]:
    """Return the paid amount of each line in micros; compute it for orders without it."""
    stored = [line.get("paid_micros") for line in order["lines"]]
    known = [paid for paid in stored if paid is not None]
    if len(known) == len(stored):
        return known
    return allocate(order["lines"], order["adjustments"], order["total_micros"], _step(order))


def paid_for(order: Order, units: Mapping[str, int]) -> int:
    """Return the amount paid for `units` (by SKU), in micros; for all units, the order's total.

    Only the total includes shipping.
    """
    lines = order["lines"]
    if all(units.get(line["sku"], 0) >= line["qty"] for line in lines):
        return order["total_micros"]
    return sum(
        _of_units(paid // _step(order), line["qty"], units.get(line["sku"], 0)) * _step(order)
        for line, paid in zip(lines, paid_by_line(order), strict=True)
    )


def _of_units(steps: int, qty: int, count: int) -> int:
    """Return the steps of a line's first `count` units; two units differ by one step at most."""
    each, over = divmod(steps, qty)
    return each * count + min(over, count)


def _step(order: Order) -> int:
    return step_micros(order["currency"], order["provider"])

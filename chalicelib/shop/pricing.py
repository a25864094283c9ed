"""Pricing: a registered pure function adds shipping, taxes and discounts to an order.

The function is the deployment's own code. This module rounds and checks the adjustments that the
function returns. The checkout freezes the cart and stores them in it.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from chalicelib.currencies import MAX_TOTAL_MICROS
from chalicelib.observability.logs import log
from chalicelib.shop.errors import PricingFailed
from chalicelib.texts import Line

Kind = Literal["shipping", "tax", "discount", "other"]
MAX_ADJUSTMENTS = 20


class PricedLine(TypedDict):
    """The units of one SKU in an order, with the price of one unit."""

    sku: str
    qty: int
    price_micros: int


class Adjustment(TypedDict):
    """An amount beside the lines, negative for a discount."""

    kind: Kind
    label: str
    amount_micros: int


class PricedShop(NamedTuple):
    """The shop of an order. `step_micros`: its provider charges multiples of this."""

    site: str
    currency: str
    step_micros: int


# The destination of an order: country (ISO 3166-1) and postal code.
Place = tuple[str, str]
Pricing = Callable[[Sequence[PricedLine], Place | None, PricedShop], Iterable[Any]]


def no_adjustments(
    _lines: Sequence[PricedLine], _place: Place | None, _shop: PricedShop
) -> list[Adjustment]:
    """Return no adjustments: the lines are the price."""
    return []


_registered: list[Pricing] = [no_adjustments]


def register(pricing: Pricing) -> None:
    """Set the deployment's pricing: a pure function.

    The function returns at most 20 adjustments, each with `kind`, `label`, `amount_micros` (an int,
    a float or a Decimal) and optionally the shop's `currency`.
    """
    _registered[0] = pricing


def adjustments(
    lines: Sequence[PricedLine], place: Place | None, shop: PricedShop
) -> list[Adjustment]:
    """Return the adjustments of an order, each rounded to the shop's step.

    Raises PricingFailed if the function fails, if its result has another form or currency, or if
    the total is below 0 or above MAX_TOTAL_MICROS.
    """
    given: list[PricedLine] = [{**each} for each in lines]
    try:
        found = _RESULT.validate_python(list(_registered[0](given, place, shop)))
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise _fault(shop, "; ".join(faults[:5])) from None
    except Exception as error:  # noqa: BLE001 - code of the deployment's own
        log.exception("pricing raised")
        raise _fault(shop, type(error).__name__) from None
    if any(each.currency not in {None, shop.currency} for each in found):
        raise _fault(shop, "an adjustment is in another currency")
    rounded = [_to_adjustment(each, shop.step_micros) for each in found]
    if not 0 <= total_micros(lines, rounded) <= MAX_TOTAL_MICROS:
        raise _fault(shop, "the total is below 0, or too large")
    return rounded


def total_micros(lines: Sequence[PricedLine], adjusted: Sequence[Adjustment]) -> int:
    """Return the total of an order: its lines and adjustments, in micros."""
    bought = sum(each["qty"] * each["price_micros"] for each in lines)
    return bought + sum(each["amount_micros"] for each in adjusted)


def _to_number(found: Any) -> Any:
    """Return an int, a float or a Decimal as a Decimal; raises ValueError for anything else."""
    if isinstance(found, bool) or not isinstance(found, int | float | Decimal):
        raise ValueError("an amount is an int, a float or a Decimal")  # noqa: TRY004 - pydantic's
    return Decimal(found)


class _Given(BaseModel):
    """An adjustment as the function returns it."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    label: Line
    amount_micros: Annotated[
        Decimal,
        Field(ge=-MAX_TOTAL_MICROS, le=MAX_TOTAL_MICROS, allow_inf_nan=False),
        BeforeValidator(_to_number),
    ]
    currency: str | None = None


_RESULT: TypeAdapter[list[_Given]] = TypeAdapter(
    Annotated[list[_Given], Field(max_length=MAX_ADJUSTMENTS)],
    config=ConfigDict(defer_build=True),
)


def _to_adjustment(given: _Given, step: int) -> Adjustment:
    """Return an adjustment, rounded half away from zero."""
    steps = (given.amount_micros / step).to_integral_value(ROUND_HALF_UP)
    return {"kind": given.kind, "label": given.label, "amount_micros": int(steps) * step}


def _fault(shop: PricedShop, reason: str) -> PricingFailed:
    fields = {"site": shop.site, "reason": reason}
    log.error("pricing is not usable", extra={"fields": fields})
    return PricingFailed()

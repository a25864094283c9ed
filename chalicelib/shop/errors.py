"""Refusals of the shop API, with the HTTP status and stable code of each."""

from collections.abc import Sequence
from typing import Any

from chalicelib.errors import Problem


class UnknownShop(Problem):
    """The site sells nothing: it has no settings of a shop."""

    status = 404
    code = "unknown_shop"
    title = "This site has no shop"


class CurrencyFixed(Problem):
    """The shop has another currency, and every stored price is in it."""

    status = 409
    code = "currency_fixed"
    title = "A shop's currency never changes"


class UnknownProduct(Problem):
    """The shop has no product of this id that the caller may see."""

    status = 404
    code = "unknown_product"
    title = "Product not found"


class ProductChanged(Problem):
    """The product is not as the caller read it; `facts` have its version."""

    status = 409
    code = "product_changed"
    title = "Somebody else has changed this product: read it, and change it again"

    def __init__(self, version: int) -> None:
        super().__init__(facts={"version": version})


class SkuTaken(Problem):
    """Another product of the shop has this SKU; `facts` name the product."""

    status = 409
    code = "sku_taken"
    title = "Another product has this SKU"

    def __init__(self, sku: str, product_id: str) -> None:
        super().__init__(facts={"sku": sku, "product": product_id})


class ProductTooLarge(Problem):
    """The HTML of the product's text is over its limit."""

    status = 422
    code = "product_too_large"
    title = "The HTML of the product's text is too large"


class UnknownCategory(Problem):
    """The shop has no category of this id."""

    status = 404
    code = "unknown_category"
    title = "Category not found"


class CategoryCycle(Problem):
    """The move would put a category below itself."""

    status = 409
    code = "category_cycle"
    title = "A category cannot be below itself"


class CategoryTooDeep(Problem):
    """The category, or a category below it, would be deeper than a tree may be."""

    status = 409
    code = "category_too_deep"
    title = "A category can be at most 12 levels deep"


class CategoryNotEmpty(Problem):
    """The category has categories below it, and the call does not move them up."""

    status = 409
    code = "category_not_empty"
    title = "This category has others below it: remove them first, or send children=up"


class SlugTaken(Problem):
    """Another category with the same parent has this slug; `facts` name the slug."""

    status = 409
    code = "slug_taken"
    title = "Another category beside this one has this slug"

    def __init__(self, slug: str) -> None:
        super().__init__(facts={"slug": slug})


class TooManyCategories(Problem):
    """The shop has as many categories as a tree may have."""

    status = 409
    code = "too_many_categories"
    title = "A shop has at most 20,000 categories"


class UnknownCart(Problem):
    """No cart has this id, or the cart ended over 90 days ago."""

    status = 404
    code = "unknown_cart"
    title = "Cart not found"


class CartClosed(Problem):
    """The cart is in a checkout, became an order, or has expired."""

    status = 409
    code = "cart_closed"
    title = "This cart can no longer be changed"


class CartFull(Problem):
    """The cart has the most lines a cart may have; it stays as before."""

    status = 409
    code = "cart_full"
    title = "A cart has at most 100 lines"


class CartClaimed(Problem):
    """The cart belongs to another user."""

    status = 409
    code = "cart_claimed"
    title = "This cart belongs to somebody else"


class NotForSale(Problem):
    """The product is no longer active, or lost this SKU; the cart stays as before."""

    status = 409
    code = "not_for_sale"
    title = "This is not for sale any more"

    def __init__(self, sku: str) -> None:
        super().__init__(facts={"sku": sku})


class UnknownOrder(Problem):
    """There is no order of this id that the caller may see."""

    status = 404
    code = "unknown_order"
    title = "Order not found"


class EmptyCart(Problem):
    """The cart has no lines."""

    status = 422
    code = "empty_cart"
    title = "This cart is empty"


class TotalChanged(Problem):
    """The total differs from the total that the buyer saw; `facts` have the current lines."""

    status = 409
    code = "total_changed"
    title = "The price has changed: look at it, and check out again"

    def __init__(self, total_micros: int, lines: Sequence[Any], adjustments: Sequence[Any]) -> None:
        facts = {"total_micros": total_micros, "lines": lines, "adjustments": adjustments}
        super().__init__(facts=facts)


class OrderDecided(Problem):
    """The order is not waiting for its payment, so it cannot be cancelled."""

    status = 409
    code = "order_decided"
    title = "This order can no longer be cancelled"


class OrderNotPaid(Problem):
    """The order is not paid, so it cannot be refunded or sent; sending needs the state `done`."""

    status = 409
    code = "order_not_paid"
    title = "This order was not paid"


class OrderRefunded(Problem):
    """All units of the order were refunded, so there is nothing to send."""

    status = 409
    code = "order_refunded"
    title = "This order was refunded"


class RefundTooLarge(Problem):
    """The order has too few units or too little money left, or 100 refunds; nothing is refunded."""

    status = 409
    code = "refund_too_large"
    title = "There is not so much left to be given back"


class RefundRefused(Problem):
    """The payment's provider refuses to return the money."""

    status = 409
    code = "refund_refused"
    title = "The payment's provider refused this refund"


class OutOfStock(Problem):
    """Fewer units are available than the claim needs; `facts` have the available number.

    Nothing changes.
    """

    status = 409
    code = "out_of_stock"
    title = "There are not enough of this left"

    def __init__(self, sku: str, available: int) -> None:
        super().__init__(facts={"sku": sku, "available": available})
        self.available = available


class StockIsCarted(Problem):
    """Carts and orders hold more units than the change would leave; nothing changes."""

    status = 409
    code = "stock_is_carted"
    title = "Carts and orders hold more than would be left"

    def __init__(self, on_hand: int, available: int) -> None:
        super().__init__(facts={"on_hand": on_hand, "held": on_hand - available})


class UnknownSku(Problem):
    """The shop has no such SKU."""

    status = 404
    code = "unknown_sku"
    title = "SKU not found in this shop"


class HeldByOrder(Exception):
    """The cart's entry belongs to another order, which may have ended; `order` is its id."""

    def __init__(self, order: str) -> None:
        super().__init__(order)
        self.order = order


class PaymentsNotSetUp(Problem):
    """The deployment cannot use the shop's payment provider."""

    status = 409
    code = "payments_not_set_up"
    title = "This shop cannot take payments yet"


class PricingFailed(Problem):
    """The deployment's pricing cannot price the order; the log has the reason."""

    status = 409
    code = "pricing_failed"
    title = "This shop cannot price this order: please tell the shop"


class OtherAccount(Problem):
    """The setting `stripe_sites` does not name this site, so its shop cannot choose Stripe."""

    status = 409
    code = "other_account"
    title = "The payments of this deployment go to an account that is not this site's"


class OrderUnfinished(Problem):
    """The order is not over: its state is neither `done` nor `void`."""

    status = 409
    code = "order_unfinished"
    title = "This order is not over yet: pay or cancel it first"


class AmountNotTaken(Problem):
    """The amount is no multiple of the provider's step; `facts` have both, in micros."""

    status = 409
    code = "amount_not_taken"
    title = "This shop's payments cannot take this amount"

    def __init__(self, total_micros: int, step_micros: int) -> None:
        super().__init__(facts={"total_micros": total_micros, "step_micros": step_micros})


class InvalidWebhook(Problem):
    """The event is too large or not signed, or its time is over five minutes from now."""

    status = 400
    code = "invalid_webhook"
    title = "This event is not signed by the provider"

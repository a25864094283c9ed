"""The errors of stock."""

from chalicelib.errors import Problem


class OutOfStock(Problem):
    """Fewer are available than were asked for; nothing was changed. `facts` say how many are."""

    status = 409
    code = "out_of_stock"
    title = "There are not enough of this left"

    def __init__(self, sku: str, available: int) -> None:
        super().__init__(facts={"sku": sku, "available": available})
        self.available = available


class StockIsCarted(Problem):
    """The stock would be less than what carts and orders hold; nothing was changed."""

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
    """The cart's entry belongs to an order, which has to be finished first."""

    def __init__(self, order: str) -> None:
        super().__init__(order)
        self.order = order

"""The errors of carts."""

from chalicelib.errors import Problem


class UnknownCart(Problem):
    """There is no cart of this id, or it ended long ago."""

    status = 404
    code = "unknown_cart"
    title = "Cart not found"


class CartClosed(Problem):
    """The cart is being checked out, was bought, or has expired."""

    status = 409
    code = "cart_closed"
    title = "This cart can no longer be changed"


class CartFull(Problem):
    """The cart has as many lines as a cart can; nothing was changed."""

    status = 409
    code = "cart_full"
    title = "A cart has at most 100 lines"


class CartClaimed(Problem):
    """The cart is somebody else's."""

    status = 409
    code = "cart_claimed"
    title = "This cart belongs to somebody else"


class NotForSale(Problem):
    """The product is a draft, was archived, or has this SKU no more; the cart is as it was."""

    status = 409
    code = "not_for_sale"
    title = "This is not for sale any more"

    def __init__(self, sku: str) -> None:
        super().__init__(facts={"sku": sku})

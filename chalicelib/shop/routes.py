"""The API of shops."""

from chalice.app import Blueprint

from chalicelib.http import router
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import routes as carts
from chalicelib.shop.listing import routes as listing
from chalicelib.shop.orders import routes as orders
from chalicelib.shop.products import routes as products
from chalicelib.shop.sites import routes as sites
from chalicelib.shop.stock import routes as stock
from chalicelib.shop.tree import routes as tree


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of shops."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Shop")
    sites.declare(route)
    products.declare(route)
    tree.declare(route)
    listing.declare(route)
    stock.declare(route)
    carts.declare(route)
    orders.declare(route)
    return blueprint

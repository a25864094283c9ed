"""The blueprint with all routes of shops: settings, products, categories, stock, carts, orders."""

from chalice.app import Blueprint

from chalicelib.http import router
from chalicelib.runtime import Runtime
from chalicelib.shop import settings_routes
from chalicelib.shop.carts import routes as carts
from chalicelib.shop.catalogue import listing_routes
from chalicelib.shop.catalogue import routes as products
from chalicelib.shop.categories import routes as tree
from chalicelib.shop.orders import routes as orders
from chalicelib.shop.stock import routes as stock


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of shops."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Shop")
    settings_routes.declare(route)
    products.declare(route)
    tree.declare(route)
    listing_routes.declare(route)
    stock.declare(route)
    carts.declare(route)
    orders.declare(route)
    return blueprint

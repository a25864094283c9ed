"""What the matrix says of stock, carts, orders and payment."""

from tests.security.support import world as worlds
from tests.security.support.callers import OWN_SITE
from tests.security.support.row import OWNERS, Row

_SOLD = {200: "owners_of_the_site", 401: "anonymous", 404: "publisher_other", 403: "*"}
_BUYERS = {200: "owner owners_of_the_site", 404: "*"}
CHECKOUT = {
    "total_micros": 5_000_000,
    "email": "ann@example.org",
    "address": worlds.ADDRESS,
}
ORDERS = (
    Row(
        "POST /shops/{site}/stock/{sku}",
        OWNERS,
        body={"change": 1, "key": "more"},
        made=worlds.stock,
    ),
    Row("GET /shops/{site}/stock", {200: "*"}, query="?skus=NEW-SKU"),
    Row("POST /carts", {201: "*"}, body={"site": OWN_SITE}),
    Row("GET /carts/{cart}", {200: "owner", 404: "*"}),
    Row("POST /carts/{cart}/claim", {401: "anonymous", 200: "*"}, made=worlds.cart),
    Row("PUT /carts/{cart}/lines/{sku}", {200: "*"}, body={"qty": 2}, made=worlds.cart),
    Row("DELETE /carts/{cart}/lines/{sku}", {200: "*"}, made=worlds.cart),
    Row("POST /carts/{cart}/merge", {409: "owner", 404: "*"}, body={"source": "x" * 22}),
    Row("POST /carts/{cart}/hold", {200: "*"}, made=worlds.cart),
    Row("GET /shops/{site}/holds", OWNERS),
    Row("DELETE /shops/{site}/holds", OWNERS, query="?sku=NEW-SKU"),
    Row("POST /carts/{cart}/checkout", {201: "*"}, body=CHECKOUT, made=worlds.cart),
    Row("GET /orders/{order}", _BUYERS),
    Row("POST /orders/{order}/payment", _BUYERS, made=worlds.order),
    Row("POST /orders/{order}/cancel", _BUYERS, made=worlds.order),
    Row("GET /shops/{site}/orders", OWNERS),
    Row("GET /users/me/orders", {401: "anonymous", 200: "*"}),
    Row(
        "POST /orders/{order}/refund",
        _SOLD,
        body={"restock": True, "key": "back"},
        made=worlds.paid_order,
    ),
    Row("POST /orders/{order}/sent", _SOLD),
    Row(
        "POST /orders/{order}/erasure",
        _BUYERS,
        body={"email": "ann@example.org"},
        made=worlds.paid_order,
    ),
    # Stripe has no token: its events are signed, which tests/shop/orders/test_stripe.py checks.
    Row("POST /payments/stripe/webhook", {400: "*"}),
)

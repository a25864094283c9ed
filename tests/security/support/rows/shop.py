"""What the matrix says of a shop's products, categories and settings."""

from tests.security.support import world as worlds
from tests.security.support.row import OWNERS, Row

PRODUCT = {
    "type": "book",
    "title": "Moby-Dick",
    "state": "active",
    "skus": [{"sku": "NEW-SKU", "price_micros": 5_000_000}],
    "details": {"author": ["Melville"]},
}
SHOP = (
    Row("PUT /shops/{site}", OWNERS, body={"currency": "EUR"}),
    Row("GET /shops/{site}", OWNERS),
    Row("POST /shops/{site}/layout", OWNERS, body={"store": "details"}),
    Row("POST /shops/{site}/tree", OWNERS, body={"store": "ancestors"}),
    Row("GET /shops/{site}/categories", {200: "*"}),
    Row("GET /shops/{site}/categories/{category}", {200: "*"}),
    Row("GET /shops/{site}/products", {200: "*"}, query="?facets=1&f.author=Melville"),
    Row(
        "PUT /shops/{site}/categories/{category}",
        OWNERS,
        body={"name": "Novels", "slug": "novels"},
    ),
    Row("POST /shops/{site}/categories/{category}/move", OWNERS, body={"parent": None}),
    Row(
        "DELETE /shops/{site}/categories/{category}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.category,
    ),
    Row(
        "PUT /shops/{site}/products/{product}",
        {201: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "new",
        PRODUCT,
        made=worlds.no_product,
    ),
    Row(
        "PUT /shops/{site}/products/{product}",
        OWNERS,
        "existing",
        PRODUCT,
        made=worlds.product,
        version=1,
    ),
    Row("GET /shops/{site}/products/{product}", {200: "*"}),
    Row(
        "GET /shops/{site}/products/{product}",
        {200: "owners_of_the_site", 404: "*"},
        "archived",
        made=worlds.archived_product,
    ),
    Row(
        "DELETE /shops/{site}/products/{product}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.product,
    ),
)

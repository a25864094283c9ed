"""A shop with its publisher, and what it sells."""

from typing import Any

import orjson

from tests.support.http_client import Client, Reply

SITE = "harbour"
PRICE = 18_990_000


def publisher(client: Client, site: str = SITE) -> Client:
    """Return a site's publisher."""
    return client.as_("paula", roles=["publisher"], sites=[site])


def open_shop(client: Client, site: str = SITE, **settings: Any) -> Client:
    """Open a shop; return its publisher."""
    paula = publisher(client, site)
    reply = paula.put(f"/shops/{site}", **{"currency": "EUR", **settings})
    assert reply.status == 200, reply.body
    return paula


def book(sku: str = "MOBY-HARD", **others: Any) -> dict[str, Any]:
    """Return a book to be sold."""
    body: dict[str, Any] = {
        "type": "book",
        "title": "Moby-Dick",
        "state": "active",
        "skus": [{"sku": sku, "price_micros": PRICE}],
        "details": {"author": ["Herman Melville"], "language": "en"},
    }
    return {**body, **others}


def product(name: str, site: str = SITE) -> str:
    """Return a product's path."""
    return f"/shops/{site}/products/{name}"


def put(
    client: Client, name: str, body: dict[str, Any], version: int | None = None, site: str = SITE
) -> Reply:
    """Write a product, naming the version that was read if there is one."""
    headers = {"Content-Type": "application/json"}
    if version is not None:
        headers["If-Match"] = f'"{version}"'
    return client.request("PUT", product(name, site), body=orjson.dumps(body), headers=headers)

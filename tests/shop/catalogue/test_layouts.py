"""Both layouts of details, and the rewriting of products from one to the other."""

from typing import Any, get_args

import pytest
from pydantic import Field

from chalicelib.errors import Unavailable
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.shop import jobs, settings, types
from chalicelib.shop.catalogue import rewriting, rows
from chalicelib.shop.categories.messages import Rewrite
from chalicelib.shop.settings import LayoutName
from chalicelib.shop.types import ProductDetails
from tests.shop.support.factories import SITE, book, open_shop, product, put
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

NAMES: tuple[LayoutName, ...] = get_args(LayoutName)
LAYOUT = f"/shops/{SITE}/layout"
DETAILS: dict[str, Any] = {"author": ["Melville"], "language": "en", "pages": 720}


@pytest.mark.parametrize("layout", NAMES)
def test_a_product_is_read_as_it_was_written(client: Client, layout: LayoutName) -> None:
    paula = open_shop(client)
    assert paula.post(LAYOUT, store=layout).status in {200, 202}

    put(paula, "moby", book(details=DETAILS))
    clothes = {"brand": "Linnet", "colour": []}
    put(paula, "shirt", book("C", type="clothing", details=clothes))
    put(paula, "two", book("B", details={"author": ["A", "B", "A"]}))

    assert client.get(product("moby")).json["details"] == DETAILS
    assert client.get(product("two")).json["details"] == {"author": ["A", "B"]}
    assert client.get(product("shirt")).json["details"] == {"brand": "Linnet"}


@pytest.mark.parametrize("to", NAMES)
def test_products_are_rewritten_in_the_background(
    client: Client, runtime: Runtime, workers: Workers, clock: Clock, to: LayoutName
) -> None:
    paula = open_shop(client)
    (former,) = set(NAMES) - {to}
    paula.post(LAYOUT, store=former)
    let_end(runtime, workers, clock)
    put(paula, "moby", book(details=DETAILS))
    before = rows.find(runtime.database, SITE, "moby")
    assert before["layout"] == former

    chosen = paula.post(LAYOUT, store=to)

    assert chosen.status == 202
    assert (chosen.json["layout"], chosen.json["is_rewriting"]) == (to, True)
    workers.drain()
    after = rows.find(runtime.database, SITE, "moby")
    assert {"details", "attributes"} & set(after) == {to}
    assert after["layout"] == to
    assert client.get(product("moby")).json["details"] == DETAILS
    assert settings.find(runtime.database, SITE)["is_rewriting"]

    # Somebody had begun to write it in the former layout.
    rows.PRODUCTS.of(runtime.database).replace_one({"_id": before["_id"], "site": SITE}, before)
    let_end(runtime, workers, clock)
    assert rows.find(runtime.database, SITE, "moby") == after
    assert "is_rewriting" not in settings.find(runtime.database, SITE)
    again = paula.post(LAYOUT, store=to)
    assert (again.status, again.json["is_rewriting"]) == (200, False)


def test_a_product_that_changed_during_its_rewrite_is_rewritten_by_the_next_run(
    client: Client, runtime: Runtime, workers: Workers, clock: Clock, monkeypatch: Any
) -> None:
    paula = open_shop(client)
    former = settings.find(runtime.database, SITE)["layout"]
    (to,) = set(NAMES) - {former}
    put(paula, "moby", book(details=DETAILS))
    paula.post(LAYOUT, store=to)
    update = rewriting._update

    def change_meanwhile(product: Any, layout: Any) -> Any:
        monkeypatch.setattr(rewriting, "_update", update)
        found = update(product, layout)
        rows.PRODUCTS.of(runtime.database).update_one({}, {"$inc": {"version": 1}})
        return found

    monkeypatch.setattr(rewriting, "_update", change_meanwhile)
    clock.time += outbox.OUTLIVES_ALL
    with pytest.raises(Unavailable):
        rewriting.rewrite(runtime, Rewrite(site=SITE))
    assert settings.find(runtime.database, SITE)["is_rewriting"]

    workers.drain()
    let_end(runtime, workers, clock)
    assert rows.find(runtime.database, SITE, "moby")["layout"] == to
    assert "is_rewriting" not in settings.find(runtime.database, SITE)


def let_end(runtime: Runtime, workers: Workers, clock: Clock) -> None:
    workers.drain()
    clock.time += outbox.OUTLIVES_ALL
    jobs.resend_overdue(runtime)
    workers.drain()


def test_a_layout_needs_a_shop(client: Client) -> None:
    olga = client.as_("olga", roles=["publisher"])

    assert olga.post("/shops/default/layout", store="details").code == "unknown_shop"
    assert olga.post("/shops/default/layout", store="table").code == "invalid_request"


class Odd(ProductDetails):
    """A type that allows more than a layout keeps."""

    text: str = ""
    many: list[int] = Field(default_factory=list)
    nested: dict[str, int] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("details", "field"),
    [
        ({"text": "x" * 101, "nested": {}}, "details.text"),
        ({"nested": {"a": 1}}, "details.nested"),
        ({"many": list(range(51)), "nested": {}}, "details"),
    ],
)
def test_no_type_keeps_what_a_layout_cannot(
    client: Client, monkeypatch: pytest.MonkeyPatch, details: dict[str, Any], field: str
) -> None:
    monkeypatch.setitem(types.PRODUCT_TYPES, "odd", Odd)

    reply = put(open_shop(client), "odd", book(type="odd", details=details))

    assert reply.json["errors"][0]["field"] == field

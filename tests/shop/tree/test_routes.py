"""The routes of categories, and what they do to the products below them."""

from typing import Any

import pytest

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.shop import schedules
from chalicelib.shop.products import rows
from chalicelib.shop.tree.messages import JOBS
from chalicelib.shop.tree.models import MAX_CATEGORIES
from chalicelib.shop.trees.rows import TREES
from tests.shop.support.factories import SITE, book, open_shop, product, put
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

TREE = f"/shops/{SITE}/categories"


def add(client: Client, name: str, parent: str | None = None, **others: Any) -> Reply:
    body = {"name": name.title(), "slug": name, "parent": parent}
    return client.put(f"{TREE}/{name}", **{**body, **others})


@pytest.fixture
def paula(client: Client) -> Client:
    paula = open_shop(client)
    for name, parent in (("books", None), ("novels", "books"), ("crime", "novels"), ("old", None)):
        assert add(paula, name, parent).status == 201
    return paula


def under(runtime: Runtime, name: str) -> list[str]:
    return rows.find(runtime.database, SITE, name)["under"]


@pytest.mark.usefixtures("paula")
def test_a_tree_is_read_to_a_depth(client: Client) -> None:
    whole = client.get(f"{TREE}?depth=12")

    assert [each["id"] for each in whole.json["categories"]] == ["books", "novels", "crime", "old"]
    assert whole.json["categories"][1] == {
        "id": "novels",
        "name": "Novels",
        "slug": "novels",
        "parent": "books",
        "depth": 2,
    }
    assert [each["id"] for each in client.get(TREE).json["categories"]] == ["books", "old"]
    below = client.get(f"{TREE}?under=books").json["categories"]
    assert [each["id"] for each in below] == ["novels"]
    assert client.get(f"{TREE}?under=none").code == "unknown_category"
    assert client.get("/shops/elsewhere/categories").json == {"categories": []}


def test_a_reader_who_has_the_tree_is_told_so(paula: Client, client: Client) -> None:
    tag = client.get(TREE).headers["ETag"]

    assert client.request("GET", TREE, headers={"If-None-Match": tag}).status == 304
    paula.post(f"{TREE}/crime/move", parent="old")
    assert client.request("GET", TREE, headers={"If-None-Match": tag}).status == 200


def test_a_product_is_listed_under_all_above_its_categories(
    paula: Client, runtime: Runtime
) -> None:
    put(paula, "moby", book(categories=["novels", "crime", "novels"], tags=["whales"]))

    assert under(runtime, "moby") == ["/", ":book", "#whales", "books", "novels", "crime"]
    assert paula.get(product("moby")).json["categories"] == ["novels", "crime"]
    refused = put(paula, "dick", book("B", categories=["books", "none"]))
    assert [each["field"] for each in refused.json["errors"]] == ["categories.1"]


def test_products_follow_a_category_that_is_moved(
    paula: Client, runtime: Runtime, workers: Workers
) -> None:
    put(paula, "moby", book(categories=["crime"]))
    put(paula, "dick", book("B", categories=["books"]))

    assert paula.post(f"{TREE}/novels/move", parent="old", position=0).status == 200
    workers.drain()

    assert under(runtime, "moby") == ["/", ":book", "old", "novels", "crime"]
    assert under(runtime, "dick") == ["/", ":book", "books"]
    assert paula.get(product("moby")).json["version"] == 1


def test_products_lose_a_category_that_is_removed(
    paula: Client, runtime: Runtime, workers: Workers
) -> None:
    put(paula, "moby", book(categories=["novels", "old"]))
    put(paula, "dick", book("B", categories=["crime"]))

    assert paula.delete(f"{TREE}/novels").code == "category_not_empty"
    assert paula.delete(f"{TREE}/novels?children=up").status == 204
    workers.drain()

    assert under(runtime, "moby") == ["/", ":book", "old"]
    assert under(runtime, "dick") == ["/", ":book", "books", "crime"]
    moby = paula.get(product("moby")).json
    assert (moby["categories"], moby["version"]) == (["old"], 2)


def test_a_product_that_was_being_written_is_corrected_later(
    paula: Client, runtime: Runtime, workers: Workers, clock: Clock
) -> None:
    """Its writer has read the former tree, and stores the product after the job has run."""
    put(paula, "moby", book(categories=["crime"]))
    before = rows.find(runtime.database, SITE, "moby")
    paula.post(f"{TREE}/novels/move", parent="old")
    workers.drain()
    rows.PRODUCTS.of(runtime.database).replace_one({"_id": before["_id"], "site": SITE}, before)

    clock.time += outbox.OUTLIVES_ALL
    schedules.resend_overdue(runtime)
    workers.drain()

    assert under(runtime, "moby") == ["/", ":book", "old", "novels", "crime"]
    assert JOBS.of(runtime.database).count_documents({}) == 0


def test_a_lost_message_is_sent_again(
    paula: Client,
    runtime: Runtime,
    workers: Workers,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(paula, "moby", book(categories=["crime"]))
    with monkeypatch.context() as lost:
        lost.setattr(runtime.queues, "send", lambda *_messages: False)
        paula.post(f"{TREE}/novels/move", parent="old")
    clock.advance(seconds=120)
    schedules.resend_overdue(runtime)
    workers.drain()

    assert "books" not in under(runtime, "moby")


def test_the_tree_is_stored_elsewhere(paula: Client, client: Client) -> None:
    before = client.get(f"{TREE}?depth=12").json

    stored = paula.post(f"/shops/{SITE}/tree", store="paths")

    assert stored.json == {"site": SITE, "store": "paths", "categories": 4}
    assert client.get(f"{TREE}?depth=12").json == before
    assert client.as_("o", roles=["publisher"]).post("/shops/default/tree", store="paths").code == (
        "unknown_shop"
    )


def test_changes_that_cannot_be(paula: Client) -> None:
    assert add(paula, "books", "crime").code == "category_cycle"
    assert paula.post(f"{TREE}/books/move", parent="novels").code == "category_cycle"
    assert paula.post(f"{TREE}/books/move", parent="none").code == "unknown_category"
    assert paula.post(f"{TREE}/none/move", parent=None).code == "unknown_category"
    assert paula.delete(f"{TREE}/none").code == "unknown_category"
    taken = add(paula, "new", slug="old")
    assert (taken.code, taken.json["facts"]) == ("slug_taken", {"slug": "old"})
    above: str | None = None
    for depth in range(1, 13):
        assert add(paula, f"l{depth}", above).status == 201
        above = f"l{depth}"
    assert add(paula, "l13", "l12").code == "category_too_deep"
    assert paula.post(f"{TREE}/novels/move", parent="l11").code == "category_too_deep"


def test_more_changes_that_cannot_be(paula: Client, client: Client, runtime: Runtime) -> None:
    assert add(paula, "new", "none").code == "unknown_category"
    assert add(paula, "novels-2", "old", slug="novels").status == 201
    assert paula.post(f"{TREE}/novels-2/move", parent="books").code == "slug_taken"
    assert add(paula, "inner", "novels", slug="old").status == 201
    assert paula.post(f"{TREE}/novels/move", parent=None).status == 200
    assert paula.delete(f"{TREE}/novels?children=up").code == "slug_taken"
    full = {"$set": {"count": MAX_CATEGORIES}}
    TREES.of(runtime.database).update_one({"_id": SITE}, full)
    assert add(paula, "new").code == "too_many_categories"

    olga, elsewhere = client.as_("olga", roles=["publisher"]), "/shops/default/categories/a"
    assert olga.put(elsewhere, name="A", slug="a").code == "unknown_shop"
    assert olga.post(f"{elsewhere}/move", parent=None).code == "unknown_shop"
    assert olga.delete(elsewhere).code == "unknown_shop"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "", "slug": "a"}, "name"),
        ({"name": "x" * 101, "slug": "a"}, "name"),
        ({"name": "A", "slug": "A"}, "slug"),
        ({"name": "A", "slug": "a/b"}, "slug"),
        ({"name": "A", "slug": "a", "parent": "A.b"}, "parent"),
        ({"name": "A", "slug": "a", "position": 1}, "position"),
    ],
)
def test_bad_categories_are_refused(paula: Client, body: dict[str, Any], field: str) -> None:
    reply = paula.put(f"{TREE}/new", **body)

    assert reply.code == "invalid_request"
    assert reply.json["errors"][0]["field"] == field


@pytest.mark.parametrize("query", ["depth=0", "depth=13", "under=A", "level=1"])
def test_bad_parts_of_a_tree_are_refused(paula: Client, query: str) -> None:
    assert paula.get(f"{TREE}?{query}").code == "invalid_request"

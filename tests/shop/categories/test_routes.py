"""The routes of categories, and what they do to the products below them."""

import json
from typing import Any

import pytest
from pydantic import SecretStr

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.shop import jobs
from chalicelib.shop.catalogue import rows
from chalicelib.shop.categories.forms import MAX_CATEGORIES, MAX_LISTED
from chalicelib.shop.categories.messages import JOBS
from chalicelib.shop.categories.rows import CATEGORIES, TREES
from tests.shop.support.factories import SITE, book, open_shop, product, put
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

# What Lambda answers with at most.
LARGEST_ANSWER_BYTES = 6_291_556
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
    assert client.get("/shops/elsewhere/categories").json == {"categories": [], "next": None}


def pages(client: Client, query: str) -> list[list[str]]:
    """Return the ids of every page of a part of the tree."""
    found: list[list[str]] = []
    cursor = ""
    while True:
        page = client.get(f"{TREE}?{query}{cursor}").json
        found.append([each["id"] for each in page["categories"]])
        if page["next"] is None:
            return found
        cursor = f"&cursor={page['next']}"


@pytest.mark.usefixtures("paula")
def test_a_tree_is_read_in_pages(client: Client) -> None:
    assert pages(client, "depth=12&limit=3") == [["books", "novels", "crime"], ["old"]]
    assert pages(client, "depth=12&limit=4") == [["books", "novels", "crime", "old"]]
    assert pages(client, "under=books&depth=12&limit=1") == [["novels"], ["crime"]]


def test_a_page_begins_after_its_category_wherever_that_is_by_now(
    paula: Client, client: Client
) -> None:
    cursor = client.get(f"{TREE}?depth=12&limit=2").json["next"]
    rest = f"{TREE}?depth=12&limit=2&cursor={cursor}"
    paula.post(f"{TREE}/novels/move", parent="old")
    assert [each["id"] for each in client.get(rest).json["categories"]] == ["crime"]

    paula.delete(f"{TREE}/novels?children=up")

    assert client.get(rest).code == "invalid_cursor"
    assert client.get(f"{TREE}?depth=11&cursor={cursor}").code == "invalid_cursor"


def with_longest_names(runtime: Runtime, count: int) -> None:
    """Plant so many categories right below `books`, each with the longest name and slug."""
    rows, books = CATEGORIES.of(runtime.database), f"{SITE}:books"
    (like,) = rows.find({"site": SITE, "_id": f"{SITE}:novels"})
    rows.delete_many({"site": SITE, "parent": {"$ne": None}})
    rows.insert_many(
        {
            **like,
            "_id": f"{SITE}:{number:064}",
            "name": "\N{CHEESE WEDGE}" * 100,
            "slug": f"{number:064}",
            "parent": books,
            "position": number,
        }
        for number in range(count)
    )


def invoked_bytes(reply: Reply) -> int:
    """Return how long an answer is as Lambda counts it: a string within JSON of ASCII."""
    assert reply.status == 200
    return len(json.dumps({"body": bytes(reply.body).decode(), "headers": dict(reply.headers)}))


@pytest.mark.usefixtures("paula")
def test_the_largest_pages_of_a_tree_fit_into_an_answer(client: Client, runtime: Runtime) -> None:
    with_longest_names(runtime, MAX_LISTED + 1)

    for path in (f"{TREE}?under=books&limit={MAX_LISTED}", f"{TREE}/books"):
        assert MAX_LISTED * 1_000 < invoked_bytes(client.get(path)) < LARGEST_ANSWER_BYTES

    read = [each for page in pages(client, f"under=books&limit={MAX_LISTED}") for each in page]
    assert read == [f"{number:064}" for number in range(MAX_LISTED + 1)]


@pytest.mark.usefixtures("paula")
def test_a_category_with_very_many_below_says_where_the_others_are(
    client: Client, runtime: Runtime
) -> None:
    assert client.get(f"{TREE}/books").json["next"] is None
    with_longest_names(runtime, MAX_LISTED + 2)

    page = client.get(f"{TREE}/books").json

    others = client.get(f"{TREE}?under=books&cursor={page['next']}").json
    assert len(page["children"]) == MAX_LISTED
    assert [int(each["id"]) for each in others["categories"]] == [MAX_LISTED, MAX_LISTED + 1]
    assert others["next"] is None


def test_a_category_that_is_renamed_and_moved_needs_its_slug_where_it_goes_alone(
    paula: Client,
) -> None:
    add(paula, "poems", "books")
    add(paula, "letters", "old")

    moved = add(paula, "novels", "old", slug="poems")

    assert (moved.status, moved.json["slug"], moved.json["parent"]) == (200, "poems", "old")
    refused = add(paula, "poems", "old", slug="letters")
    assert (refused.code, refused.json["facts"]) == ("slug_taken", {"slug": "letters"})
    assert add(paula, "poems", "books", slug="poems").status == 200


def test_a_reader_who_has_the_tree_is_told_so(paula: Client, client: Client) -> None:
    tag = client.get(TREE).headers["ETag"]

    assert client.request("GET", TREE, headers={"If-None-Match": tag}).status == 304
    paula.post(f"{TREE}/crime/move", parent="old")
    assert client.request("GET", TREE, headers={"If-None-Match": tag}).status == 200


def test_a_tree_is_sent_again_when_another_key_signs_its_cursors(
    paula: Client, client: Client, runtime: Runtime
) -> None:
    page = f"{TREE}?limit=1"
    assert paula.get(page).json["next"]
    held = {"If-None-Match": client.get(page).headers["ETag"]}
    keys = [SecretStr("another key of 32 characters!!!!")]
    object.__setattr__(runtime.settings, "signing_keys", keys)

    again = client.request("GET", page, headers=held)

    assert again.status == 200
    assert client.get(f"{page}&cursor={again.json['next']}").status == 200


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
    jobs.resend_overdue(runtime)
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
    jobs.resend_overdue(runtime)
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

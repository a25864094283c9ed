"""Listings whose rows are as large as they may be: every page fits, and none loses a row."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.content.editing.revisions import REVISIONS
from chalicelib.content.nodes import NODES
from chalicelib.database import Document
from chalicelib.http import responses
from chalicelib.http.responses import MAX_BYTES, sent_bytes
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue.rows import PRODUCTS
from chalicelib.shop.orders.shapes import ORDERS
from tests.content.support import factories as content
from tests.shop.support import buying, factories
from tests.social.support.drivers import circle, follow, publish
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

DUCK = "\N{DUCK}"


def walk(reader: Client, path: str, rows: str) -> Iterator[Any]:
    """Yield the rows of a listing, page by page; each fits, and none but the last is the end."""
    separator, cursor, pages = "&" if "?" in path else "?", "", 0
    while True:
        page = reader.get(f"{path}{separator}limit=200{cursor}")
        pages += 1
        assert page.status == 200, page.body[:300]
        assert page.json[rows]
        assert sent_bytes(page.body.decode()) <= MAX_BYTES
        yield from page.json[rows]
        if page.json["next"] is None:
            break
        cursor = f"&cursor={page.json['next']}"
    assert pages > 1, "all rows were on one page: make them larger"


def cloned(rows: Any, row: Document, count: int, change: Callable[[int], Document]) -> None:
    """Store a document this often, each with changes of its own."""
    rows.insert_many([{**row, **change(number)} for number in range(count)])


def test_revisions_with_the_longest_summaries(client: Client, runtime: Runtime) -> None:
    edda = content.editor(client)
    words = {"title": DUCK * 200, "summary": DUCK * 1_000}
    page = content.write(edda, **words, tags=[f"{n:02}{DUCK * 62}" for n in range(20)])
    rows = REVISIONS.of(runtime.database)
    first = rows.find_one({"_id.node": page})
    assert first is not None
    cloned(rows, {**first}, 200, lambda n: {"_id": {"node": page, "version": n + 2}})

    found = list(walk(edda, f"{content.node(page)}/revisions", "revisions"))

    assert [each["version"] for each in found] == list(range(201, 0, -1))


def test_pages_with_the_longest_summaries_and_tags(client: Client, runtime: Runtime) -> None:
    content.set_up(client)
    words = {"title": DUCK * 200, "summary": DUCK * 1_000}
    page = content.published(client, **words, tags=[f"{n:02}{DUCK * 62}" for n in range(20)])
    rows = NODES.of(runtime.database)
    first = rows.find_one({"_id": page})
    assert first is not None
    cloned(rows, {**first}, 299, lambda n: {"_id": f"clone-{n:03}"})

    found = [each["id"] for each in walk(client, f"/content/{content.SITE}", "entries")]

    assert sorted(found) == sorted([page, *(f"clone-{n:03}" for n in range(299))])


@pytest.mark.parametrize("query", ["order=price", "order=newest", "order=best&q=moby"])
def test_products_with_all_skus_and_the_longest_options(
    client: Client, runtime: Runtime, query: str
) -> None:
    paula = factories.open_shop(client)
    options = {f"option_{n}": DUCK * 100 for n in range(5)}
    skus = [{"sku": f"S{n}", "options": options, "price_micros": 10_000} for n in range(20)]
    written = factories.put(paula, "moby", factories.book(skus=skus))
    assert written.status == 201, written.body
    rows = PRODUCTS.of(runtime.database)
    first = rows.find_one({"_id": f"{factories.SITE}/moby"}) or rows.find_one({})
    assert first is not None
    key = str(first["_id"]).replace("moby", "clone-{}")
    cloned(rows, {**first}, 79, lambda n: {"_id": key.format(n)})

    found = [
        each["id"] for each in walk(client, f"/shops/{factories.SITE}/products?{query}", "products")
    ]

    assert sorted(found) == sorted(["moby", *(f"clone-{n}" for n in range(79))])


def test_orders_with_all_lines_and_the_longest_titles(client: Client, runtime: Runtime) -> None:
    paula = buying.stocked(client)
    bob = client.as_("bob")
    order = buying.bought(bob)[1]
    rows = ORDERS.of(runtime.database)
    first = rows.find_one({"_id": order})
    assert first is not None
    line = {**first["lines"][0], "title": DUCK * 200}
    lines = [{**line, "sku": f"S{n}", "price_micros": 0} for n in range(99)]
    cloned(
        rows, {**first, "lines": [line, *lines]}, 59, lambda n: {"_id": f"{n:016}", "cart": f"c{n}"}
    )
    ids = sorted([order, *(f"{n:016}" for n in range(59))])

    assert (
        sorted(each["id"] for each in walk(paula, f"/shops/{factories.SITE}/orders", "orders"))
        == ids
    )
    assert sorted(each["id"] for each in walk(bob, "/users/me/orders", "orders")) == ids


@pytest.fixture
def discussion(client: Client) -> list[str]:
    """A discussion of the longest comments, and of one reply to each third."""
    told = {"title": DUCK * 200, "url": "https://blog.example/page"}
    assert client.as_("paula", roles=["admin"]).put("/nodes/page", **told).status == 201
    ids: list[str] = []
    for number in range(60):
        parent = {"parent": ids[-1]} if number % 3 == 1 else {}
        said = {"text": f"{number:02}{DUCK * 9_998}", **parent}
        reply = client.as_("ann").post("/nodes/page/comments", **said)
        assert reply.status == 201, reply.body
        ids.append(str(reply.json["id"]))
    return ids


@pytest.mark.parametrize("order", ["oldest", "newest", "best"])
def test_comments_of_the_longest_texts(client: Client, discussion: list[str], order: str) -> None:
    found = walk(client, f"/nodes/page/comments?order={order}", "comments")

    assert sorted(each["id"] for each in found) == sorted(discussion)


def test_the_comments_of_a_person_of_the_longest_texts(
    client: Client, discussion: list[str]
) -> None:
    path, cursor = "/sites/default/people/ann/comments?limit=50", ""
    found: list[str] = []
    while True:
        page = client.get(f"{path}{cursor}").json
        found += [each["comment"]["id"] for each in page["comments"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"

    assert sorted(found) == sorted(discussion)


def test_a_person_with_the_longest_comments_gets_all_of_them(
    client: Client, discussion: list[str]
) -> None:
    entries = walk(client.as_("ann"), "/users/me/export", "entries")

    kinds = [each for each in entries if each["kind"] == "comment"]
    assert len(kinds) == len({each["data"]["id"] for each in kinds}) == len(discussion)


def test_a_page_of_the_longest_comments_for_browsers(client: Client, discussion: list[str]) -> None:
    browser = Client(client.app, client.token, {"Accept": "text/html"})
    found: list[str] = []
    path: str | None = "/nodes/page/comments?order=oldest&limit=200"
    while path:
        page = browser.get(path)
        text = page.body.decode()
        assert page.status == 200
        assert sent_bytes(text) <= MAX_BYTES
        found += [each for each in discussion if f'<li id="plaza-{each}"' in text]
        path = next_link(text)

    assert found == sorted(discussion, key=found.index)
    assert sorted(found) == sorted(discussion)


def next_link(text: str) -> str | None:
    """Return the path of the next page that a page for browsers links to."""
    _, found, rest = text.partition('<link rel="next" href="')
    return (
        f"/nodes/page/comments{rest.partition(chr(34))[0].replace('&amp;', '&')}" if found else None
    )


def test_news_of_the_longest_posts(client: Client, workers: Workers) -> None:
    follow(client, "bob", "ann")
    posts = [publish(client, "ann", detail={"text": f"{n:03}{DUCK * 4_990}"}) for n in range(100)]
    workers.drain()

    for path in ("/users/me/news", "/users/ann/wall"):
        found = [each["id"] for each in walk(client.as_("bob"), path, "posts")]
        assert sorted(found) == sorted(posts)


def test_circles_with_more_members_than_an_answer_holds_list_the_first(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = [f"reader{number:02}" for number in range(20)]
    circle(client, "ann", "team", *members)
    circle(client, "ann", "lone", members[0])
    monkeypatch.setattr(responses, "MAX_BYTES", 1_000)

    listed: Reply = client.as_("ann").get("/users/me/circles")
    found = {
        each["id"]: [member["id"] for member in each["members"]] for each in listed.json["circles"]
    }

    assert listed.status == 200
    assert found["lone"] == members[:1]
    assert 1 <= len(found["team"]) < 20
    assert found["team"] == members[: len(found["team"])]


def test_a_feed_entry_that_its_links_make_too_long_has_the_summary(
    client: Client, clock: Clock
) -> None:
    content.set_up(client, base_url=f"https://harbour.example/{'a' * 1_700}")
    content.published(client, "short")
    clock.advance(seconds=1)
    text = "\n\n".join(f"[{number}](#page-{number})" for number in range(1_400))
    content.published(client, "links", detail={"text": text}, summary="A <list> of links")
    clock.advance(seconds=1)

    json = client.get(f"/content/{content.SITE}/feed.json").json["items"]
    atom = client.get(f"/content/{content.SITE}/feed.atom")

    assert json[0]["content_html"] == "<p>A &lt;list&gt; of links</p>"
    assert "It is" in json[1]["content_html"]
    assert atom.status == 200

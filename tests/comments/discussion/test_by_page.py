"""A node by the address of its page, in each form that browsers have of it."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.comments.discussion import by_page
from chalicelib.comments.nodes import NODES
from chalicelib.comments.page_urls import key_of, plain
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

URL = "https://blog.example/2026/moon?page=1"


def put(client: Client, node: str, url: str = URL, site: str = "blog") -> None:
    publisher = client.as_("paula", roles=["publisher"], sites=[site])
    made = publisher.put(f"/nodes/{node}", title="Moon", url=url)
    assert made.status in {200, 201}, made.body


def find(client: Client, url: str = URL, site: str = "blog") -> Reply:
    return client.get(f"/nodes?site={site}&url={quote(url, safe='')}")


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "https://Blog.Example/2026/moon?page=1",
        "https://blog.example:443/2026/moon?page=1",
        f"{URL}#comments",
        f"{URL}&utm_source=mail&utm_medium=x",
        "https://blog.example/2026/moon?utm_source=mail&page=1",
        f"{URL}&",
    ],
)
def test_a_page_finds_its_node_however_its_address_is_written(client: Client, url: str) -> None:
    put(client, "blog:moon")

    found = find(client, url)

    assert found.json == client.get("/nodes/blog:moon").json
    assert found.json["id"] == "blog:moon"


@pytest.mark.parametrize(
    "url",
    [
        "http://blog.example/2026/moon?page=1",
        "https://blog.example/2026/moon",
        "https://blog.example/2026/moon?page=2",
        "https://blog.example/2026/Moon?page=1",
        "https://blog.example:8443/2026/moon?page=1",
        "https://www.blog.example/2026/moon?page=1",
    ],
)
def test_another_page_does_not(client: Client, url: str) -> None:
    put(client, "blog:moon")

    assert (find(client, url).status, find(client, url).code) == (404, "unknown_node")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
        ("https://straße.example:443/", "https://xn--strae-oqa.example/"),
        ("https://Βόλος.example:8000/", "https://xn--nxasmm1c.example:8000/"),
        ("https://ΒΌΛΟΣ.example/", "https://xn--nxasmq6b.example/"),
        ("https://my_höst.example/", "https://xn--my_hst-zxa.example/"),
        ("https://☃.example/", "https://xn--n3h.example/"),
        ("https://a.example", "https://a.example/"),
        ("https://a.example/straße?q=ä", "https://a.example/stra%C3%9Fe?q=%C3%A4"),
        ("https://a.example/%c3%a4", "https://a.example/%C3%A4"),
        ("http://a.example:80/b?", "http://a.example/b"),
        ("https://a.example/?b=2&a=1", "https://a.example/?b=2&a=1"),
        ("https://a.example/?a=1&a=2", "https://a.example/?a=1&a=2"),
        ("https://[::1]:8000/", "https://[::1]:8000/"),
    ],
)
def test_an_address_has_the_form_that_browsers_have(url: str, expected: str) -> None:
    assert plain(url) == expected
    assert len(key_of(url)) == 22
    assert plain(expected) == expected


def test_a_host_outside_ascii_is_found_by_the_form_of_browsers_alone(client: Client) -> None:
    put(client, "blog:a", "https://straße.example/moon")

    for host in ("straße", "xn--strae-oqa"):
        assert find(client, f"https://{host}.example/moon").json["id"] == "blog:a"
    assert find(client, "https://strasse.example/moon").code == "unknown_node"


def test_half_a_surrogate_pair_has_a_key() -> None:
    assert len(key_of("https://a.example/\ud800")) == len(key_of("https://\ud800.example/")) == 22


def test_sites_do_not_answer_for_each_other(client: Client) -> None:
    """Any publisher may name any address: a page asks its own site."""
    put(client, "evil:moon", site="evil")

    assert find(client).code == "unknown_node"
    assert find(client, site="evil").json["id"] == "evil:moon"
    assert client.get(f"/nodes?url={quote(URL, safe='')}").code == "unknown_node"
    client.as_("root", roles=["admin"]).put("/nodes/moon", title="Moon", url=URL)
    assert client.get(f"/nodes?url={quote(URL, safe='')}").json["id"] == "moon"


def test_of_two_nodes_the_first_that_the_caller_sees_is_found(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    put(client, "blog:a")
    put(client, "blog:b")
    assert find(client).json["id"] == "blog:a"

    change = {"$set": {"public_until": clock() - timedelta(seconds=1)}}
    NODES.of(runtime.database).update_one({"_id": "blog:a"}, change)

    assert find(client).json["id"] == "blog:b"
    assert find(client.as_("paula", roles=["publisher"], sites=["blog"])).json["id"] == "blog:a"
    NODES.of(runtime.database).update_one({"_id": "blog:b"}, change)
    assert find(client).code == "unknown_node"


def test_a_node_is_found_by_its_new_address_alone(client: Client) -> None:
    put(client, "blog:moon", "https://blog.example/old")
    put(client, "blog:moon")

    assert find(client).json["id"] == "blog:moon"
    assert find(client, "https://blog.example/old").code == "unknown_node"


def test_a_moved_and_a_deleted_node(client: Client, runtime: Runtime) -> None:
    put(client, "blog:moon")
    root = client.as_("root", roles=["admin"])
    assert root.post("/nodes/blog:moon/move", to="blog:sun").status == 200
    assert find(client).json["id"] == "blog:sun"

    assert root.delete("/nodes/blog:sun").status == 204
    assert find(client).code == "unknown_node"
    # A deletion by release 0.3.0 leaves the key.
    left = {"vacant": {"$ne": None}, "vacant.moved_to": None}
    changed = NODES.of(runtime.database).update_one(left, {"$set": {"url_key": key_of(URL)}})
    assert changed.matched_count == 1
    assert find(client).code == "unknown_node"


def test_a_first_visit_makes_a_node_that_is_found(client: Client) -> None:
    publisher = client.as_("paula", roles=["publisher"], sites=["blog"])
    publisher.put("/sites/blog/comments/settings", first_visits=["https://blog.example/"])
    page = b'{"title": "Moon", "url": "https://blog.example/moon"}'
    headers = {"Origin": "https://blog.example", "Content-Type": "application/json"}
    made = client.request("POST", "/nodes/blog:moon/visit", body=page, headers=headers)
    assert made.status == 201, made.body

    assert find(client, "https://blog.example/moon#x").json["id"] == "blog:moon"


def test_nodes_of_the_last_release_are_found_after_the_schedule(
    client: Client, runtime: Runtime
) -> None:
    put(client, "blog:moon")
    put(client, "blog:sun", "https://blog.example/sun")
    NODES.of(runtime.database).update_many({}, {"$unset": {"url_key": 1}})
    assert find(client).code == "unknown_node"

    assert by_page.add_missing_keys(runtime) == 2

    assert find(client).json["id"] == "blog:moon"
    assert by_page.add_missing_keys(runtime) == 0


@pytest.mark.parametrize("url", ["", "moon", "javascript:1", "https://", "https://a@b.example/"])
def test_what_is_no_address_is_refused(client: Client, url: str) -> None:
    assert find(client, url).code == "invalid_request"
    assert client.get("/nodes").code == "invalid_request"


@pytest.mark.parametrize("where", [{"url_key": key_of(URL), "site": "blog"}, {"url_key": None}])
def test_nodes_are_found_by_an_index(
    client: Client, runtime: Runtime, where: dict[str, Any]
) -> None:
    for number in range(20):
        put(client, f"blog:n{number}", f"https://blog.example/{number}")
    put(client, "blog:moon")

    found: Any = NODES.of(runtime.database).find({**where, "vacant": None}).sort("_id", 1)
    told = found.limit(20).explain()

    assert told["executionStats"]["totalKeysExamined"] <= 2
    assert told["executionStats"]["totalDocsExamined"] <= 1

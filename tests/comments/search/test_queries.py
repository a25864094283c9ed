"""Queries and cursors of a search in comments, and those that it refuses."""

from urllib.parse import quote

import pytest

from chalicelib.runtime import Runtime
from tests.comments.support.searching import SEARCH, post, rows
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.mark.parametrize("words", ["ferry", "ferry boat"])
def test_pages_neither_miss_nor_repeat_while_comments_come(
    client: Client, nodes: list[str], clock: Clock, words: str
) -> None:
    ann, q = client.as_("ann"), words.replace(" ", "+")
    old = [f"ferry boat {number}" for number in range(7)]
    for text in old:
        post(ann, nodes[0], text)
    read, more = [], ""
    for number in range(9):
        page = client.get(f"{SEARCH}?q={q}&limit=2{more}").json
        read += [each["excerpt"] for each in page["comments"]]
        clock.advance(seconds=1)
        post(ann, nodes[1], f"ferry boat later {number}")
        if page["next"] is None:
            break
        more = f"&cursor={page['next']}"

    assert sorted(read) == old


def test_a_cursor_is_of_its_words_and_site(client: Client, nodes: list[str]) -> None:
    for _ in range(3):
        post(client.as_("ann"), nodes[0], "ferry boat")
    cursor = client.get(f"{SEARCH}?q=ferry&limit=1").json["next"]

    for path in (f"{SEARCH}?q=boat", f"{SEARCH}?q=ferry+boat", f"{SEARCH}?q=x&limit=2"):
        assert client.get(f"{path}&cursor={cursor}").code == "invalid_cursor"
    assert client.get(f"{SEARCH}?q=Ferry&limit=1&cursor={cursor}").status == 200
    assert client.get(f"{SEARCH}?q=ferry&cursor={cursor[:-2]}").code == "invalid_cursor"


@pytest.mark.usefixtures("publisher")
@pytest.mark.parametrize(
    "query",
    [
        "",
        "?q=",
        "?q=+",
        "?q=%21%3F%E2%80%A6",
        "?q=%00",
        "?q=a+b+c+d+e+f",
        f"?q={'-'.join('abcdefghijklmnopqrstu')}",
        f"?q={'x' * 201}",
        f"?q={'x' * 10_000}",
        "?q=a&limit=0",
        "?q=a&limit=51",
        "?q=a&cursor=x",
        f"?q=a&cursor={'A' * 40}",
    ],
    ids=lambda query: query[:30],
)
def test_a_query_without_a_word_or_with_too_many_is_refused(client: Client, query: str) -> None:
    reply = client.get(f"{SEARCH}{query}")

    assert reply.status in {400, 422}
    assert reply.code in {"invalid_request", "invalid_cursor"}


@pytest.mark.parametrize(
    ("query", "status", "number"),
    [
        ("$where", 200, 0),
        (".*", 422, 0),
        ("\\", 422, 0),
        ("(a+)+$", 200, 1),
        ('{"$gt":""}', 200, 0),
        ("$ne a", 200, 0),
        ("a\x00b", 200, 1),
        ("'; drop", 200, 0),
        ("\u202ea", 200, 1),
        ("x" * 200, 200, 0),
        ("\U0001f600 a", 200, 1),
        ("a " * 5, 200, 1),
    ],
    ids=ascii,
)
def test_hostile_words_are_words(
    client: Client, nodes: list[str], query: str, status: int, number: int
) -> None:
    post(client.as_("ann"), nodes[0], "a quiet comment about b, c and nothing else")

    page = client.get(f"{SEARCH}?q={quote(query, safe='')}")

    assert page.status == status
    if page.status == 200:
        assert len(page.json["comments"]) == number


def test_a_site_that_has_not_switched_it_on_is_not_searched(
    client: Client, runtime: Runtime
) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon")
    post(client.as_("ann"), "/nodes/blog:moon", "ferry")

    for reader in (client, root):
        reply = reader.get(f"{SEARCH}?q=ferry")
        assert (reply.status, reply.code) == (409, "not_enabled")
    assert rows(runtime) == {}

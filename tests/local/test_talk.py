"""The newspaper's search in comments and its most discussed pages, by what the API answers."""

from typing import Any

import pytest

from local import talk

SITE = "harbour-post"
FOUND = {
    "id": "c1",
    "permalink": "http://127.0.0.1:8000/articles/moon#comment-c1",
    "posted_at": "2026-11-20T12:00:00Z",
    "author": {"id": "ann", "name": "Ann <b>"},
    "node": {"id": "harbour-post:moon", "title": "Moon & tide", "url": "http://127.0.0.1:8000/"},
    "excerpt": "The <i>ferry</i> was late",
}


class Api:
    """An API with one answer, which remembers what it was asked."""

    def __init__(self, status: int, answer: Any = None) -> None:
        self.asked: list[str] = []
        self._told = status, answer

    def __call__(self, path: str) -> tuple[int, Any]:
        self.asked.append(path)
        return self._told


def test_a_search_asks_for_the_words_and_shows_comments_as_text() -> None:
    api = Api(200, {"comments": [FOUND], "next": None})

    shown = talk.page(api, SITE, "q=ferry+%26+tide")

    assert api.asked == [f"/sites/{SITE}/search?q=ferry+%26+tide&limit=10"]
    assert 'href="http://127.0.0.1:8000/articles/moon#comment-c1">Moon &amp; tide</a>' in shown
    assert "Ann &lt;b&gt;, <time" in shown
    assert "The &lt;i&gt;ferry&lt;/i&gt; was late" in shown
    assert 'value="ferry &amp; tide"' in shown


def test_a_page_leads_to_older_comments() -> None:
    shown = talk.page(Api(200, {"comments": [], "next": "a+b"}), SITE, "q=ferry&cursor=x")

    assert '<a href="/search?q=ferry&amp;cursor=a%2Bb">Older comments</a>' in shown


@pytest.mark.parametrize(
    ("status", "answer", "told"),
    [
        (200, {"comments": [], "next": None}, "No comment has all of these words."),
        (422, None, "Look for one to five words"),
        (403, None, "cannot be searched at the moment"),
        (500, None, "cannot be searched at the moment"),
    ],
)
def test_a_search_without_results_says_why(status: int, answer: Any, told: str) -> None:
    assert told in talk.page(Api(status, answer), SITE, "q=ferry")


def test_a_search_for_nothing_asks_nothing() -> None:
    api = Api(500)

    assert "<form" in talk.page(api, SITE, "q=+")
    assert api.asked == []


def test_the_most_discussed_pages_are_named_with_their_numbers() -> None:
    nodes = [
        {"id": "a", "title": "Moon <b>", "url": "/moon?a=1&b=2", "comments": 2},
        {"id": "b", "title": "Sun", "url": "/sun", "comments": 1},
    ]

    shown = talk.most_discussed(Api(200, {"nodes": nodes}), SITE)

    assert '<a href="/moon?a=1&amp;b=2">Moon &lt;b&gt;</a>' in shown
    assert ">2 comments<" in shown
    assert ">1 comment<" in shown


@pytest.mark.parametrize("api", [Api(200, {"nodes": []}), Api(500)])
def test_nothing_stands_where_nothing_is_counted(api: Api) -> None:
    assert talk.most_discussed(api, SITE) == ""

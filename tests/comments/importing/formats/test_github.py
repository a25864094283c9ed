"""GitHub's Discussions, as giscus has them: pages, replies, votes and states."""

import json
from typing import Any

import pytest

from tests.comments.importing.support.reading import (
    comment,
    comments,
    facts,
    read,
    skipped,
    threads,
)
from tests.comments.importing.support.records import ISO


def github(*nodes: dict[str, Any], **head: Any) -> str:
    """Return an answer of the API with a discussion of these comments."""
    discussion = {"id": "D1", "title": "posts/b", "comments": {"nodes": nodes}, **head}
    return json.dumps({"data": {"repository": {"discussions": {"nodes": [discussion]}}}})


GITHUB: dict[str, Any] = {
    "id": "DC1",
    "author": {"login": "ann"},
    "body": "words",
    "createdAt": ISO,
}


@pytest.mark.parametrize(
    ("head", "url"),
    [
        ({}, "/posts/b"),
        ({"title": "/b"}, "/b"),
        ({"title": "https://a.example/b"}, "https://a.example/b"),
        ({"title": "A talk"}, None),
        ({"body": "# B\n\n[https://a.example/b](https://a.example/b)"}, "https://a.example/b"),
    ],
)
def test_a_discussion_of_giscus_leads_to_its_page(head: dict[str, str], url: str | None) -> None:
    assert threads(read("github", github(GITHUB, **head)))[0].url == url


def test_github_gives_replies_pictures_and_votes() -> None:
    groups = [
        {"content": "THUMBS_UP", "users": {"totalCount": 3}},
        {"content": "THUMBS_DOWN", "users": {"totalCount": 1}},
        {"content": "HEART", "users": {"totalCount": 9}},
    ]
    reply = {
        **GITHUB,
        "id": "DC2",
        "author": None,
        "body": 'a <img width="9" alt="cat" src="https://i.example/c.png"> b',
        "reactions": {"nodes": [{"content": "THUMBS_UP", "user": {"login": "ben"}}]},
    }
    node = {**GITHUB, "upvoteCount": 2, "reactionGroups": groups, "replies": {"nodes": [reply, {}]}}

    items = read("github", github(node, locked=True))

    root, answer = comments(items)
    assert threads(items)[0].locked
    assert facts(root, "parent", "ups", "downs", "votes") == (None, 3, 1, ())
    assert facts(answer, "parent", "author", "text", "ups", "votes") == (
        "DC1",
        None,
        "a ![cat](https://i.example/c.png) b",
        1,
        (("ben", 1),),
    )
    assert [each for each, _ in skipped(items)] == ["no_id"]


def test_comments_that_an_answer_of_github_lacks_are_told() -> None:
    replies = {"totalCount": 101, "nodes": [{**GITHUB, "id": "DC2"}]}
    discussion = {"totalCount": 7, "nodes": [{**GITHUB, "replies": replies}]}
    found = github(comments=discussion)

    assert [reason for reason, _ in skipped(read("github", found))] == ["more_comments"] * 2


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"isMinimized": True, "minimizedReason": "spam"}, "spam"),
        ({"isMinimized": True, "minimizedReason": "off-topic"}, "hidden"),
        ({"deletedAt": ISO}, "deleted"),
    ],
)
def test_minimised_comments_of_github_keep_their_state(change: dict[str, Any], state: str) -> None:
    assert comment(read("github", github({**GITHUB, **change}))).state == state


def test_pages_of_the_api_may_follow_each_other_or_be_an_array() -> None:
    one, two = github(GITHUB), github({**GITHUB, "id": "DC2"}, id="D2")

    assert len(comments(read("github", f"{one}\n{two}"))) == 2
    assert read("github", f"[{one}, {two}]") == read("github", one + two)

"""Replies below the greatest depth stand beside the comment that they answer, and remember it."""

from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from chalicelib.comments import personal_data
from chalicelib.comments.shapes import StoreName
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.support.http_client import Client

NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
STORES: tuple[StoreName, ...] = ("documents", "embedded")


@pytest.fixture(params=STORES)
def deep(request: pytest.FixtureRequest, client: Client) -> tuple[str, str, str]:
    """A discussion of depth 1: the ids of a root by Ann, a reply by Ben, and Cat's to Ben's."""
    admin = client.as_("admin", roles=["admin"])
    settings = {"title": "Moon", "url": "https://blog.example/moon", "max_depth": 1}
    assert admin.put(NODE, **settings, store=request.param).status == 201
    root = post(client, "ann")["id"]
    reply = post(client, "ben", root)["id"]
    return root, reply, post(client, "cat", reply)["id"]


def post(client: Client, who: str, parent: str | None = None) -> Any:
    made = client.as_(who, name=who.title()).post(COMMENTS, text=f"by {who}", parent=parent)
    assert made.status == 201, made.body
    return made.json


def reply_to(caller: Client, comment: str, path: str = COMMENTS) -> Any:
    listed = {each["id"]: each["reply_to"] for each in caller.get(path).json["comments"]}
    assert caller.get(f"{path}/{comment}").json["reply_to"] == listed[comment]
    return listed[comment]


def test_the_answer_to_a_reply_at_the_greatest_depth_says_whom_it_answers(
    client: Client, deep: tuple[str, str, str]
) -> None:
    root, reply, deepest = deep
    made = post(client, "dan", deepest)

    assert (made["parent_id"], made["depth"]) == (root, 1)
    assert made["reply_to"] == {"id": deepest, "author": {"id": "cat", "name": "Cat"}}
    assert reply_to(client, deepest) == {"id": reply, "author": {"id": "ben", "name": "Ben"}}
    assert reply_to(client, reply) is None
    assert reply_to(client, root) is None
    thread = client.get(f"{COMMENTS}/{root}/thread").json["comments"]
    assert thread[-1]["reply_to"] == made["reply_to"]
    (of_dan,) = client.get("/sites/blog/people/dan/comments").json["comments"]
    assert of_dan["comment"]["reply_to"] == made["reply_to"]


def test_who_is_answered_need_not_be_on_the_page(
    client: Client, deep: tuple[str, str, str]
) -> None:
    _, reply, deepest = deep

    (shown,) = client.get(f"{COMMENTS}?order=oldest&limit=1&around={deepest}").json["comments"]

    assert shown["reply_to"] == {"id": reply, "author": {"id": "ben", "name": "Ben"}}


@pytest.mark.parametrize("state", ["hidden", "pending", "spam", "deleted"])
def test_who_is_not_seen_is_not_named(
    client: Client, deep: tuple[str, str, str], state: str
) -> None:
    _, reply, deepest = deep
    moderator = client.as_("mo", roles=["moderator"])
    if state == "deleted":
        assert moderator.delete(f"{COMMENTS}/{reply}").status == 204
    else:
        assert moderator.post(f"{COMMENTS}/{reply}/state", state=state).status == 200

    assert reply_to(client, deepest) == {"id": reply, "author": None}
    named = reply_to(moderator, deepest)["author"]
    assert (named is None) == (state == "deleted")


def test_a_blocked_person_is_not_named(client: Client, deep: tuple[str, str, str]) -> None:
    _, reply, deepest = deep
    dan = client.as_("dan")
    assert dan.put("/sites/blog/blocked/ben").status == 204

    listed = {each["id"]: each for each in dan.get(COMMENTS).json["comments"]}

    assert listed[deepest]["reply_to"] == {"id": reply, "author": None}
    author = listed[deepest]["author"]["id"]
    by_author = dan.get(f"/sites/blog/people/{author}/comments").json["comments"]
    shown = next(each["comment"] for each in by_author if each["comment"]["id"] == deepest)
    assert shown["reply_to"] == {"id": reply, "author": None}
    of_ben = dan.get("/sites/blog/people/ben/comments").json["comments"]
    assert reply in {each["comment"]["id"] for each in of_ben}, "asked for by name"


def test_a_rename_and_an_erasure_reach_it(
    client: Client, deep: tuple[str, str, str], runtime: Runtime
) -> None:
    _, reply, deepest = deep
    personal_data.rename(runtime, "ben", "Benjamin")
    assert reply_to(client, deepest)["author"]["name"] == "Benjamin"

    assert personal_data.erase(runtime, "ben") is Step.DONE

    assert reply_to(client, deepest) == {"id": reply, "author": None}


def test_a_move_takes_it_along(client: Client, deep: tuple[str, str, str]) -> None:
    _, reply, deepest = deep
    admin = client.as_("admin", roles=["admin"])
    for store in ("embedded", "documents"):
        assert admin.post(f"{NODE}/store", store=store).status == 200
        assert reply_to(client, deepest)["id"] == reply
    assert admin.post(f"{NODE}/move", to="blog:sun").status == 200

    assert reply_to(client, deepest, "/nodes/blog:sun/comments") == {
        "id": reply,
        "author": {"id": "ben", "name": "Ben"},
    }


def test_the_page_without_scripts_says_whom_it_answers(
    client: Client, deep: tuple[str, str, str]
) -> None:
    _, reply, deepest = deep

    def header(query: str) -> Any:
        headers = {"Accept": "text/html"}
        body = client.request("GET", f"{COMMENTS}{query}", headers=headers).body.decode()
        found = LexborHTMLParser(body).css_first(f"#plaza-{deepest} header")
        assert found is not None
        return found

    assert "in reply to Ben" in header("").text()
    alone = header(f"?limit=1&around={deepest}")
    assert "in reply to Ben" in alone.text()
    links = [each.attributes["href"] for each in alone.css("a")]
    assert links[-1] == f"?around={reply}#plaza-{reply}"
    client.as_("ben").delete(f"{COMMENTS}/{reply}")
    gone = header("")
    assert "in reply to another comment" in gone.text()
    assert len(gone.css("a")) == 1


def test_a_comment_of_an_earlier_release_has_none(runtime: Runtime) -> None:
    for store in STORES:
        discussion = Discussion.make(runtime, Layout(store, threaded=True), f"old-{store}")
        root = discussion.post("root")
        assert "reply_to" not in discussion.post("reply", root["id"])
        assert all(each["reply_to"] is None for each in discussion.page()["comments"])

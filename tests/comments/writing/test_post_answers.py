"""The answer to a new comment is made from what was written, and equals a later read of it."""

import dataclasses

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments.forms import NewComment
from chalicelib.comments.people import changing
from chalicelib.comments.writing import post
from chalicelib.comments.writing.post import post_comment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.support.commands import Commands
from tests.support.http_client import Client

NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
SETTINGS = "/sites/blog/comments/settings"
ANN = Principal("ann", "Ann")
REACTIONS = [{"key": "heart", "emoji": "\N{HEAVY BLACK HEART}"}]


@pytest.fixture
def admin(client: Client) -> Client:
    admin = client.as_("admin", roles=["admin"])
    page = {"title": "Moon", "url": "https://blog.example/moon", "max_depth": 1}
    assert admin.put(NODE, **page).status == 201
    return admin


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"votes": "up_down"},
        {"votes": "up", "votes_shown": "after_vote"},
        {"votes": "up_down", "reactions": REACTIONS},
        {"moderation": "before"},
        {"phrases": [{"phrase": "words", "action": "hold"}]},
        {"approve_first": 2, "votes": "up_down"},
    ],
)
@pytest.mark.parametrize("roles", [[], ["moderator"]])
@pytest.mark.parametrize("status", ["ok", "shadowed"])
def test_it_is_the_answer_of_a_read(
    admin: Client, runtime: Runtime, wanted: object, roles: list[str], status: str
) -> None:
    changing.store(runtime, "blog", "ann", {"status": status})
    assert admin.patch(SETTINGS, **wanted).status == 200  # type: ignore[arg-type]
    ann, parent = admin.as_("ann", name="Ann", roles=roles), None
    for _ in range(4):
        made = ann.post(COMMENTS, text="words *of* Ann", parent=parent)
        assert made.status == 201, made.body
        assert made.json == ann.get(f"{COMMENTS}/{made.json['id']}").json
        parent = made.json["id"]


def test_it_is_the_answer_of_a_read_to_the_reply_that_nobody_else_sees(
    admin: Client, runtime: Runtime
) -> None:
    root = admin.post(COMMENTS, text="root").json["id"]
    ann = admin.as_("ann", name="Ann")
    changing.store(runtime, "blog", "ann", {"status": "shadowed"})
    reply = ann.post(COMMENTS, text="unseen", parent=root).json
    deeper = ann.post(COMMENTS, text="unseen, too", parent=reply["id"]).json

    assert deeper["reply_to"] == {"id": reply["id"], "author": {"id": "ann", "name": "Ann"}}
    assert deeper == ann.get(f"{COMMENTS}/{deeper['id']}").json


def test_it_reads_nothing(
    admin: Client, runtime: Runtime, listened: Runtime, commands: Commands
) -> None:
    assert admin.patch(SETTINGS, votes="up_down").status == 200
    first = post_comment(runtime, "blog:moon", NewComment(text="first"), ANN).comment["id"]
    answer = NewComment(text="second", parent=first)
    second = post_comment(runtime, "blog:moon", answer, ANN).comment["id"]
    posted = post_comment(runtime, "blog:moon", NewComment(text="third", parent=second), ANN)
    post.answer_of(listened, posted)
    commands.names.clear()

    made = post.answer_of(listened, posted)

    assert commands.names == []
    assert made["reply_to"] is not None


def test_a_post_under_limits_takes_six_round_trips(
    admin: Client, listened: Runtime, commands: Commands
) -> None:
    """The author, their address, the number, the entry, the comment, and the count."""
    assert admin.patch(SETTINGS, votes="up_down").status == 200
    settings = listened.settings.model_copy(update={"limits": 1.0})
    limited = dataclasses.replace(listened, settings=settings)
    ann = dataclasses.replace(admin, app=create_app(limited, LocalChalice)).as_("ann", name="Ann")
    for text in ("first", "second"):
        commands.names.clear()
        assert ann.post(COMMENTS, text=text).status == 201

    assert len(commands.names) == 6

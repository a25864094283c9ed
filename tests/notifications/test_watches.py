"""A reader hears of each comment that they watch for, and of no muted discussion."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments import notifications, watches
from chalicelib.comments.nodes import NODES
from chalicelib.comments.watches import WATCHES
from chalicelib.notifications.events import Notify
from chalicelib.notifications.rows import ITEMS
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

NODE = "harbour:moon"
COMMENTS = f"/nodes/{NODE}/comments"
Tell = Callable[..., str]


@pytest.fixture(autouse=True)
def site(client: Client, clock: Clock) -> None:
    """A site that tells of comments, with a discussion."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/sites/harbour/comments/settings", notifications=True).status == 200
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/moon").status == 201
    clock.advance(seconds=6)


@pytest.fixture
def tell(client: Client, workers: Workers, clock: Clock) -> Tell:
    """Post a comment, and let the worker tell; returns the comment's id."""

    def told(text: str, by: str = "ann", **body: Any) -> str:
        clock.advance(seconds=1)
        reply = client.as_(by, name=by.title()).post(COMMENTS, text=text, **body)
        assert reply.status == 201, reply.body
        workers.drain()
        return str(reply.json["id"])

    return told


def watch(client: Client, who: str, level: str = "watching", at: str = f"/nodes/{NODE}") -> Reply:
    return client.as_(who).put(f"{at}/watch", level=level)


def told_to(client: Client, who: str) -> list[tuple[str, str, int]]:
    found = client.as_(who).get("/notifications").json["notifications"]
    return [(each["kind"], each["excerpt"], each["count"]) for each in found]


def test_who_watches_a_discussion_hears_of_each_comment_in_one_group_a_day(
    client: Client, tell: Tell, clock: Clock
) -> None:
    tell("Before.")
    assert watch(client, "zoe").json["level"] == "watching"
    first = tell("The moon is up.")
    tell("It is.", by="ben", parent=first)

    assert told_to(client, "zoe") == [("comment.watched", "It is.", 2)]
    assert told_to(client, "ben") == []
    (shown,) = client.as_("zoe").get("/notifications").json["notifications"]
    assert [each["name"] for each in shown["actors"]] == ["Ben", "Ann"]
    assert shown["page"]["title"] == "Moon"

    clock.advance(days=1)
    tell("It was.", by="cleo")

    assert [each[2] for each in told_to(client, "zoe")] == [1, 2]


def test_a_reply_and_a_mention_are_told_once_to_who_watches(client: Client, tell: Tell) -> None:
    mine = tell("The moon is up.", by="zoe")
    watch(client, "zoe")
    tell("It is.", by="ben", parent=mine)
    tell("Is it, @Zoe?", by="cleo", mentions=["zoe"])

    assert [each[0] for each in told_to(client, "zoe")] == ["comment.mention", "comment.reply"]


def test_nobody_hears_of_their_own_comments(client: Client, tell: Tell) -> None:
    watch(client, "ann")
    tell("The moon is up.")

    assert told_to(client, "ann") == []


def test_who_watches_a_thread_hears_of_it_alone(client: Client, tell: Tell) -> None:
    first, other = tell("The moon is up."), tell("So is the sun.")
    reply = tell("It is.", by="ben", parent=first)
    # By any comment of the thread.
    assert watch(client, "zoe", at=f"{COMMENTS}/{reply}").status == 200
    tell("High up.", by="cleo", parent=reply)
    tell("Not here.", by="cleo", parent=other)

    assert told_to(client, "zoe") == [("comment.watched", "High up.", 1)]
    (own,) = client.as_("zoe").get("/watches").json["watches"]
    assert own["thread"] == first
    assert own["permalink"] == f"https://a.example/moon#plaza-{first}"


def test_a_muted_thread_tells_of_mentions_alone(client: Client, tell: Tell) -> None:
    mine = tell("The moon is up.", by="zoe")
    watch(client, "zoe")
    watch(client, "zoe", "muted", at=f"{COMMENTS}/{mine}")
    tell("It is.", by="ben", parent=mine)
    tell("Not that I see it.", by="cleo", parent=mine)
    tell("@Zoe, is it?", by="cleo", parent=mine, mentions=["zoe"])
    tell("The sun is up.", by="cleo")

    assert [each[:2] for each in told_to(client, "zoe")] == [
        ("comment.watched", "The sun is up."),
        ("comment.mention", "@Zoe, is it?"),
    ]


def test_a_watched_thread_of_a_muted_discussion_tells(client: Client, tell: Tell) -> None:
    first = tell("The moon is up.")
    watch(client, "zoe", "muted")
    watch(client, "zoe", at=f"{COMMENTS}/{first}")
    tell("It is.", by="ben", parent=first)
    tell("The sun is up.", by="ben")

    assert told_to(client, "zoe") == [("comment.watched", "It is.", 1)]


def test_without_the_watch_nothing_more_comes(client: Client, tell: Tell) -> None:
    watch(client, "zoe")
    tell("The moon is up.")
    for _ in range(2):
        assert client.as_("zoe").delete(f"/nodes/{NODE}/watch").status == 204
    tell("It is.", by="ben")

    assert told_to(client, "zoe") == [("comment.watched", "The moon is up.", 1)]
    assert client.as_("zoe").get(f"/nodes/{NODE}/watch").json["level"] is None


@pytest.mark.parametrize(("owner", "blocked"), [("zoe", "ann"), ("ann", "zoe")])
def test_of_people_who_are_apart_neither_is_told(
    client: Client, tell: Tell, clock: Clock, owner: str, blocked: str
) -> None:
    watch(client, "zoe")
    assert client.as_(owner).put(f"/sites/harbour/blocked/{blocked}").status == 204
    clock.advance(seconds=6)
    tell("The moon is up.")

    assert told_to(client, "zoe") == []


def test_a_held_comment_is_told_once_it_is_shown_and_goes_with_it(
    client: Client, tell: Tell, workers: Workers, runtime: Runtime
) -> None:
    watch(client, "zoe")
    admin = client.as_("admin", roles=["admin"])
    assert (
        admin.put(
            f"/nodes/{NODE}", title="Moon", url="https://a.example/moon", moderation="before"
        ).status
        == 200
    )
    held = tell("The moon is up.")
    assert told_to(client, "zoe") == []

    for state, number in (("visible", 1), ("hidden", 0), ("visible", 1)):
        moderated = admin.post(f"{COMMENTS}/{held}/state", state=state)
        assert moderated.status == 200, moderated.body
        workers.drain()

        # Before a list is read, which leaves out what its reader does not see.
        of_zoe = {"user_id": "zoe", "wanted": True}
        assert ITEMS.of(runtime.database).count_documents(of_zoe) == number
        assert len(told_to(client, "zoe")) == number


def test_of_a_shadowed_author_nobody_hears(client: Client, tell: Tell) -> None:
    watch(client, "zoe")
    tell("The moon is up.")
    admin = client.as_("admin", roles=["admin"])
    assert admin.patch("/sites/harbour/people/ann", status="shadowed").status == 200
    tell("Look at it.")

    assert told_to(client, "zoe") == [("comment.watched", "The moon is up.", 1)]


def test_an_edit_is_no_news_to_who_watches_since(
    client: Client, tell: Tell, workers: Workers, clock: Clock
) -> None:
    old = tell("The moon is up.")
    clock.advance(seconds=1)
    watch(client, "zoe")
    assert client.as_("ann").patch(f"{COMMENTS}/{old}", text="The moon is down.").status == 200
    workers.drain()

    assert told_to(client, "zoe") == []


def test_a_message_that_comes_twice_tells_once(
    client: Client, tell: Tell, runtime: Runtime
) -> None:
    watch(client, "zoe")
    posted = tell("The moon is up.")
    message = Notify(comment=f"{NODE}/{posted}")
    for _ in range(2):
        notifications.run(runtime, message)

    assert ITEMS.of(runtime.database).count_documents({"user_id": "zoe"}) == 1


@pytest.mark.parametrize("number", [0, 1, 2, 3, 5])
def test_all_who_watch_are_told_whatever_their_number(
    client: Client, tell: Tell, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(notifications, "_PEOPLE_AT_ONCE", 2)
    first = tell("The moon is up.")
    people = [f"zoe{each}" for each in range(number)]
    for each in people:
        watch(client, each)
        watch(client, each, at=f"{COMMENTS}/{first}")
    tell("It is.", by="ben", parent=first)

    assert [len(told_to(client, each)) for each in people] == [1] * number


def test_a_watch_moves_with_its_discussion(client: Client, tell: Tell, clock: Clock) -> None:
    first = tell("The moon is up.")
    watch(client, "zoe")
    watch(client, "kim", at=f"{COMMENTS}/{first}")
    admin = client.as_("admin", roles=["admin"])
    assert admin.post(f"/nodes/{NODE}/move", to="harbour:sun").status == 200
    clock.advance(seconds=6)
    reply = client.as_("ben", name="Ben").post(
        "/nodes/harbour:sun/comments", text="Up.", parent=first
    )
    assert reply.status == 201, reply.body

    (own,) = client.as_("kim").get("/watches").json["watches"]
    assert (own["node"], own["thread"]) == ("harbour:sun", first)
    assert client.as_("zoe").get("/nodes/harbour:sun/watch").json["level"] == "watching"


def test_a_carry_that_crashed_goes_on(client: Client, tell: Tell, runtime: Runtime) -> None:
    tell("The moon is up.")
    watch(client, "zoe")
    (row,) = WATCHES.of(runtime.database).find()
    admin = client.as_("admin", roles=["admin"])
    assert admin.post(f"/nodes/{NODE}/move", to="harbour:sun").status == 200
    watch(client, "zoe", "muted", at="/nodes/harbour:sun")
    WATCHES.of(runtime.database).insert_one(row)
    node: Any = {"_id": NODE, "site": "harbour"}

    for _ in range(2):
        watches.carry(runtime, node, "harbour:sun")

    (kept,) = WATCHES.of(runtime.database).find()
    assert (kept["_id"], kept["level"]) == ("harbour:sun//zoe", "muted")


def test_an_account_takes_the_watches_of_its_past_and_keeps_its_own(
    client: Client, tell: Tell, runtime: Runtime
) -> None:
    first = tell("The moon is up.")
    watch(client, "guest")
    watch(client, "guest", at=f"{COMMENTS}/{first}")
    watch(client, "zoe", "muted")

    for _ in range(2):
        watches.give(runtime.database, "harbour", "guest", "zoe")

    rows = {row["_id"]: row["level"] for row in WATCHES.of(runtime.database).find()}
    assert rows == {f"{NODE}//zoe": "muted", f"{NODE}/{first}/zoe": "watching"}


def test_a_watch_goes_with_its_discussion(client: Client, tell: Tell, runtime: Runtime) -> None:
    tell("The moon is up.")
    watch(client, "zoe")
    assert client.as_("admin", roles=["admin"]).delete(f"/nodes/{NODE}").status == 204

    assert WATCHES.of(runtime.database).count_documents({}) == 0
    assert client.as_("zoe").get("/watches").json == {"watches": [], "next": None}


def test_a_page_of_watches_leads_to_the_next(client: Client, tell: Tell, clock: Clock) -> None:
    comments = [tell(f"{number}.") for number in range(3)]
    for each in comments:
        clock.advance(seconds=1)
        watch(client, "zoe", at=f"{COMMENTS}/{each}")
    zoe = client.as_("zoe")

    first = zoe.get("/watches?limit=2").json
    rest = zoe.get(f"/watches?limit=2&cursor={first['next']}").json

    assert [each["thread"] for each in first["watches"] + rest["watches"]] == comments[::-1]
    assert rest["next"] is None


def test_a_hidden_page_has_no_title_in_the_list(
    client: Client, clock: Clock, runtime: Runtime
) -> None:
    watch(client, "zoe")
    later = {"$set": {"public_from": clock() + timedelta(days=1)}}
    NODES.of(runtime.database).update_one({"_id": NODE}, later)

    (own,) = client.as_("zoe").get("/watches").json["watches"]

    assert (own["page"], own["permalink"]) == (None, "")
    # They can still end it.
    assert client.as_("zoe").delete(f"/nodes/{NODE}/watch").status == 204


def test_a_person_has_so_many_watches_and_no_more(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "MOST", 1)
    assert watch(client, "zoe").status == 200
    assert watch(client, "zoe", "muted").status == 200
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/nodes/harbour:sun", title="Sun", url="https://a.example/sun").status == 201

    refused = watch(client, "zoe", at="/nodes/harbour:sun")

    assert (refused.status, refused.code) == (409, "too_many_watches")
    assert watch(client, "kim", at="/nodes/harbour:sun").status == 200


def test_a_site_without_notifications_has_no_watches(client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/nodes/quay:moon", title="Moon", url="https://a.example/quay").status == 201

    refused = watch(client, "zoe", at="/nodes/quay:moon")

    told = client.as_("zoe").get("/nodes/quay:moon/watch").json
    assert told == {"level": None, "since": None, "available": False}
    assert (refused.status, refused.code) == (409, "not_enabled")


@pytest.mark.parametrize(
    ("at", "level", "code"),
    [
        ("/nodes/harbour:none", "watching", "unknown_node"),
        (f"{COMMENTS}/aaaaaaaaaa", "watching", "unknown_comment"),
        (f"/nodes/{NODE}", "normal", "invalid_request"),
    ],
)
def test_what_cannot_be_watched(client: Client, at: str, level: str, code: str) -> None:
    assert watch(client, "zoe", level, at=at).code == code


def test_a_flat_discussion_has_no_threads(client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert (
        admin.put(
            "/nodes/harbour:flat", title="Flat", url="https://a.example/flat", threaded=False
        ).status
        == 201
    )
    posted = client.as_("ann").post("/nodes/harbour:flat/comments", text="Up.").json["id"]

    refused = watch(client, "zoe", at=f"/nodes/harbour:flat/comments/{posted}")

    assert (refused.status, refused.code) == (422, "not_threaded")
    assert watch(client, "zoe", at="/nodes/harbour:flat").status == 200
    client.as_("zoe").delete(f"/nodes/harbour:flat/comments/{posted}/watch")
    assert len(client.as_("zoe").get("/watches").json["watches"]) == 1


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("GET", "/watch"),
        ("PUT", "/watch"),
        ("PUT", "/comments/aaaaaaaaaa/watch"),
        ("DELETE", "/watch"),
        ("DELETE", "/comments/aaaaaaaaaa/watch"),
    ],
)
def test_a_watch_of_a_moved_or_unknown_discussion_leads_on_or_is_none(
    client: Client, method: str, rest: str
) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.post(f"/nodes/{NODE}/move", to="harbour:sun").status == 200

    def call(node: str) -> Reply:
        headers = {"Content-Type": "application/json"}
        body = b'{"level": "muted"}' if method == "PUT" else b""
        return client.as_("zoe").request(method, f"/nodes/{node}{rest}", body=body, headers=headers)

    assert call(NODE).code == "node_moved"
    assert call("harbour:none").code == "unknown_node"


def test_a_thread_has_the_bounds_of_a_discussion(
    client: Client, tell: Tell, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "MOST", 1)
    first = tell("The moon is up.")
    watch(client, "zoe")
    assert watch(client, "zoe", at=f"{COMMENTS}/{first}").code == "too_many_watches"

    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/sites/harbour/comments/settings", notifications=False).status == 200
    clock.advance(seconds=6)

    assert watch(client, "kim", at=f"{COMMENTS}/{first}").code == "not_enabled"


def test_a_thread_is_left_by_any_of_its_comments(client: Client, tell: Tell) -> None:
    first = tell("The moon is up.")
    reply = tell("It is.", by="ben", parent=first)
    at = f"{COMMENTS}/{reply}"
    assert watch(client, "zoe", at=at).status == 200

    assert client.as_("zoe").delete(f"{at}/watch").status == 204

    assert client.as_("zoe").get("/watches").json["watches"] == []


def test_no_answer_tells_a_discussion_that_nobody_sees_yet_from_none(
    client: Client, tell: Tell, runtime: Runtime, clock: Clock
) -> None:
    comment = tell("The moon is up.")
    assert watch(client, "zoe").status == 200
    hidden = {"$set": {"public_from": runtime.now() + timedelta(days=9)}}
    NODES.of(runtime.database).update_one({"_id": NODE}, hidden)
    clock.advance(seconds=6)
    eve = client.as_("eve")

    for path in (
        "watch",
        f"comments/{comment}/watch",
        f"comments/{comment}",
        "comments/0000000000",
    ):
        answers = [eve.delete(f"/nodes/{node}/{path}") for node in (NODE, "harbour:none")]
        assert [each.code for each in answers] == ["unknown_node"] * 2

    # What is one's own, one may still take back.
    assert client.as_("zoe").delete(f"/nodes/{NODE}/watch").status == 204
    assert client.as_("ann").delete(f"{COMMENTS}/{comment}").status == 204

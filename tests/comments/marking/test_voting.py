"""Votes on comments, and reactions to comments and pages: what is allowed, told and counted."""

from typing import Any

import pytest

from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.marks.shapes import MARKS
from chalicelib.runtime import Runtime
from chalicelib.wiring import marks as wiring_marks
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

NODE = "/nodes/blog:moon"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
KEYS = ("heart", "fire", "1", "a", "b", "c")
REACTIONS = [{"key": key, "emoji": "+"} for key in KEYS]
SETTINGS: dict[str, Any] = {"votes": "up_down", "reactions": REACTIONS}


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher", "moderator"], sites=["blog"])


def decide(publisher: Client, clock: Clock, **settings: Any) -> None:
    """Set the site's settings, and let containers forget the last ones."""
    given = {**SETTINGS, **settings}
    assert publisher.put("/sites/blog/comments/settings", **given).status == 200
    clock.advance(seconds=6)


@pytest.fixture
def comment(client: Client, publisher: Client, clock: Clock) -> str:
    """The path of a comment of Ann's."""
    assert publisher.put(NODE, **PAGE).status == 201
    decide(publisher, clock)
    return posted(client, "ann")


def posted(client: Client, author: str, **given: Any) -> str:
    made = client.as_(author).post(f"{NODE}/comments", text="Full tonight", **given)
    assert made.status == 201, made.body
    return f"{NODE}/comments/{made.json['id']}"


def vote(client: Client, who: str, comment: str, value: Any = 1) -> Reply:
    return client.as_(who).put(f"{comment}/vote", value=value)


def marks(client: Client, who: str | None, *comments: str) -> Any:
    ids = ",".join(each.rpartition("/")[2] for each in comments)
    reader = client.as_(who) if who else client
    reply = reader.get(f"{NODE}/marks?ids={ids}")
    assert reply.status == 200, reply.body
    return reply.json


def assert_exact(runtime: Runtime) -> None:
    found = wiring_marks.verify(runtime, "comment")
    assert (found["wrong"], found["owed"]) == (0, 0)


def test_a_vote_is_set_changed_and_withdrawn(
    client: Client, comment: str, runtime: Runtime
) -> None:
    for value, up, down in ((1, 1, 0), (1, 1, 0), (-1, 0, 1), (0, 0, 0), (0, 0, 0)):
        answer = vote(client, "bob", comment, value)
        assert answer.json == {
            "votes": {"up": up, "down": down},
            "reactions": {},
            "mine": {"vote": value, "reactions": []},
        }
        assert marks(client, "bob", comment)["comments"][comment.rpartition("/")[2]] == answer.json
    assert_exact(runtime)


def test_a_vote_gives_its_comment_the_keys_of_its_rank(
    client: Client, comment: str, runtime: Runtime
) -> None:
    for who in ("bob", "cy", "dan"):
        vote(client, who, comment)
    vote(client, "dan", comment, -1)
    (entry,) = ENTRIES.of(runtime.database).find({"author_id": "ann"})
    assert (entry["up"], entry["down"], entry["top"]) == (2, 1, 1)
    assert entry["best"] > 0
    assert entry["contro"] > 0


def test_reactions_stand_beside_each_other(client: Client, comment: str, runtime: Runtime) -> None:
    bob = client.as_("bob")
    for key in ("heart", "1", "heart"):
        assert bob.put(f"{comment}/reactions/{key}").status == 200
    answer = client.as_("cy").put(f"{comment}/reactions/heart").json
    assert answer["reactions"] == {"heart": 2, "1": 1}
    assert answer["mine"] == {"vote": 0, "reactions": ["heart"]}
    for _ in range(2):
        assert bob.delete(f"{comment}/reactions/heart").json["mine"]["reactions"] == ["1"]
    assert marks(client, None, comment)["comments"][comment.rpartition("/")[2]] == {
        "votes": {"up": 0, "down": 0},
        "reactions": {"heart": 1, "1": 1},
        "mine": None,
    }
    assert_exact(runtime)


def test_a_page_has_reactions_of_its_own(client: Client, comment: str, runtime: Runtime) -> None:
    nothing: dict[str, Any] = {"votes": None, "reactions": {}}
    assert marks(client, None, comment)["page"] == {**nothing, "mine": None}
    mine = {"vote": 0, "reactions": ["fire"]}
    expected = {"votes": None, "reactions": {"fire": 1}, "mine": mine}
    for _ in range(2):
        assert client.as_("bob").put(f"{NODE}/reactions/fire").json == expected
    assert marks(client, "bob", comment)["page"] == expected
    told = client.as_("bob").delete(f"{NODE}/reactions/fire").json
    assert told == {**nothing, "mine": {"vote": 0, "reactions": []}}
    assert_exact(runtime)


def test_what_cannot_be_voted_on_is_refused(
    client: Client, publisher: Client, comment: str, clock: Clock
) -> None:
    for value in (2, -2, "1", 0.5, None, True):
        assert vote(client, "bob", comment, value).status == 422
    assert vote(client, "ann", comment).code == "own_comment"
    assert vote(client, "bob", f"{NODE}/comments/gone").code == "unknown_comment"
    assert vote(client, "bob", "/nodes/blog:sun/comments/gone").code == "unknown_node"
    assert client.put(f"{comment}/vote", value=1).status == 401
    assert publisher.post(f"{comment}/state", state="hidden").status == 200
    assert vote(client, "bob", comment).code == "unknown_comment"
    assert client.as_("bob").put(f"{comment}/reactions/heart").code == "unknown_comment"
    assert client.as_("bob").delete(f"{comment}/reactions/heart").code == "unknown_comment"
    assert client.as_("bob").get(f"{comment}/reactions/heart").code == "unknown_comment"
    publisher.post(f"{comment}/state", state="visible")

    decide(publisher, clock, votes="up")
    assert vote(client, "bob", comment, -1).json["errors"][0]["code"] == "only_up"
    assert vote(client, "bob", comment).status == 200
    decide(publisher, clock, votes="off")
    assert vote(client, "bob", comment).code == "not_enabled"
    assert marks(client, "bob", comment)["comments"][comment.rpartition("/")[2]]["votes"] is None


def test_what_cannot_be_reacted_with_is_refused(
    client: Client, publisher: Client, comment: str, clock: Clock, runtime: Runtime
) -> None:
    bob = client.as_("bob")
    for path in (comment, NODE):
        assert bob.put(f"{path}/reactions/star").code == "unknown_reaction"
        for key in ("a.b", "%24set", "A", "x" * 21):
            assert bob.put(f"{path}/reactions/{key}").status in {404, 422}
        for key in KEYS[:5]:
            assert bob.put(f"{path}/reactions/{key}").status == 200
        assert bob.put(f"{path}/reactions/{KEYS[5]}").code == "too_many_reactions"
    decide(publisher, clock, reactions=[])
    for path in (comment, NODE):
        assert bob.put(f"{path}/reactions/heart").code == "not_enabled"
        assert bob.delete(f"{path}/reactions/heart").json["reactions"] == {}
    assert_exact(runtime)


def test_a_locked_discussion_takes_no_marks(
    client: Client, publisher: Client, comment: str
) -> None:
    assert publisher.put(NODE, **PAGE, locked=True).status == 200
    bob = client.as_("bob")
    assert vote(client, "bob", comment).code == "node_locked"
    for path in (comment, NODE):
        assert bob.put(f"{path}/reactions/heart").code == "node_locked"
        assert bob.delete(f"{path}/reactions/heart").code == "node_locked"


def test_a_reaction_that_is_no_longer_offered_stays_counted_and_is_not_told(
    client: Client, publisher: Client, comment: str, clock: Clock, runtime: Runtime
) -> None:
    client.as_("bob").put(f"{comment}/reactions/fire")
    decide(publisher, clock, reactions=REACTIONS[:1])
    shown = marks(client, "bob", comment)["comments"][comment.rpartition("/")[2]]
    assert (shown["reactions"], shown["mine"]["reactions"]) == ({}, [])
    decide(publisher, clock)
    shown = marks(client, "bob", comment)["comments"][comment.rpartition("/")[2]]
    assert shown["reactions"] == {"fire": 1}
    assert_exact(runtime)


def test_counts_are_told_when_the_site_says(
    client: Client, publisher: Client, comment: str, clock: Clock
) -> None:
    def told(who: str | None) -> Any:
        return marks(client, who, comment)["comments"][comment.rpartition("/")[2]]["votes"]

    vote(client, "bob", comment)
    decide(publisher, clock, votes_shown="after_vote")
    staff = publisher.get(f"{NODE}/marks?ids={comment.rpartition('/')[2]}").json["comments"]
    assert [told("bob"), told("cy"), told(None), told("ann")] == [
        {"up": 1, "down": 0},
        None,
        None,
        {"up": 1, "down": 0},
    ]
    assert next(iter(staff.values()))["votes"] == {"up": 1, "down": 0}
    decide(publisher, clock, votes_shown="after_minutes", votes_shown_after_minutes=2)
    assert told("bob") is None
    clock.advance(minutes=2)
    assert told(None) == {"up": 1, "down": 0}


def test_who_reacted_is_read_page_by_page(client: Client, comment: str) -> None:
    for who in ("cy", "bob", "dan"):
        client.as_(who).put(f"{comment}/reactions/heart")
    client.as_("eve").put(f"{comment}/reactions/fire")
    reader, path = client.as_("ann"), f"{comment}/reactions/heart?limit=2"
    first = reader.get(path).json
    assert first["people"] == [{"id": "bob", "name": None}, {"id": "cy", "name": None}]
    second = reader.get(f"{path}&cursor={first['next']}").json
    assert second == {"people": [{"id": "dan", "name": None}], "next": None}
    assert client.get(path).status == 401
    other = f"{comment}/reactions/fire?cursor={first['next']}"
    assert reader.get(other).code == "invalid_cursor"
    assert reader.get(f"{comment}/reactions/heart?limit=51").status == 422


def test_who_reacted_has_a_name_and_is_nobody_whom_the_reader_blocks(
    client: Client, comment: str
) -> None:
    posted(client, "bob")
    for who in ("cy", "bob", "dan"):
        client.as_(who).put(f"{comment}/reactions/heart")
    ann = client.as_("ann")
    assert ann.put("/sites/blog/blocked/cy").status == 204

    told = ann.get(f"{comment}/reactions/heart").json["people"]

    assert [each["id"] for each in told] == ["bob", "dan"]
    assert [each["name"] is not None for each in told] == [True, False]


def test_marks_of_many_comments_are_read_at_once(client: Client, comment: str) -> None:
    other = posted(client, "bob")
    hidden = f"{NODE}/comments/gone"
    vote(client, "bob", comment)
    found = marks(client, "bob", comment, other, hidden)["comments"]
    assert {key: value["mine"]["vote"] for key, value in found.items()} == {
        comment.rpartition("/")[2]: 1,
        other.rpartition("/")[2]: 0,
    }
    wrong = f"caf%C3%A9,,$ne,{'x' * 33},{comment.rpartition('/')[2]}"
    assert len(client.get(f"{NODE}/marks?ids={wrong}").json["comments"]) == 1
    many = ",".join(["x"] * 201)
    assert client.get(f"{NODE}/marks?ids={many}").status == 422
    assert client.get(f"{NODE}/marks").status == 422
    assert client.get("/nodes/blog:sun/marks?ids=x").code == "unknown_node"


@pytest.mark.bounds(marks={"hot_marks_a_minute": 2})
def test_a_hot_comment_is_counted_by_its_worker(
    client: Client, comment: str, workers: Workers, runtime: Runtime
) -> None:
    for who in ("bob", "cy", "dan", "eve"):
        assert vote(client, who, comment).json["mine"]["vote"] == 1
    mine = comment.rpartition("/")[2]
    assert marks(client, "eve", comment)["comments"][mine]["votes"] == {"up": 2, "down": 0}
    assert workers.drain() > 0
    assert marks(client, "eve", comment)["comments"][mine]["votes"] == {"up": 4, "down": 0}
    assert_exact(runtime)


def test_a_node_that_moves_takes_its_marks_along(
    client: Client, publisher: Client, comment: str, runtime: Runtime
) -> None:
    vote(client, "bob", comment)
    client.as_("bob").put(f"{comment}/reactions/heart")
    client.as_("cy").put(f"{NODE}/reactions/fire")
    admin = client.as_("root", roles=["admin"])
    assert admin.post(f"{NODE}/move", to="blog:sun").status == 200

    moved = comment.replace("moon", "sun")
    assert vote(client, "cy", moved, -1).json["votes"] == {"up": 1, "down": 1}
    answer = client.as_("bob").get(f"/nodes/blog:sun/marks?ids={moved.rpartition('/')[2]}").json
    assert answer["page"]["reactions"] == {"fire": 1}
    assert next(iter(answer["comments"].values()))["mine"] == {"vote": 1, "reactions": ["heart"]}
    assert_exact(runtime)
    del publisher


def test_a_node_that_is_deleted_leaves_no_mark(
    client: Client, publisher: Client, comment: str, runtime: Runtime
) -> None:
    vote(client, "bob", comment)
    client.as_("bob").put(f"{NODE}/reactions/heart")
    assert publisher.delete(NODE).status == 204
    assert MARKS.of(runtime.database).count_documents({}) == 0


def test_a_move_between_stores_during_votes_changes_no_count(
    client: Client, publisher: Client, comment: str, runtime: Runtime
) -> None:
    vote(client, "bob", comment)
    for store in ("embedded", "documents"):
        assert publisher.post(f"{NODE}/store", store=store).status == 200
        assert vote(client, "cy", comment).json["votes"] == {"up": 2, "down": 0}
    assert_exact(runtime)


def test_who_is_erased_takes_their_marks_on_comments(
    client: Client, comment: str, workers: Workers, runtime: Runtime
) -> None:
    for who in ("bob", "cy"):
        vote(client, who, comment)
    client.as_("bob").put(f"{NODE}/reactions/heart")
    client.as_("bob").delete("/users/me")
    workers.drain()
    told = marks(client, None, comment)
    assert told["comments"][comment.rpartition("/")[2]]["votes"] == {"up": 1, "down": 0}
    assert told["page"]["reactions"] == {}
    assert_exact(runtime)


@pytest.mark.parametrize("status", ["suspended", "banned"])
def test_who_may_write_nothing_marks_nothing_and_may_take_back_what_they_marked(
    client: Client, publisher: Client, comment: str, runtime: Runtime, status: str
) -> None:
    bob = client.as_("bob")
    vote(client, "bob", comment)
    for thing in (comment, NODE):
        assert bob.put(f"{thing}/reactions/heart").status == 200
    assert publisher.patch("/sites/blog/people/bob", status=status).status == 200

    for reply in (
        vote(client, "bob", comment, -1),
        bob.put(f"{comment}/reactions/fire"),
        bob.put(f"{NODE}/reactions/fire"),
    ):
        assert (reply.status, reply.code) == (403, status)
    assert vote(client, "bob", comment, 0).json["votes"] == {"up": 0, "down": 0}
    for thing in (comment, NODE):
        assert bob.delete(f"{thing}/reactions/heart").json["reactions"] == {}
    assert_exact(runtime)


def test_staff_of_a_site_marks_whatever_their_standing(
    publisher: Client, client: Client, comment: str
) -> None:
    admin = client.as_("adam", roles=["admin"])
    assert admin.patch("/sites/blog/people/paula", status="banned").status == 200

    assert publisher.put(f"{comment}/vote", value=1).json["votes"] == {"up": 1, "down": 0}


def test_a_comment_of_an_earlier_release_gets_its_entry_with_its_first_vote(
    client: Client, comment: str, runtime: Runtime
) -> None:
    ENTRIES.of(runtime.database).delete_many({"site": "blog"})
    assert vote(client, "bob", comment).json["votes"] == {"up": 1, "down": 0}
    assert vote(client, "ann", comment).code == "own_comment"
    assert_exact(runtime)


@pytest.mark.parametrize("page", ["unknown", "moved"])
def test_marks_are_of_pages_that_are_there(client: Client, comment: str, page: str) -> None:
    here = NODE
    if page == "moved":
        admin = client.as_("adam", roles=["admin"])
        assert admin.post(f"{NODE}/move", to="blog:sun").status == 200
    else:
        here = "/nodes/blog:none"
    there = comment.replace(NODE, here)
    bob = client.as_("bob")
    told = {"moved": (308, "node_moved"), "unknown": (404, "unknown_node")}[page]

    for reply in (
        bob.get(f"{here}/marks?ids={comment.rpartition('/')[2]}"),
        bob.put(f"{there}/vote", value=1),
        bob.put(f"{there}/reactions/heart"),
        bob.delete(f"{there}/reactions/heart"),
        bob.get(f"{there}/reactions/heart"),
        bob.put(f"{here}/reactions/heart"),
        bob.delete(f"{here}/reactions/heart"),
    ):
        assert (reply.status, reply.code) == told

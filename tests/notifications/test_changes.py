"""A page asks once for all that it shows whether anything is new, and learns nothing else."""

from datetime import timedelta
from typing import Any

import pytest

from app import create_app
from chalicelib.comments import nodes
from chalicelib.runtime import Runtime
from tests.social.support.drivers import circle, follow, publish
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client
from tests.support.workers import Workers

NODE = "harbour:moon"
PAGE = "https://a.example/moon"
TOPIC = f"node:{NODE}"
COMMENTS = f"/nodes/{NODE}/comments"


@pytest.fixture(autouse=True)
def site(client: Client, clock: Clock) -> None:
    """A site that tells of comments, with a discussion."""
    admin = admin_of(client)
    assert admin.put("/sites/harbour/comments/settings", notifications=True).status == 200
    assert admin.put(f"/nodes/{NODE}", title="Moon", url=PAGE).status == 201
    clock.advance(seconds=6)


def admin_of(client: Client) -> Client:
    return client.as_("admin", roles=["admin"])


def changes(client: Client, topics: str) -> Any:
    reply = client.get(f"/changes?topics={topics}")
    assert reply.status == 200, reply.body
    return reply.json


def version(client: Client, topic: str) -> str | None:
    found: str | None = changes(client, topic)["versions"][topic]
    return found


def posted(client: Client, text: str = "The moon is up.", by: str = "ann", **body: Any) -> str:
    reply = client.as_(by, name=by.title()).post(COMMENTS, text=text, **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def test_each_change_of_a_discussion_changes_its_version(client: Client) -> None:
    seen = [version(client, TOPIC)]
    comment = posted(client)
    seen.append(version(client, TOPIC))
    assert client.as_("ann").patch(f"{COMMENTS}/{comment}", text="It is down.").status == 200
    seen.append(version(client, TOPIC))
    assert admin_of(client).put(f"{COMMENTS}/{comment}/pin").status < 300
    seen.append(version(client, TOPIC))
    assert admin_of(client).put(f"/nodes/{NODE}", title="Moon", url=PAGE, locked=True).status == 200
    seen.append(version(client, TOPIC))
    assert client.as_("ann").delete(f"{COMMENTS}/{comment}").status == 204
    seen.append(version(client, TOPIC))

    assert len(set(seen)) == len(seen)
    assert None not in seen
    assert version(client, TOPIC) == seen[-1]


def test_what_does_not_change_a_page_changes_no_version(client: Client) -> None:
    comment = posted(client)
    before = version(client, TOPIC)
    assert client.as_("bob").put(f"{COMMENTS}/{comment}/flag", reason="spam").status < 300
    assert version(client, TOPIC) == before


def test_a_former_id_has_the_version_of_the_node_where_it_is_now(client: Client) -> None:
    posted(client)
    moved = admin_of(client).post(f"/nodes/{NODE}/move", to="harbour:sun")
    assert moved.status < 300, moved.body
    found = changes(client, f"{TOPIC},node:harbour:sun")["versions"]
    assert found[TOPIC] is not None
    before = found[TOPIC]
    assert (
        client.as_("ben", name="Ben").post("/nodes/harbour:sun/comments", text="Up.").status == 201
    )
    assert version(client, TOPIC) != before


def test_unknown_deleted_and_concealed_discussions_have_the_same_answer(
    client: Client, clock: Clock, runtime: Runtime
) -> None:
    admin = admin_of(client)
    for name in ("gone", "later"):
        assert admin.put(f"/nodes/harbour:{name}", title=name, url=PAGE).status == 201
    assert admin.delete("/nodes/harbour:gone").status < 300
    opens = {"$set": {"public_from": clock() + timedelta(hours=1)}}
    nodes.NODES.of(runtime.database).update_one({"_id": "harbour:later"}, opens)

    topics = [f"node:harbour:{name}" for name in ("gone", "later", "never")]
    assert changes(client, ",".join(topics))["versions"] == dict.fromkeys(topics)
    assert version(admin, "node:harbour:later") is not None


def test_a_shadowed_person_s_comment_is_no_news_to_others(client: Client) -> None:
    troll = "/sites/harbour/people/troll"
    assert admin_of(client).patch(troll, status="shadowed").status == 200
    before = version(client, TOPIC)
    posted(client, "Buy my moon.", by="troll")
    assert version(client, TOPIC) == before


def test_an_inbox_tells_its_numbers_and_a_version(client: Client, workers: Workers) -> None:
    ann = client.as_("ann")
    assert changes(ann, "inbox")["inbox"] == {"unread": 0, "unseen": 0}
    empty = version(ann, "inbox")
    first = posted(client)
    posted(client, "It is.", by="ben", parent=first)
    workers.drain()

    told = changes(ann, "inbox")
    assert told["inbox"] == {"unread": 1, "unseen": 1}
    until = ann.get("/notifications").json["at"]
    assert ann.put("/notifications/seen", until=until).status == 204
    seen = changes(ann, "inbox")
    assert seen["inbox"] == {"unread": 1, "unseen": 0}
    assert ann.put("/notifications/read", until=until).status == 204
    read = changes(ann, "inbox")
    assert read["inbox"] == {"unread": 0, "unseen": 0}
    versions = [each["versions"]["inbox"] for each in (told, seen, read)]
    assert len({empty, *versions}) == 4


def test_a_second_item_between_two_looks_changes_the_version_of_equal_numbers(
    client: Client, workers: Workers, clock: Clock
) -> None:
    ann, first = client.as_("ann"), posted(client)
    reply = posted(client, "It is.", by="ben", parent=first)
    workers.drain()
    before = changes(ann, "inbox")
    clock.advance(seconds=1)
    assert admin_of(client).delete(f"{COMMENTS}/{reply}").status == 204
    posted(client, "It was.", by="cleo", parent=first)
    workers.drain()

    after = changes(ann, "inbox")
    assert after["inbox"] == before["inbox"] == {"unread": 1, "unseen": 1}
    assert after["versions"] != before["versions"]


def test_news_have_a_new_version_with_each_post_that_their_reader_may_see(
    client: Client, workers: Workers
) -> None:
    follow(client, "bob", "ann")
    workers.drain()
    bob = client.as_("bob")
    before = version(bob, "news")
    circle(client, "ann", "club", "cy")
    publish(client, "ann", ["club"])
    workers.drain()
    assert version(bob, "news") == before
    publish(client, "ann")
    workers.drain()
    assert version(bob, "news") != before


def test_a_post_that_its_reader_may_no_longer_see_is_no_news(
    client: Client, workers: Workers
) -> None:
    follow(client, "bob", "ann")
    circle(client, "ann", "club", "bob")
    bob = client.as_("bob")
    before = version(bob, "news")
    publish(client, "ann", ["club"])
    workers.drain()
    assert version(bob, "news") != before

    assert client.as_("ann").delete("/users/me/circles/club/members/bob").status == 204
    assert version(bob, "news") == before


def test_news_of_a_person_who_is_blocked_are_no_news(client: Client, workers: Workers) -> None:
    follow(client, "bob", "ann")
    workers.drain()
    before = version(client.as_("bob"), "news")
    publish(client, "ann")
    assert client.as_("bob").put("/users/me/blocked/ann").status == 204
    workers.drain()
    assert version(client.as_("bob"), "news") == before


def test_a_guest_has_no_inbox_and_no_news(client: Client) -> None:
    found = changes(client, f"inbox,news,{TOPIC}")
    assert found["versions"]["inbox"] is None
    assert found["versions"]["news"] is None
    assert found["versions"][TOPIC] is not None
    assert found["inbox"] is None


def test_who_holds_the_answer_gets_a_304(client: Client) -> None:
    topics = f"inbox,{TOPIC}"
    ann = client.as_("ann")
    tag = ann.get(f"/changes?topics={topics}").headers["ETag"]
    holding = Client(ann.app, ann.token, {**ann.headers, "If-None-Match": tag})
    again = holding.get(f"/changes?topics={topics}")
    assert (again.status, again.body) == (304, b"")
    posted(client)
    assert holding.get(f"/changes?topics={topics}").status == 200


def test_an_answer_for_all_may_be_shared_for_two_seconds_and_a_reader_s_own_never(
    client: Client,
) -> None:
    path = f"/changes?topics={TOPIC}"
    assert client.get(path).headers["Cache-Control"] == "public, max-age=2"
    assert client.as_("ann").get(path).headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize(
    "topics",
    ["", "votes", "inbox,", "node:", "node:a b", "inbox:ann", "node:" + 257 * "x", "INBOX"],
)
def test_a_topic_that_is_not_known_is_refused(client: Client, topics: str) -> None:
    reply = client.get(f"/changes?topics={topics}")
    assert (reply.status, reply.json["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(("count", "status"), [(1, 200), (20, 200), (21, 422)])
def test_a_page_has_at_most_twenty_topics(client: Client, count: int, status: int) -> None:
    topics = ",".join(f"node:harbour:n{each}" for each in range(count))
    assert client.get(f"/changes?topics={topics}").status == status


def test_a_page_of_twenty_discussions_is_one_round_trip(
    client: Client, listened: Runtime, commands: Commands
) -> None:
    posted(client)
    topics = [TOPIC, *(f"node:harbour:n{each}" for each in range(19))]
    heard = Client(create_app(listened), client.token)
    commands.names.clear()
    changes(heard, ",".join(topics))
    assert commands.names == ["find"]

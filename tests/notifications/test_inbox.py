"""A person is told once of each reply and each mention, by the API from end to end."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.notifications.rows import ITEMS
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

NODE = "harbour:moon"
COMMENTS = f"/nodes/{NODE}/comments"


@pytest.fixture(autouse=True)
def site(client: Client, clock: Clock) -> None:
    """A site that tells of comments, with a discussion."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/sites/harbour/comments/settings", notifications=True).status == 200
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/moon").status == 201
    clock.advance(seconds=6)


@pytest.fixture
def tell(client: Client, workers: Workers) -> Any:
    """Post a comment, and let the worker tell; returns the comment's id."""

    def told(text: str, by: str = "ann", **body: Any) -> str:
        reply = client.as_(by, name=by.title()).post(COMMENTS, text=text, **body)
        assert reply.status == 201, reply.body
        workers.drain()
        return str(reply.json["id"])

    return told


def inbox_of(client: Client, who: str, query: str = "") -> Any:
    reply = client.as_(who).get(f"/notifications{query}")
    assert reply.status == 200, reply.body
    return reply.json


def told_to(client: Client, who: str, query: str = "") -> list[tuple[str, str, str]]:
    found = inbox_of(client, who, query)["notifications"]
    return [(each["kind"], each["by"]["id"], each["excerpt"]) for each in found]


def test_an_author_is_told_of_a_reply(client: Client, tell: Any) -> None:
    first = tell("The moon is up.")
    reply = tell("So [it](https://a.example) *is* &lt;up>.", by="ben", parent=first)

    (shown,) = inbox_of(client, "ann")["notifications"]

    assert shown["kind"] == "comment.reply"
    assert shown["by"] == {"id": "ben", "name": "Ben"}
    assert shown["excerpt"] == "So it is <up>."
    assert shown["page"] == {"id": NODE, "title": "Moon", "url": "https://a.example/moon"}
    assert shown["permalink"] == f"https://a.example/moon#plaza-{reply}"
    assert shown["read"] is False
    assert told_to(client, "ben") == []


def test_an_inbox_leaves_out_kinds_of_a_later_release(
    client: Client, tell: Any, runtime: Runtime
) -> None:
    first = tell("The moon is up.")
    tell("So it is.", by="ben", parent=first)
    rows = ITEMS.of(runtime.database)
    (item,) = rows.find({"user_id": "ann"})
    later: Any = {**item, "_id": "ann:later", "key": "later", "kind": "later.kind"}
    rows.insert_one(later, bypass_document_validation=True)

    assert told_to(client, "ann") == [("comment.reply", "ben", "So it is.")]


def test_a_person_is_told_of_a_mention_and_of_a_reply_with_a_mention_once(
    client: Client, tell: Any
) -> None:
    first = tell("The moon is up.")
    tell("Is it, @Ann?", by="ben", mentions=["ann"])
    tell("It is, @Ann.", by="cleo", parent=first, mentions=["ann"])

    assert told_to(client, "ann") == [
        ("comment.reply", "cleo", "It is, @Ann."),
        ("comment.mention", "ben", "Is it, @Ann?"),
    ]


def test_nobody_is_told_of_their_own_comments(client: Client, tell: Any) -> None:
    first = tell("The moon is up.")
    tell("It is, @Ann.", parent=first, mentions=["ann"])

    assert told_to(client, "ann") == []


@pytest.mark.parametrize("owner", ["ann", "ben"])
def test_of_people_who_are_apart_neither_is_told(client: Client, tell: Any, owner: str) -> None:
    first = tell("The moon is up.")
    tell("It was.", by="ben")
    other = {"ann": "ben", "ben": "ann"}[owner]
    assert client.as_(owner).put(f"/sites/harbour/blocked/{other}").status == 204
    tell("So it is.", by="ben", parent=first)

    assert told_to(client, "ann") == []
    assert inbox_of(client, "ann")["unread"] == 0


def test_a_site_that_does_not_tell_makes_no_notification(
    client: Client, tell: Any, clock: Clock
) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/sites/harbour/comments/settings", notifications=False).status == 200
    clock.advance(seconds=6)
    first = tell("The moon is up.")
    tell("So it is.", by="ben", parent=first)

    assert told_to(client, "ann") == []


def test_a_reply_that_waits_is_told_once_it_is_shown_and_taken_back_when_it_is_hidden(
    client: Client, tell: Any, workers: Workers
) -> None:
    first = tell("The moon is up.")
    reply = tell("So it is.", by="ben", parent=first)
    moderator = client.as_("mo", roles=["moderator"])
    for state, told in (("hidden", 0), ("visible", 1), ("spam", 0), ("visible", 1)):
        assert moderator.post(f"{COMMENTS}/{reply}/state", state=state).status == 200
        before = inbox_of(client, "ann")["notifications"]
        workers.drain()
        assert len(inbox_of(client, "ann")["notifications"]) == told
        # What its reader may not see is not shown, whether or not the worker has come.
        assert len(before) <= told


def test_what_was_read_is_not_told_again_by_an_edit_or_a_repeat(
    client: Client, tell: Any, workers: Workers
) -> None:
    first = tell("The moon is up.")
    reply = tell("So it is.", by="ben", parent=first)
    (shown,) = inbox_of(client, "ann")["notifications"]
    assert client.as_("ann").put("/notifications/read", ids=[shown["id"]]).status == 204
    assert client.as_("ben").patch(f"{COMMENTS}/{reply}", text="So it was.").status == 200
    workers.drain()

    (shown,) = inbox_of(client, "ann")["notifications"]

    assert (shown["read"], shown["excerpt"]) == (True, "So it was.")
    assert inbox_of(client, "ann")["unread"] == 0
    assert told_to(client, "ann", "?unread=true") == []


def test_the_numbers_follow_the_marks(client: Client, tell: Any, clock: Clock) -> None:
    first = tell("The moon is up.")
    for number in range(3):
        clock.advance(seconds=1)
        tell(f"Reply {number}.", by="ben", parent=first)
    ann = client.as_("ann")
    inbox = inbox_of(client, "ann")
    assert (inbox["unread"], inbox["unseen"]) == (3, 3)

    assert ann.put("/notifications/seen", until=inbox["at"]).status == 204
    assert (inbox_of(client, "ann")["unread"], inbox_of(client, "ann")["unseen"]) == (3, 0)
    earlier = "2020-01-01T00:00:00Z"
    assert ann.put("/notifications/seen", until=earlier).status == 204
    assert inbox_of(client, "ann")["unseen"] == 0

    clock.advance(seconds=1)
    tell("Reply 3.", by="ben", parent=first)
    assert (inbox_of(client, "ann")["unread"], inbox_of(client, "ann")["unseen"]) == (4, 1)
    assert ann.put("/notifications/read", until=inbox["at"]).status == 204
    assert told_to(client, "ann", "?unread=true") == [("comment.reply", "ben", "Reply 3.")]


def test_no_mark_takes_an_item_whose_write_is_under_way(
    client: Client, tell: Any, clock: Clock
) -> None:
    first = tell("The moon is up.")
    tell("Reply 0.", by="ben", parent=first)
    clock.advance(seconds=5)
    shown = inbox_of(client, "ann")
    assert len(shown["notifications"]) == 1

    # The time of an item is from before its write.
    clock.advance(seconds=-1)
    tell("Reply 1.", by="ben", parent=first)
    clock.advance(seconds=1)
    for mark in ("seen", "read"):
        path = f"/notifications/{mark}"
        assert client.as_("ann").put(path, until=shown["at"]).status == 204

    later = inbox_of(client, "ann")
    assert (later["unread"], later["unseen"]) == (1, 1)


def test_marks_cover_an_item_that_has_just_come(client: Client, tell: Any) -> None:
    first = tell("The moon is up.")
    tell("Reply 0.", by="ben", parent=first)
    until = inbox_of(client, "ann")["at"]

    assert client.as_("ann").put("/notifications/seen", until=until).status == 204
    assert inbox_of(client, "ann")["unseen"] == 0


def test_an_inbox_is_read_page_by_page(client: Client, tell: Any) -> None:
    """All within one millisecond, so that ids part the pages."""
    first = tell("The moon is up.")
    sent = {tell(f"Reply {number}.", by="ben", parent=first) for number in range(5)}
    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        page = inbox_of(client, "ann", f"?limit=2{cursor}")
        seen += [each["permalink"].rpartition("-")[2] for each in page["notifications"]]
        cursor = f"&cursor={page['next']}"

    assert page["next"] is None
    assert sorted(seen) == sorted(sent)


def test_a_cursor_of_another_person_is_refused(client: Client, tell: Any) -> None:
    first = tell("The moon is up.")
    for number in range(2):
        tell(f"Reply {number}.", by="ben", parent=first)
    cursor = inbox_of(client, "ann", "?limit=1")["next"]

    reply = client.as_("ben").get(f"/notifications?cursor={cursor}")

    assert (reply.status, reply.json["code"]) == (400, "invalid_cursor")


def test_marks_of_others_change_nothing(client: Client, tell: Any) -> None:
    first = tell("The moon is up.")
    tell("So it is.", by="ben", parent=first)
    (shown,) = inbox_of(client, "ann")["notifications"]

    assert client.as_("ben").put("/notifications/read", ids=[shown["id"]]).status == 204

    assert inbox_of(client, "ann")["unread"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"ids": ["x"] * 51},
        {"ids": ["x"], "until": "2026-01-01T00:00:00Z"},
        {"until": "yesterday"},
    ],
)
def test_a_mark_names_notifications_or_a_time(client: Client, body: dict[str, Any]) -> None:
    reply = client.as_("ann").put("/notifications/read", **body)

    assert (reply.status, reply.json["code"]) == (422, "invalid_request")


def test_notifications_follow_a_discussion_to_its_new_address(
    client: Client, tell: Any, workers: Workers, clock: Clock
) -> None:
    first = tell("The moon is up.")
    reply = tell("So it is.", by="ben", parent=first)
    admin = client.as_("admin", roles=["admin"])
    moved = admin.post(f"/nodes/{NODE}/move", to="harbour:sun")
    assert moved.status in {200, 202}, moved.body
    workers.drain()
    clock.advance(seconds=60)
    workers.drain()

    (shown,) = inbox_of(client, "ann")["notifications"]
    assert shown["page"]["id"] == "harbour:sun"
    edited = client.as_("ben").patch(f"/nodes/harbour:sun/comments/{reply}", text="It is.")
    assert edited.status == 200, edited.body
    workers.drain()
    assert told_to(client, "ann") == [("comment.reply", "ben", "It is.")]


def test_a_comment_older_than_notifications_are_kept_tells_nobody(
    client: Client, tell: Any, workers: Workers, clock: Clock
) -> None:
    first = tell("The moon is up.")
    reply = tell("So it is.", by="ben", parent=first)
    moderator = client.as_("mo", roles=["moderator"])
    assert moderator.post(f"{COMMENTS}/{reply}/state", state="hidden").status == 200
    workers.drain()
    clock.advance(days=timedelta(days=91).days)
    assert moderator.post(f"{COMMENTS}/{reply}/state", state="visible").status == 200
    workers.drain()

    assert len(told_to(client, "ann")) <= 1

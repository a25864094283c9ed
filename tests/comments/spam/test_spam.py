"""Spam: a state that readers do not see, a queue for moderators, and an end after thirty days."""

from typing import Any

import pytest

from chalicelib.comments.entries.comparing import repair
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.people import counting
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.spam import checking
from chalicelib.runtime import Runtime
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout
from tests.comments.support.entries import NONE, difference, entry
from tests.support.clock import Clock
from tests.support.http_client import Client

PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
COMMENTS = "/nodes/blog:moon/comments"


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


@pytest.fixture
def moderator(client: Client, layout: Layout) -> Client:
    staff = client.as_("mo", roles=["moderator", "publisher"], sites=["blog"])
    made = staff.put("/nodes/blog:moon", **PAGE, store=layout.store, threaded=layout.threaded)
    assert made.status == 201, made.body
    assert staff.put("/sites/blog/comments/settings", phrases=[{"phrase": "casino"}]).status == 200
    return staff


def filed(ann: Client, text: str = "buy") -> str:
    """Return the path of a comment that a program of Ann's has sent."""
    reply = ann.post(COMMENTS, text=text, website="https://spam.example")
    assert reply.status == 201, reply.body
    return f"{COMMENTS}/{reply.json['id']}"


def queued(moderator: Client, queue: str) -> list[str]:
    reply = moderator.get(f"/moderation/comments?queue={queue}")
    assert reply.status == 200, reply.body
    return [row["excerpt"] for row in reply.json["comments"]]


def shown(client: Client) -> list[tuple[str, str]]:
    reply = client.get(COMMENTS)
    return [(each["text"], each["state"]) for each in reply.json["comments"]]


def test_only_moderators_see_spam_and_that_it_is(
    moderator: Client, ann: Client, client: Client
) -> None:
    path = filed(ann)

    assert shown(moderator) == [("buy", "spam")]
    assert shown(ann) == [("buy", "pending")]
    assert shown(client) == shown(client.as_("bob")) == []
    assert client.get(path).status == client.as_("bob").get(path).status == 404
    assert (queued(moderator, "spam"), queued(moderator, "pending")) == (["buy"], [])
    assert client.get(COMMENTS).json["node"]["counts"] == {"visible": 0}


def test_its_author_cannot_tell_spam_from_what_waits(moderator: Client, ann: Client) -> None:
    waiting = ann.post(COMMENTS, text="casino").json
    spam = ann.post(COMMENTS, text="casino", written_ms=200).json
    paths = [f"{COMMENTS}/{each['id']}" for each in (waiting, spam)]

    def told() -> list[Any]:
        answers = [ann.get(path).json for path in paths]
        own = {"id", "slug", "posted_at", "edited_at", "editable_until"}
        return [{name: each[name] for name in each if name not in own} for each in answers]

    assert told()[0] == told()[1] == {**told()[0], "state": "pending"}
    for path in paths:
        assert ann.patch(path, text="another").json["state"] == "pending"
    assert told()[0] == told()[1]
    assert [state for _, state in shown(ann)] == ["pending"] * 2
    assert queued(moderator, "spam") == ["another"]
    assert [ann.delete(path).status for path in paths] == [204, 204]
    assert shown(ann) == shown(moderator) == []


@pytest.mark.parametrize("state", ["visible", "hidden", "pending"])
def test_a_moderator_decides_that_it_is_no_spam(moderator: Client, ann: Client, state: str) -> None:
    path = filed(ann)

    assert moderator.post(f"{path}/state", state=state).json["state"] == state

    assert queued(moderator, "spam") == []
    assert [each for _, each in shown(ann)] == ([] if state == "hidden" else [state])


def test_a_moderator_files_any_comment_as_spam(
    moderator: Client, ann: Client, client: Client
) -> None:
    path = f"{COMMENTS}/{ann.post(COMMENTS, text='hello').json['id']}"

    assert moderator.post(f"{path}/state", state="spam").json["state"] == "spam"

    assert queued(moderator, "spam") == ["hello"]
    assert ann.get(path).status == client.get(path).status == 404
    (act,) = moderator.get("/moderation/log?site=blog").json["acts"]
    assert (act["before"], act["after"]) == ({"state": "visible"}, {"state": "spam"})
    assert moderator.post(f"/moderation/log/{act['id']}/undo").status == 201
    assert (queued(moderator, "spam"), ann.get(path).json["state"]) == ([], "visible")


def test_spam_counts_as_what_was_rejected(runtime: Runtime, discussion: Discussion) -> None:
    hidden, spam = (discussion.post(text)["id"] for text in ("one", "two"))
    discussion.set_state(hidden, "hidden")
    discussion.set_state(spam, "spam")

    person = PEOPLE.of(runtime.database).find_one({"user_id": "ann", "site": "default"})

    assert person is not None
    assert (person["counts"]["visible"], person["counts"]["rejected"]) == (0, 2)
    assert not counting.recount(runtime.database, "default", "ann")
    assert discussion.node["counts"] == {"visible": 0, "pending": 0}


def test_a_recount_makes_the_entry_of_spam_as_it_was(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    spam = discussion.post("hello")["id"]
    clock.advance(days=20)
    discussion.set_state(spam, "spam")
    had = entry(discussion, spam)
    assert difference(discussion) == NONE
    ENTRIES.of(runtime.database).delete_one({"_id": had["_id"], "site": "default"})

    repair(runtime, discussion.node)

    made = entry(discussion, spam)
    assert (made["queue"], made["queued_at"]) == ("spam", runtime.now())
    assert {**had, "todo": None} == made


def test_spam_is_wiped_after_thirty_days_of_being_it(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    root, kept = (discussion.post(text)["id"] for text in ("one", "two"))
    if discussion.node["threaded"]:
        discussion.post("reply", root, by="bob")
    clock.advance(days=100)
    discussion.set_state(root, "spam")
    clock.advance(days=29, hours=23)
    discussion.set_state(kept, "spam")
    assert checking.wipe_overdue(runtime) == 0

    clock.advance(hours=1)

    assert (checking.wipe_overdue(runtime), checking.wipe_overdue(runtime)) == (1, 0)
    wiped = discussion.stored()[root]
    assert (wiped["author"], wiped["text"], wiped["html"]) == (None, None, None)
    assert wiped["state"] == ("deleted" if discussion.node["threaded"] else "removed")
    assert discussion.stored()[kept]["text"] == "two"
    assert difference(discussion) == NONE
    person = PEOPLE.of(runtime.database).find_one({"user_id": "ann", "site": "default"})
    assert person is not None
    assert person["counts"]["rejected"] == 1


def test_the_days_begin_anew_with_each_decision(
    runtime: Runtime, moderator: Client, ann: Client, clock: Clock
) -> None:
    path = filed(ann)
    clock.advance(days=20)
    moderator.post(f"{path}/state", state="visible")
    (act,) = moderator.get("/moderation/log?site=blog").json["acts"]
    clock.advance(days=20)
    assert checking.wipe_overdue(runtime) == 0
    assert moderator.post(f"/moderation/log/{act['id']}/undo").status == 201

    assert (checking.wipe_overdue(runtime), queued(moderator, "spam")) == (0, ["buy"])
    clock.advance(days=30)
    assert checking.wipe_overdue(runtime) == 1


@pytest.mark.parametrize("layout", LAYOUTS[:1], ids=str)
def test_the_wiping_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    def file() -> str:
        spam = discussion.post("hello")["id"]
        discussion.set_state(spam, "spam")
        clock.advance(days=30)
        return spam

    spam = file()
    for _ in crash_everywhere(runtime, mongodb_uri, checking.wipe_overdue):
        clock.advance(minutes=16)
        checking.wipe_overdue(runtime)
        counting.sweep(runtime)
        assert discussion.stored()[spam]["text"] is None
        assert difference(discussion) == NONE
        person = PEOPLE.of(runtime.database).find_one({"user_id": "ann", "site": "default"})
        assert person is not None
        assert person["counts"]["rejected"] == 0
        spam = file()


@pytest.mark.parametrize("layout", LAYOUTS[:1], ids=str)
def test_an_entry_of_spam_without_its_comment_holds_nothing_up(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    spam = discussion.post("hello")["id"]
    discussion.set_state(spam, "spam")
    made = entry(discussion, spam)
    lost = {**made, "_id": f"{discussion.node_id}/lost", "id": "lost"}
    ENTRIES.of(runtime.database).insert_one(lost)  # type: ignore[arg-type]
    clock.advance(days=30)

    assert checking.wipe_overdue(runtime) == 1
    # Its node is compared then.
    assert discussion.node["written"] == runtime.now()

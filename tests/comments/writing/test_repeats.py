"""The same text by the same person is refused, and by three people it waits."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments import nodes, repair, seen
from chalicelib.comments.entries import writing
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import Duplicate
from chalicelib.comments.forms import NewComment
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.seen import MOST_MARKS, RUNNING, SEEN
from chalicelib.comments.writing import post
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client

PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
MOON, SUN = "/nodes/blog:moon/comments", "/nodes/blog:sun/comments"
TEXT = "Buy a wonderful boat at my shop"


@pytest.fixture
def publisher(client: Client) -> Client:
    paula = client.as_("paula", roles=["publisher"], sites=["blog"])
    for path in (MOON, SUN):
        assert paula.put(path.removesuffix("/comments"), **PAGE).status == 201
    assert paula.put("/sites/blog/comments/settings", repeats="judge").status == 200
    return paula


@pytest.fixture
def ann(client: Client, publisher: Client) -> Client:
    assert publisher
    return client.as_("ann")


def told(reply: Any) -> tuple[int, str]:
    return reply.status, reply.code if reply.status >= 400 else reply.json["state"]


def test_the_same_text_is_taken_once(ann: Client) -> None:
    assert told(ann.post(MOON, text=TEXT)) == (201, "visible")

    for path in (MOON, SUN):
        for text in (TEXT, "buy a  WONDERFUL boat, at *my* shop!"):
            assert told(ann.post(path, text=text)) == (409, "duplicate")
    assert told(ann.post(MOON, text=f"{TEXT} or not")) == (201, "visible")


def test_short_texts_may_come_again(ann: Client) -> None:
    assert [ann.post(MOON, text="Thank you!").status for _ in range(3)] == [201] * 3


def test_from_the_third_person_on_it_is_spam(ann: Client, client: Client) -> None:
    people = [ann, *(client.as_(f"p{number}") for number in range(MOST_MARKS + 3))]

    states = [told(each.post(SUN, text=TEXT)) for each in people]

    assert states == [(201, "visible")] * 2 + [(201, "pending")] * (len(people) - 2)
    moderator = client.as_("mo", roles=["moderator"])
    rows = moderator.get("/moderation/comments?queue=spam").json["comments"]
    assert {tuple(row["reasons"]) for row in rows} == {("repeated",)}


def test_after_a_day_it_may_come_again(ann: Client, client: Client, clock: Clock) -> None:
    for each in (ann, client.as_("bob")):
        each.post(MOON, text=TEXT)
    clock.advance(hours=24)

    for each in (ann, client.as_("bob"), client.as_("cat")):
        assert each.post(SUN, text=TEXT).status == 201


def test_sites_know_nothing_of_each_other(ann: Client, client: Client) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/shop:moon", **PAGE)
    root.put("/sites/shop/comments/settings", repeats="judge")
    ann.post(MOON, text=TEXT)

    assert ann.post("/nodes/shop:moon/comments", text=TEXT).status == 201


def test_what_was_deleted_may_be_written_again(ann: Client, clock: Clock) -> None:
    posted = ann.post(MOON, text=TEXT).json["id"]
    ann.delete(f"{MOON}/{posted}")
    clock.time += RUNNING

    assert told(ann.post(MOON, text=TEXT)) == (201, "visible")
    assert told(ann.post(MOON, text=TEXT)) == (409, "duplicate")


def test_what_a_node_took_along_to_another_id_is_known(
    ann: Client, client: Client, clock: Clock
) -> None:
    ann.post(MOON, text=TEXT)
    root = client.as_("root", roles=["admin"])
    assert root.post("/nodes/blog:moon/move", to="blog:moved").status == 200
    clock.time += RUNNING

    assert told(ann.post(SUN, text=TEXT)) == (409, "duplicate")


def test_a_comment_that_moved_with_its_page_does_not_repeat_itself(
    ann: Client, client: Client, clock: Clock
) -> None:
    posted = ann.post(MOON, text=TEXT).json["id"]
    root = client.as_("root", roles=["admin"])
    assert root.post("/nodes/blog:moon/move", to="blog:moved").status == 200
    clock.time += RUNNING

    reply = ann.patch(f"/nodes/blog:moved/comments/{posted}", text=f"{TEXT}!")

    assert told(reply) == (200, "visible")


def test_edits_are_looked_at_too(ann: Client) -> None:
    ann.post(MOON, text=TEXT)
    other = ann.post(MOON, text="hello").json["id"]

    assert told(ann.patch(f"{MOON}/{other}", text=TEXT)) == (409, "duplicate")
    for _ in range(2):
        assert told(ann.patch(f"{MOON}/{other}", text=f"{TEXT}, or two")) == (200, "visible")


def test_moderators_may_repeat_themselves(client: Client, publisher: Client) -> None:
    assert publisher
    moderator = client.as_("mo", roles=["moderator"])

    assert [moderator.post(MOON, text=TEXT).status for _ in range(3)] == [201] * 3


def test_without_the_setting_nothing_is_noted(
    ann: Client, publisher: Client, runtime: Runtime
) -> None:
    publisher.put("/sites/blog/comments/settings", repeats="allow")

    assert [ann.post(MOON, text=TEXT).status for _ in range(2)] == [201] * 2
    assert SEEN.of(runtime.database).find_one() is None


def keyed(client: Client) -> Any:
    headers = {"Idempotency-Key": "key", "Content-Type": "application/json"}
    body = f'{{"text": "{TEXT}"}}'.encode()
    return client.request("POST", MOON, body=body, headers=headers)


def test_a_repeated_call_is_no_repetition(ann: Client) -> None:
    first, again = keyed(ann), keyed(ann)

    assert (first.status, again.status) == (201, 201)
    assert first.json["id"] == again.json["id"]


def test_a_call_that_died_after_its_mark_is_repeated(
    ann: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as dying:
        dying.setattr(writing, "add", _die)
        assert keyed(ann).status == 500
    clock.advance(seconds=41)

    assert keyed(ann).status == 201


def test_a_node_is_not_compared_during_a_call_that_is_repeated_late(
    ann: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call bears the time of its first attempt; a quiet node has the time of its last write."""
    with monkeypatch.context() as dying:
        dying.setattr(post, "_store", _die)
        assert keyed(ann).status == 500
    clock.advance(minutes=16)
    repair.repair_counts(runtime)
    store = post._store

    def compare_first(*given: Any) -> Any:
        repair.repair_counts(runtime)
        return store(*given)

    monkeypatch.setattr(post, "_store", compare_first)
    made = keyed(ann)
    assert made.status == 201

    (entry,) = ENTRIES.of(runtime.database).find({"id": made.json["id"]})
    assert entry["posted"] < clock()
    assert nodes.find(runtime.database, "blog:moon")["written"] == clock()
    # Nor are the author's counts.
    (person,) = PEOPLE.of(runtime.database).find({"user_id": "ann"})
    assert person["touched"] == clock()


def test_a_call_that_died_without_a_key_is_forgotten_once_it_cannot_run(
    ann: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as dying:
        dying.setattr(writing, "add", _die)
        assert ann.post(MOON, text=TEXT).status == 500

    assert told(ann.post(MOON, text=TEXT)) == (409, "duplicate")
    clock.time += RUNNING
    assert told(ann.post(MOON, text=TEXT)) == (201, "visible")


def _die(*_given: Any) -> bool:
    raise RuntimeError("the process is gone")


def test_of_clicks_at_once_one_is_taken(publisher: Client, runtime: Runtime) -> None:
    assert publisher

    with ThreadPoolExecutor(8) as pool:
        clicks = list(pool.map(lambda _: click(runtime), range(8)))

    assert sorted(clicks) == ["refused"] * 7 + ["taken"]


def click(runtime: Runtime) -> str:
    try:
        post.post_comment(runtime, "blog:moon", NewComment(text=TEXT), Principal("ann", "Ann"))
    except Duplicate:
        return "refused"
    return "taken"


def test_of_clicks_at_once_after_a_deletion_one_is_taken(
    ann: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    comment = ann.post(MOON, text=TEXT).json["id"]
    assert ann.delete(f"{MOON}/{comment}").status == 204
    clock.time += RUNNING
    check, both = seen._check_gone, threading.Barrier(2)

    def check_together(*arguments: Any) -> None:
        check(*arguments)
        both.wait(10)

    monkeypatch.setattr(seen, "_check_gone", check_together)

    with ThreadPoolExecutor(2) as pool:
        clicks = list(pool.map(lambda _: click(runtime), range(2)))

    assert sorted(clicks) == ["refused", "taken"]


def test_a_call_whose_other_try_has_renewed_the_mark_goes_on(
    ann: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    comment = ann.post(MOON, text=TEXT).json["id"]
    assert ann.delete(f"{MOON}/{comment}").status == 204
    clock.time += RUNNING
    check, writing_now = seen._check_gone, seen.Writing("blog", "ann", "blog:moon/new", TEXT)

    def renew_first(*arguments: Any) -> None:
        check(*arguments)
        monkeypatch.setattr(seen, "_check_gone", check)
        assert seen.mark(runtime, writing_now) == 0

    monkeypatch.setattr(seen, "_check_gone", renew_first)

    assert seen.mark(runtime, writing_now) == 0


def test_a_row_names_nobody_and_ends(ann: Client, runtime: Runtime, clock: Clock) -> None:
    ann.post(MOON, text=TEXT)

    (row,) = SEEN.of(runtime.database).find()
    assert "ann" not in str(row["_id"]) + row["marks"][0]["by"]
    assert "boat" not in str(row)
    assert row["expires"] == clock() + timedelta(hours=24)
    (index,) = (each.document for each in SEEN.indexes)
    assert (index["key"], index["expireAfterSeconds"]) == ({"expires": 1}, 0)

"""What strangers can do by flags, alone and together: they queue comments, and hide none."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.comments import jobs, nodes
from chalicelib.comments.entries.rows import ENTRIES, WHILE_QUEUED
from chalicelib.comments.marking import flags as marking_flags
from chalicelib.comments.moderation import flags
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.writing.decisions import hold_back
from chalicelib.runtime import Runtime
from tests.comments.support.flagging import (
    NODE,
    PAGE,
    assert_exact,
    counts,
    entry,
    flag,
    know,
    moderator_of,
    posted,
    weight,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

RING = [f"r{number}" for number in range(50)]


def queued(moderator: Client) -> list[Any]:
    rows: list[Any] = moderator.get("/moderation/comments?queue=flagged").json["comments"]
    return rows


def show(moderator: Client, comment: str) -> None:
    assert moderator.post(f"{comment}/state", state="visible").status == 200


def is_shown(client: Client, comment: str) -> bool:
    return client.get(comment).status == 200


@pytest.mark.parametrize("comments", [0, 1, 2])
def test_a_ring_of_new_accounts_hides_nothing(
    client: Client, moderator: Client, comment: str, runtime: Runtime, comments: int
) -> None:
    for who in RING:
        know(runtime, who, visible=comments)

    for round_ in range(10):
        for who in RING:
            assert flag(client, who, comment).status == 204
        assert is_shown(client, comment), round_
        show(moderator, comment)

    assert queued(moderator) == []
    assert_exact(runtime)


def test_throw_away_comments_give_flags_no_weight(
    client: Client, moderator: Client, comment: str
) -> None:
    for who in RING[:7]:
        posted(client, who)
        assert flag(client, who, comment).status == 204

    assert is_shown(client, comment)
    assert weight(moderator, comment) == 0


def test_a_ring_whose_accounts_a_site_trusts_hides_a_comment_once(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    others = [posted(client, "ann") for _ in range(3)]
    for who in RING:
        know(runtime, who, visible=3)

    hidden = []
    for _ in range(10):
        for target in (comment, *others):
            for who in RING[:6]:
                flag(client, who, target)
            hidden.append(is_shown(client, target))
            show(moderator, target)

    # Each of two comments, by three of them: after that they weigh nothing.
    assert hidden.count(False) <= 2
    assert_exact(runtime)


def test_each_decision_doubles_what_flags_have_to_weigh(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    for who in RING:
        know(runtime, who, visible=3)
    waiting = iter(RING)
    needed = []

    while True:
        number = 0
        for who in waiting:
            flag(client, who, comment)
            number += 1
            if not is_shown(client, comment):
                break
        else:
            break
        needed.append(number)
        show(moderator, comment)

    assert needed == [3, 6, 12, 24]


def test_the_first_flag_on_a_text_that_was_shown_has_to_weigh_twice_as_much(
    client: Client, publisher: Client, comment: str, runtime: Runtime, clock: Clock
) -> None:
    moderator = moderator_of(client)
    publisher.put("/sites/blog/comments/settings", flags_hold=2)
    clock.advance(seconds=6)
    for who in ("bob", "cy", "dan"):
        know(runtime, who, visible=20)
    show(moderator, comment)

    flag(client, "bob", comment)
    assert is_shown(client, comment)
    assert len(queued(moderator)) == 1
    flag(client, "cy", comment)
    assert not is_shown(client, comment)
    show(moderator, comment)
    flag(client, "dan", comment)
    assert is_shown(client, comment)


def test_a_newcomers_flag_puts_a_comment_into_the_queue(
    client: Client, moderator: Client, comment: str, runtime: Runtime, clock: Clock
) -> None:
    clock.advance(minutes=7)
    assert flag(client, "bob", comment).status == 204

    assert is_shown(client, comment)
    (row,) = queued(moderator)
    assert row["id"] == comment.rpartition("/")[2]
    assert (row["excerpt"], row["author"]["name"]) == ("Full tonight", "Ann")
    assert (row["reasons"], row["flags"], row["queue"]) == (["flagged"], 0, "flagged")
    assert row["waits_since"] != row["posted_at"]
    assert "hold_at" not in entry(runtime, comment)
    assert_exact(runtime)


@pytest.mark.parametrize("state", ["visible", "hidden", "pending", "spam"])
def test_a_decision_takes_it_off_that_queue(
    client: Client, moderator: Client, comment: str, runtime: Runtime, state: str
) -> None:
    flag(client, "bob", comment)
    claim = f"{comment}/claim"
    assert moderator.post(claim).status == 200

    assert moderator.post(f"{comment}/state", state=state).status == 200

    assert queued(moderator) == []
    if state in {"visible", "hidden"}:
        assert not entry(runtime, comment).keys() & {"claimed", "excerpt", "reasons", "queued_at"}
    assert_exact(runtime)


def test_the_last_report_that_is_withdrawn_takes_it_off_the_queue(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    for who in ("bob", "cy"):
        flag(client, who, comment)
    client.as_("bob").delete(f"{comment}/flag")
    assert len(queued(moderator)) == 1
    client.as_("cy").delete(f"{comment}/flag")

    assert queued(moderator) == []
    assert_exact(runtime)


def test_an_erased_persons_report_leaves_the_queue_with_them(
    client: Client, moderator: Client, comment: str, runtime: Runtime, workers: Any
) -> None:
    flag(client, "bob", comment)
    client.as_("bob").delete("/users/me")
    workers.drain()

    assert queued(moderator) == []
    assert_exact(runtime)


def test_whose_flags_were_wrong_too_often_fill_no_queue(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    know(runtime, "bob", visible=9, flags_wrong=3)
    assert flag(client, "bob", comment).status == 204
    assert queued(moderator) == []
    (told,) = moderator.get(f"{comment}/flags").json["flags"]
    assert told["weight"] == 0
    know(runtime, "cy", flags_wrong=3, flags_right=1)
    flag(client, "cy", comment)
    assert len(queued(moderator)) == 1
    assert_exact(runtime)


def test_the_flag_of_somebody_who_is_held_off_fills_no_queue(
    client: Client, moderator: Client, comment: str
) -> None:
    assert moderator.patch("/sites/blog/people/bob", status="shadowed").status == 200
    assert flag(client, "bob", comment).status == 204
    assert queued(moderator) == []


@pytest.mark.parametrize("by", ["withdrawing", "another reason"])
def test_a_second_flag_on_a_text_that_was_shown_counts_for_nothing(
    client: Client, moderator: Client, comment: str, runtime: Runtime, by: str
) -> None:
    know(runtime, "bob", visible=20)
    flag(client, "bob", comment)
    show(moderator, comment)
    know(runtime, "bob", visible=20)
    if by == "withdrawing":
        assert client.as_("bob").delete(f"{comment}/flag").status == 204

    assert flag(client, "bob", comment, "abuse").status == 204

    (told,) = moderator.get(f"{comment}/flags").json["flags"]
    assert (told["reason"], told["outcome"], weight(moderator, comment)) == ("spam", "wrong", 0)
    assert queued(moderator) == []
    assert_exact(runtime)


def test_a_second_flag_counts_once_the_text_is_another(
    client: Client, moderator: Client, comment: str, runtime: Runtime, clock: Clock
) -> None:
    for who in ("bob", "cy", "dan"):
        know(runtime, who, visible=3)
    flag(client, "bob", comment)
    show(moderator, comment)
    clock.advance(seconds=1)
    assert client.as_("ann").patch(comment, text="Rather abusive").status == 200
    know(runtime, "bob", visible=3)

    for who in ("bob", "cy", "dan"):
        flag(client, who, comment)

    assert not is_shown(client, comment)
    (row,) = queued(moderator)
    assert (row["excerpt"], row["flags"]) == ("Rather abusive", 3)
    assert_exact(runtime)


def test_an_edit_in_the_moment_of_a_decision_is_not_cleared_by_it(
    client: Client, comment: str, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    moderator = moderator_of(client)
    for who in ("bob", "cy", "dan"):
        know(runtime, who, visible=3)
    flag(client, "bob", comment)
    decide = flags.decide

    def edited_before(*args: Any) -> Any:
        clock.advance(seconds=1)
        assert client.as_("ann").patch(comment, text="Rather abusive").status == 200
        return decide(*args)

    with monkeypatch.context() as patch:
        patch.setattr(flags, "decide", edited_before)
        show(moderator, comment)
    know(runtime, "bob", visible=3)

    for who in ("bob", "cy", "dan"):
        flag(client, who, comment)

    assert not is_shown(client, comment)


def pin(client: Client, comment: str) -> None:
    assert moderator_of(client).put(f"{comment}/pin").status == 204


def feature(client: Client, comment: str) -> None:
    assert moderator_of(client).put(f"{comment}/featured").status == 204


@pytest.mark.parametrize("protect", [pin, feature])
def test_a_pinned_or_featured_comment_is_queued_and_never_held(
    client: Client, moderator: Client, comment: str, runtime: Runtime, protect: Callable[..., None]
) -> None:
    protect(client, comment)
    for who in RING[:6]:
        know(runtime, who, visible=20)
        flag(client, who, comment)
    moderator.put(f"{comment}/flag", reason="other")

    assert is_shown(client, comment)
    assert [row["flags"] for row in queued(moderator)] == [22]
    assert "hold_at" not in entry(runtime, comment)
    assert_exact(runtime)


@pytest.mark.parametrize("author", ["mo", "paula"])
def test_a_comment_of_staff_is_queued_and_never_held(
    client: Client, moderator: Client, publisher: Client, runtime: Runtime, author: str
) -> None:
    publisher.put(NODE, **PAGE)
    staff = {"mo": moderator, "paula": publisher}[author]
    made = staff.post(f"{NODE}/comments", text="House rules").json
    comment = f"{NODE}/comments/{made['id']}"
    for who in RING[:6]:
        know(runtime, who, visible=20)
        flag(client, who, comment)

    assert is_shown(client, comment)
    assert len(queued(moderator)) == 1


def test_honest_flags_of_people_of_standing_hide_abuse(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    know(runtime, "bob", visible=20, flags_right=4, flags_wrong=1)
    know(runtime, "cy", visible=20, flags_right=2)
    for who in ("new", "bob", "cy"):
        assert is_shown(client, comment)
        flag(client, who, comment)

    assert not is_shown(client, comment)
    assert moderator.post(f"{comment}/state", state="hidden").status == 200
    assert counts(runtime, "bob") == (5, 1)
    assert counts(runtime, "new") == (1, 0)


def test_a_reported_comment_that_is_edited_stays_queued_with_its_text(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    flag(client, "bob", comment)
    assert client.as_("ann").patch(comment, text="Better?").status == 200

    assert [row["excerpt"] for row in queued(moderator)] == ["Better?"]
    assert_exact(runtime)


def test_a_reported_comment_that_its_author_deletes_waits_no_more(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    flag(client, "bob", comment)
    assert client.as_("ann").delete(comment).status == 204

    assert queued(moderator) == []
    assert_exact(runtime)


def test_a_report_that_a_crash_left_is_queued_by_the_schedule(
    client: Client, comment: str, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    moderator = moderator_of(client)
    with monkeypatch.context() as patch:
        patch.setattr(marking_flags, "tend", lambda *_: False)
        flag(client, "bob", comment)
    assert queued(moderator) == []
    clock.advance(minutes=1)
    assert jobs.run_due(runtime)["flagged_held"] == 0

    assert len(queued(moderator)) == 1
    assert "hold_at" not in entry(runtime, comment)
    assert_exact(runtime)


def test_a_moderator_who_decides_while_flags_hold_a_comment_back_is_obeyed(
    client: Client,
    moderator: Client,
    comment: str,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for who in ("bob", "cy"):
        know(runtime, who, visible=20)
    flag(client, "bob", comment)

    def decided_before(*args: Any) -> bool:
        show(moderator, comment)
        return hold_back(*args)

    monkeypatch.setattr(marking_flags, "hold_back", decided_before)
    flag(client, "cy", comment)

    assert is_shown(client, comment)
    assert queued(moderator) == []
    assert_exact(runtime)


def test_a_comment_held_back_within_a_decision_is_shown_by_it(
    client: Client,
    moderator: Client,
    comment: str,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for who in ("bob", "cy"):
        know(runtime, who, visible=20)
    flag(client, "bob", comment)
    decide = flags.decide

    def flagged_before(*args: Any) -> Any:
        flag(client, "cy", comment)
        assert not is_shown(client, comment)
        return decide(*args)

    monkeypatch.setattr(flags, "decide", flagged_before)
    show(moderator, comment)

    assert is_shown(client, comment)
    assert queued(moderator) == []
    assert_exact(runtime)


def test_a_comment_held_back_after_its_flags_were_decided_is_shown_again(
    client: Client,
    moderator: Client,
    comment: str,
    runtime: Runtime,
) -> None:
    for who in ("bob", "cy"):
        know(runtime, who, visible=20)
    flag(client, "bob", comment)
    waits, found = {"flags": 400, "reports": 2}, entry(runtime, comment)
    show(moderator, comment)
    node = nodes.find(runtime.database, "blog:moon")

    assert marking_flags.tend(runtime, node, found["id"], {**found, **waits}) is False

    assert is_shown(client, comment)
    assert_exact(runtime)


def test_flags_and_decisions_at_once_leave_exact_counts(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    people = RING[:16]
    for who in people:
        know(runtime, who, visible=20)

    def act(number: int) -> int:
        if number % 4 == 3:
            return moderator.post(f"{comment}/state", state="visible").status
        return flag(client, people[number % len(people)], comment).status

    with ThreadPoolExecutor(8) as pool:
        statuses = set(pool.map(act, range(48)))
    # A comment that is held back at the moment is unknown to readers.
    assert statuses <= {200, 204, 404, 409}
    show(moderator, comment)

    assert is_shown(client, comment)
    assert queued(moderator) == []
    assert_exact(runtime)
    decided = PEOPLE.of(runtime.database).find({"user_id": {"$in": people}})
    # Nobody is counted twice on one text.
    assert all(person["counts"]["flags_wrong"] <= 1 for person in decided)


def test_flags_of_the_last_release_wait_as_they_did(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    know(runtime, "bob", visible=3)
    flag(client, "bob", comment)
    key = {"_id": entry(runtime, comment)["_id"], "site": "blog"}
    ENTRIES.of(runtime.database).update_one(
        key, {"$unset": {"reports": "", **dict.fromkeys(WHILE_QUEUED, "")}, "$set": {"queue": None}}
    )
    runtime.database["mark"].update_many({}, {"$unset": {"flag.is_heard": ""}})
    assert_exact(runtime)

    show(moderator, comment)

    assert counts(runtime, "bob") == (0, 1)
    assert weight(moderator, comment) == 0
    assert_exact(runtime)

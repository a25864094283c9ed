"""Messages twice, late, shuffled or never, workers at once and crashes: each act is told once."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from chalicelib.jobs import outbox
from chalicelib.notifications.rows import ITEMS
from chalicelib.runtime import Runtime
from chalicelib.social import jobs
from chalicelib.social.graph import circles, memberships
from chalicelib.social.messages import JOB, BackFill
from tests.assets.support.crashes import Crash, crash_at_write
from tests.social.support.drivers import Town, circle, comment, publish, settle, work_on
from tests.support.clock import Clock

WORKERS = 8
LIKE = "/posts/{post}/reactions/like"


def items(runtime: Runtime) -> list[tuple[str, str, bool]]:
    found = ITEMS.of(runtime.database).find({})
    return sorted((each["user_id"], each["by"], each["wanted"]) for each in found)


def outlive(town: Town, clock: Clock) -> None:
    """Let every request of before end, and the sweep send each job again."""
    for _ in range(3):
        clock.advance(minutes=21)
        outbox.sweep(town.runtime, JOB)
        town.courier.deliver(town.runtime, random.Random(0))


@pytest.mark.parametrize("seed", range(3))
def test_reactions_by_many_delivered_thrice_and_shuffled_to_workers_at_once_are_told_once(
    watched: Town, seed: int
) -> None:
    people = [f"u{number}" for number in range(12)]
    settle(watched.client, "ann", *people)
    post = publish(watched.client, "ann")
    watched.courier.take()
    for who in people:
        assert watched.client.as_(who).put(LIKE.format(post=post)).status == 200
    work = watched.courier.take() * 3
    random.Random(seed).shuffle(work)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda message: work_on(watched.runtime, message), work))

    assert items(watched.runtime) == sorted(("ann", who, True) for who in people)


@pytest.mark.parametrize("seed", range(4))
def test_likes_and_withdrawals_in_any_order_end_as_the_last_of_them(
    watched: Town, clock: Clock, seed: int
) -> None:
    settle(watched.client, "ann", "bob", "cy")
    post = publish(watched.client, "ann")
    drawn = random.Random(seed)
    is_liked = {}
    for _ in range(8):
        who = drawn.choice(("bob", "cy"))
        is_liked[who] = drawn.random() < 0.5
        act = watched.client.as_(who)
        call = act.put if is_liked[who] else act.delete
        assert call(LIKE.format(post=post)).status in {200, 204}
        if drawn.random() < 0.3:
            watched.courier.deliver(watched.runtime, drawn, twice=True)
    watched.courier.deliver(watched.runtime, drawn, twice=True)
    outlive(watched, clock)

    told = {by for _, by, is_wanted in items(watched.runtime) if is_wanted}
    assert told == {who for who, liked in is_liked.items() if liked}


def test_a_worker_that_read_before_a_withdrawal_is_corrected(
    watched: Town, clock: Clock, meantime: Any
) -> None:
    """It stores an item of a reaction that is gone; nobody sees it, and a later run takes it."""
    settle(watched.client, "ann", "bob")
    post = publish(watched.client, "ann")
    watched.courier.take()
    bob = watched.client.as_("bob")
    assert bob.put(LIKE.format(post=post)).status == 200
    (late,) = watched.courier.take()

    def withdraw() -> None:
        assert bob.delete(LIKE.format(post=post)).status == 204
        for message in watched.courier.take():
            work_on(watched.runtime, message)

    meantime.before("insert", ITEMS.name, withdraw)
    work_on(watched.runtime, late)
    assert meantime.done()
    assert items(watched.runtime) == [("ann", "bob", True)]
    assert watched.client.as_("ann").get("/notifications").json["notifications"] == []

    outlive(watched, clock)

    assert items(watched.runtime) == [("ann", "bob", False)]


def published(town: Town) -> str:
    """Have Ann publish a post, and Bob make a circle; return the post, which is delivered."""
    settle(town.client, "ann")
    circle(town.client, "bob", "club")
    post = publish(town.client, "ann")
    town.courier.deliver(town.runtime, random.Random(0))
    return post


def acts(town: Town, post: str) -> dict[str, Callable[[], Any]]:
    here = town.client.as_("bob")
    return {
        "reaction": lambda: here.put(LIKE.format(post=post)),
        "comment": lambda: comment(town.client, "bob", post),
        "wall": lambda: publish(town.client, "bob", wall_owner_id="ann"),
        "follow": lambda: memberships.add_member(town.runtime, "bob", "club", "ann"),
    }


@pytest.mark.parametrize("act", ["reaction", "comment", "wall", "follow"])
def test_the_message_that_never_comes_is_sent_by_the_sweep(
    watched: Town, clock: Clock, act: str
) -> None:
    post = published(watched)
    acts(watched, post)[act]()
    watched.courier.take()
    assert items(watched.runtime) == []

    for _ in range(3):
        clock.advance(minutes=21)
        jobs.resend_overdue(watched.runtime)
        watched.courier.deliver(watched.runtime, random.Random(0))

    assert items(watched.runtime) == [("ann", "bob", True)]


@pytest.mark.parametrize("act", ["reaction", "comment", "wall", "follow"])
def test_a_crash_between_any_two_writes_tells_of_what_is_stored_and_once(
    watched: Town, clock: Clock, act: str
) -> None:
    post = published(watched)

    def crash_each(step: Callable[[], Any]) -> None:
        """Run a step that ends before each of its writes in turn, until it runs whole."""
        number = 0
        while True:
            try:
                with crash_at_write(number, is_after=False) as reached:
                    step()
            except Crash:
                number += 1
            else:
                assert len(reached) <= number
                return

    crash_each(acts(watched, post)[act])
    for message in watched.courier.take():
        crash_each(partial(work_on, watched.runtime, message))
    for _ in range(3):
        clock.advance(minutes=21)
        jobs.resend_overdue(watched.runtime)
        watched.courier.deliver(watched.runtime, random.Random(0))

    assert items(watched.runtime) == [("ann", "bob", True)] * _stored(watched, post)[act]


def _stored(town: Town, post: str) -> dict[str, int]:
    """Return the numbers of Bob's acts that are stored: a repeat after a crash may be another."""
    rows, marks = town.runtime.database["social.post"], town.runtime.database["mark"]
    (commented,) = rows.find({"_id": post})
    return {
        "reaction": marks.count_documents({"user_id": "bob"}),
        "comment": len(commented["comments"]),
        "wall": rows.count_documents({"wall": "ann", "by.id": "bob"}),
        "follow": 1,
    }


def test_a_circle_that_goes_takes_back_those_who_are_in_no_other(
    watched: Town, clock: Clock
) -> None:
    circle(watched.client, "bob", "club", "ann", "cy", "dee")
    circle(watched.client, "bob", "choir", "cy")
    watched.courier.deliver(watched.runtime, random.Random(0))
    assert items(watched.runtime) == [(who, "bob", True) for who in ("ann", "cy", "dee")]

    circles.delete(watched.runtime, "bob", "club")
    watched.courier.deliver(watched.runtime, random.Random(0), twice=True)

    expected = [("ann", "bob", False), ("cy", "bob", True), ("dee", "bob", False)]
    assert items(watched.runtime) == expected
    circle(watched.client, "bob", "club", "ann")
    watched.courier.deliver(watched.runtime, random.Random(0), twice=True)
    outlive(watched, clock)
    assert items(watched.runtime)[0] == ("ann", "bob", True)


def test_a_follow_that_ends_while_it_is_told_is_taken_back(
    watched: Town, clock: Clock, meantime: Any
) -> None:
    circle(watched.client, "bob", "club", "ann")
    told = [each for each in watched.courier.take() if isinstance(each, BackFill)]

    def leave() -> None:
        memberships.remove_member(watched.runtime, "bob", "club", "ann")
        for message in watched.courier.take():
            work_on(watched.runtime, message)

    meantime.before("insert", ITEMS.name, leave)
    for message in told:
        work_on(watched.runtime, message)
    assert meantime.done()
    assert watched.client.as_("ann").get("/notifications").json["notifications"] == []

    outlive(watched, clock)

    assert items(watched.runtime) == [("ann", "bob", False)]


def test_an_erased_person_leaves_no_job_that_names_them(watched: Town) -> None:
    settle(watched.client, "ann", "bob")
    post = publish(watched.client, "ann")
    assert watched.client.as_("bob").put(LIKE.format(post=post)).status == 200
    comment(watched.client, "bob", post)
    assert watched.client.as_("bob").delete("/users/me").status == 202
    watched.courier.deliver(watched.runtime, random.Random(0))

    left = watched.runtime.database["social.errand"].find({"errand.type": "notify-feed"})
    assert [each["_id"] for each in left if "bob" in each["_id"]] == []
    assert items(watched.runtime) == []

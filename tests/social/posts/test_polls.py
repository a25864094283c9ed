"""Votes in polls: one of each person, counted exactly, shown wherever the post is shown."""

import itertools
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social.posts import posts, votes
from chalicelib.social.posts.types import POST_TYPES, PollDetail, is_poll
from tests.social.support.designs import Design
from tests.social.support.drivers import Town, circle, follow, publish, settle
from tests.social.support.interleaving import Meantime
from tests.social.support.mortal_workers import Died, Mortal, living
from tests.support.commands import Commands
from tests.support.http_client import Client, Reply

OPTIONS = ["18:00", "18:30", "19:00"]
POLL: dict[str, Any] = {
    "type": "poll",
    "detail": {"question": "Thursday's ride?", "options": OPTIONS},
}
NONE = {"votes": [0, 0, 0], "vote_count": 0, "own_vote": None}


def vote(client: Client, voter: str, post: str, option: str = "18:30") -> Reply:
    return client.as_(voter).put(f"/posts/{post}/vote", option=option)


def results(client: Client, reader: str, post: str) -> Any:
    return client.as_(reader).get(f"/posts/{post}").json["poll"]


def assert_exact(runtime: Runtime) -> None:
    """Check that the counts on every post are those of the votes that are stored."""
    stored = Counter(
        (v["post_id"], str(v["number"])) for v in runtime.database["social.vote"].find()
    )
    counted: Counter[Any] = Counter()
    for post in runtime.database["social.post"].find({"deleted": False}):
        counted += Counter({(post["_id"], n): c for n, c in post.get("votes", {}).items()})
        assert post.get("vote_count", 0) == sum(post.get("votes", {}).values())
        assert all(count >= 0 for count in post.get("votes", {}).values())
    assert counted == stored


def test_a_person_votes_once_changes_and_withdraws(client: Client, runtime: Runtime) -> None:
    settle(client, "ann", "bob", "cy")
    post = publish(client, "ann", **POLL)
    assert results(client, "bob", post) == NONE

    assert vote(client, "bob", post).json["poll"] == {
        "votes": [0, 1, 0],
        "vote_count": 1,
        "own_vote": "18:30",
    }
    assert vote(client, "bob", post).json["poll"]["vote_count"] == 1
    assert vote(client, "ann", post, "19:00").json["poll"]["votes"] == [0, 1, 1]
    assert vote(client, "bob", post, "19:00").json["poll"]["votes"] == [0, 0, 2]
    assert results(client, "cy", post)["own_vote"] is None
    assert client.get(f"/posts/{post}").json["poll"]["votes"] == [0, 0, 2]

    for _ in range(2):
        assert client.as_("bob").delete(f"/posts/{post}/vote").status == 204
        assert results(client, "bob", post) == {**NONE, "votes": [0, 0, 1], "vote_count": 1}
    assert_exact(runtime)


def test_what_cannot_be_voted_in_or_for_is_refused(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    status, secret = publish(client, "ann"), publish(client, "ann", ["club"], **POLL)

    assert vote(client, "bob", status).code == "not_a_poll"
    assert client.as_("bob").delete(f"/posts/{status}/vote").code == "not_a_poll"
    assert "poll" not in client.get(f"/posts/{status}").json
    assert vote(client, "bob", secret, "20:00").code == "unknown_option"
    assert vote(client, "bob", secret).status == 200
    assert vote(client, "cy", secret).code == "unknown_post"
    assert client.as_("cy").delete(f"/posts/{secret}/vote").code == "unknown_post"
    assert client.as_("ann").put("/users/me/blocked/bob").status == 204
    assert vote(client, "bob", secret, "18:00").code == "unknown_post"


@pytest.mark.parametrize(
    "twin",
    ["Mole\u200b", "\u2060Mole", "Mo\u00adle", "\u2066Mole\u2069", "Mole\ufe0f"],
    ids=ascii,
)
def test_options_that_look_the_same_are_refused(client: Client, twin: str) -> None:
    settle(client, "ann")
    detail = {"question": "Where?", "options": ["Mole", twin]}

    reply = client.as_("ann").post("/posts", type="poll", detail=detail, circles=["*public*"])

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [each["field"] for each in reply.json["errors"]] == ["detail.options"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("m\u00b2", "m2"), ("yes", "Yes"), ("caf\u00e9", "cafe"), ("\uff11", "1")],
    ids=ascii,
)
def test_options_that_look_different_are_taken(client: Client, one: str, other: str) -> None:
    settle(client, "ann")
    detail = {"question": "Where?", "options": [one, other]}

    post = publish(client, "ann", type="poll", detail=detail)

    assert vote(client, "ann", post, other).json["poll"]["own_vote"] == other


def test_a_poll_is_edited_until_somebody_has_voted(client: Client, runtime: Runtime) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann", **POLL)
    path, ann = f"/posts/{post}", client.as_("ann")
    fewer = {"question": "Friday's?", "options": OPTIONS[:2]}
    assert ann.patch(path, detail=fewer).json["poll"]["votes"] == [0, 0]

    vote(client, "bob", post)
    assert ann.patch(path, detail=POLL["detail"]).code == "poll_has_votes"
    assert results(client, "bob", post)["votes"] == [0, 1]

    client.as_("bob").delete(f"{path}/vote")
    assert ann.patch(path, detail=POLL["detail"]).json["poll"] == NONE
    assert_exact(runtime)


class TestEveryDesign:
    """Counts are of now wherever a post is shown, without waiting for its copies."""

    @pytest.fixture
    def settings(self, settings: Settings, design: Design) -> Settings:
        return design.of(settings)

    def test_every_page_has_the_results_of_now(self, town: Town) -> None:
        client = town.client
        follow(client, "bob", "ann")
        post = publish(client, "ann", **POLL)
        town.workers.drain()
        for voter in ("ann", "bob"):
            vote(client, voter, post)
        expected = {"votes": [0, 2, 0], "vote_count": 2, "own_vote": "18:30"}
        for page in ("/users/me/news", "/users/ann/wall"):
            (shown,) = client.as_("bob").get(page).json["posts"]
            assert shown["poll"] == expected
        (shown,) = client.get("/users/ann/wall").json["posts"]
        assert shown["poll"] == {**expected, "own_vote": None}

    def test_a_copy_that_is_behind_shows_the_options_of_its_counts(self, town: Town) -> None:
        client = town.client
        follow(client, "bob", "ann")
        post = publish(client, "ann", **POLL)
        town.workers.drain()
        other = {"question": "Where?", "options": ["Harbour", "Mole"]}
        client.as_("ann").patch(f"/posts/{post}", detail=other)
        vote(client, "bob", post, "Mole")

        for page in ("/users/me/news", "/users/ann/wall"):
            (shown,) = client.as_("bob").get(page).json["posts"]
            assert (shown["detail"], shown["poll"]["votes"]) == (other, [0, 1])
        client.as_("ann").delete(f"/posts/{post}")
        for page in ("/users/me/news", "/users/ann/wall"):
            assert client.as_("bob").get(page).json["posts"] == []


def principal(user_id: str) -> Principal:
    return Principal(id=user_id, name=user_id.title(), roles=frozenset())


def test_many_who_vote_change_and_withdraw_at_once_are_counted_exactly(
    client: Client, runtime: Runtime
) -> None:
    voters = [f"v{n}" for n in range(4)]
    settle(client, "ann", *voters)
    post = publish(client, "ann", **POLL)

    def live(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(12):
            who = principal(rng.choice(voters))
            if rng.random() < 0.2:
                votes.withdraw(runtime, post, who)
            else:
                votes.cast(runtime, post, who, rng.choice(OPTIONS))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(live, range(4)))

    assert_exact(runtime)


def test_a_vote_takes_six_round_trips_and_its_repetition_writes_nothing(
    client: Client, listened: Runtime, commands: Commands
) -> None:
    settle(client, "ann", "bob")
    post, rows = publish(client, "ann", **POLL), listened.database["social.vote"]

    commands.names.clear()
    votes.cast(listened, post, principal("bob"), "18:00")
    read, written = ["find"] * 3, ["findAndModify"] * 2
    assert commands.names == [*read, *written, "commitTransaction"]

    (before,) = rows.find()
    commands.names.clear()
    votes.cast(listened, post, principal("bob"), "18:00")
    assert commands.names == [*read, "findAndModify", "abortTransaction"]
    assert list(rows.find()) == [before]


def test_a_poll_that_is_edited_all_the_time_is_unavailable(
    watched: Town, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(client, "ann", "bob")
    post, find, turned = publish(client, "ann", **POLL), posts.find_with_reader, itertools.count()

    def edited_after(*given: Any) -> Any:
        found = find(*given)
        if given[2] == "ann":
            return found
        options = [*OPTIONS, f"option {next(turned)}"]
        detail = {"question": "Thursday's ride?", "options": options}
        assert client.as_("ann").patch(f"/posts/{post}", detail=detail).status == 200
        return found

    with monkeypatch.context() as patch:
        patch.setattr(posts, "find_with_reader", edited_after)
        reply = vote(watched.client, "bob", post)

    assert (reply.status, reply.code) == (503, "unavailable")
    assert watched.runtime.database["social.vote"].count_documents({}) == 0
    assert_exact(watched.runtime)


def test_a_poll_that_is_deleted_while_somebody_votes_has_no_vote(
    watched: Town, meantime: Meantime, client: Client
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann", **POLL)

    def delete() -> None:
        assert client.as_("ann").delete(f"/posts/{post}").status == 204

    meantime.before("findAndModify", "social.vote", delete)
    reply = vote(watched.client, "bob", post)

    assert meantime.done()
    assert reply.code == "unknown_post"
    assert watched.runtime.database["social.vote"].count_documents({}) == 0


def test_a_poll_that_is_edited_while_somebody_votes_counts_what_was_meant(
    watched: Town, meantime: Meantime, client: Client
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann", **POLL)

    def edit() -> None:
        turned = {"question": "Thursday's ride?", "options": OPTIONS[::-1]}
        assert client.as_("ann").patch(f"/posts/{post}", detail=turned).status == 200

    meantime.before("findAndModify", "social.vote", edit)
    reply = vote(watched.client, "bob", post, "19:00")

    assert meantime.done()
    assert reply.json["poll"] == {"votes": [1, 0, 0], "vote_count": 1, "own_vote": "19:00"}


def test_the_votes_go_with_their_poll_and_with_their_voter(town: Town) -> None:
    client, rows = town.client, town.runtime.database["social.vote"]
    settle(client, "ann", "bob", "cy")
    first, second = publish(client, "ann", **POLL), publish(client, "ann", **POLL)
    for post in (first, second):
        vote(client, "bob", post)
        vote(client, "cy", post)
    client.as_("ann").delete(f"/posts/{first}")
    town.workers.drain()
    assert {each["post_id"] for each in rows.find()} == {second}

    client.as_("bob").delete("/users/me")
    town.workers.drain()
    assert [each["user_id"] for each in rows.find()] == ["cy"]
    assert results(client, "cy", second)["votes"] == [0, 1, 0]
    assert_exact(town.runtime)


def test_an_erasure_takes_back_the_votes_of_its_time_alone(town: Town) -> None:
    settle(town.client, "ann", "bob")
    early, late = (publish(town.client, "ann", **POLL) for _ in range(2))
    vote(town.client, "bob", early)
    until = town.clock()
    town.clock.time += timedelta(seconds=1)
    vote(town.client, "bob", late)

    for post in (early, late):
        votes.take_back(town.runtime.database, "bob", post, until)

    assert results(town.client, "bob", early) == NONE
    assert results(town.client, "bob", late)["vote_count"] == 1
    assert_exact(town.runtime)


STEPS: dict[str, Callable[[Runtime, str], object]] = {
    "first": lambda runtime, post: votes.cast(runtime, post, principal("bob"), "18:00"),
    "change": lambda runtime, post: votes.cast(runtime, post, principal("bob"), "19:00"),
    "withdraw": lambda runtime, post: votes.withdraw(runtime, post, principal("bob")),
}


def test_who_dies_at_any_step_leaves_a_vote_and_its_count_or_neither(
    client: Client, runtime: Runtime
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann", **POLL)
    for step in STEPS.values():
        steps, is_done = 0, False
        while not is_done:
            try:
                with living(Mortal(steps)):
                    step(runtime, post)
                is_done = True
            except Died:
                steps += 1
            assert_exact(runtime)
        assert steps > 2


@pytest.mark.processes
def test_a_process_that_is_killed_leaves_counts_exact(
    client: Client, runtime: Runtime, mongodb_uri: str
) -> None:
    settle(client, "ann", "v0", "v1", "v2")
    post = publish(client, "ann", **POLL)
    command = [sys.executable, "-m", "tests.social.support.voter", mongodb_uri, "plaza-test", post]
    voter = subprocess.Popen(
        command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE, text=True
    )
    try:
        assert voter.stdout is not None
        for _ in range(20):
            assert voter.stdout.readline() == "voted\n"
    finally:
        voter.kill()
        voter.communicate()
    # The server keeps what a dead client left open for a minute.
    runtime.database.client.admin.command("killAllSessions", [])

    assert runtime.database["social.vote"].count_documents({}) > 0
    assert_exact(runtime)


def test_a_type_of_the_application_that_is_a_poll_can_be_voted_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class RaceDetail(PollDetail):
        """A poll with a course."""

        course: str

    monkeypatch.setitem(POST_TYPES, "race", RaceDetail)

    assert [name for name in POST_TYPES if is_poll(name)] == ["poll", "race"]
    assert not is_poll("a type that an earlier release knew")

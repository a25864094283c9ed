"""Blocks in the activity feed: neither of the two reads what the other does, or says to it."""

import random

import pytest

from tests.social.activity.support.office import Office
from tests.social.support.drivers import Town
from tests.social.support.interleaving import Meantime

SIDES = [("ann", "bob"), ("bob", "ann")]


def block(office: Office, one: str, other: str) -> None:
    office.settle("ann", "bob", "cy")
    assert office.client.as_(one).put(f"/users/me/blocked/{other}").status == 204


@pytest.mark.parametrize(("one", "other"), SIDES)
@pytest.mark.parametrize("scope", ["team", "department", "restricted"])
def test_nobody_reads_or_answers_across_a_block(
    office: Office, scope: str, one: str, other: str
) -> None:
    audience = {"audience": ["bob", "cy"]} if scope == "restricted" else {}
    action = office.act("ann", scope, **audience)
    office.workers.drain()
    assert office.feed("bob") == [action]
    block(office, one, other)
    bob, path = office.client.as_("bob"), f"/actions/{action}"

    replies = [
        bob.get(path),
        bob.get(f"{path}/comments"),
        bob.post(f"{path}/comments", text="So it is"),
        bob.put(f"{path}/reaction", kind="like"),
        bob.get(f"{path}/fan-out"),
    ]

    assert [each.code for each in replies] == ["unknown_action"] * 5
    assert office.feed("bob") == []
    for slice_ in ("/refs/mary/actions", "/tags/skilled/actions"):
        assert bob.get(slice_).json["actions"] == []
    assert office.stored(action)["comment_count"] == 0
    assert office.feed("ann") == [action]


@pytest.mark.parametrize(("one", "other"), SIDES)
def test_a_block_of_comments_holds_for_who_has_only_read_the_feed(
    office: Office, one: str, other: str
) -> None:
    """Bob has a place in the office, and no user of the feed yet."""
    office.settle("ann")
    for each in ("ann", "bob"):
        office.place(each, team="red", department="blue")
    assert office.client.as_(one).put(f"/sites/blog/blocked/{other}").status == 204
    action = office.act("ann", "team")
    office.workers.drain()
    bob = office.client.as_("bob")

    assert bob.get(f"/actions/{action}").code == "unknown_action"
    assert office.feed("bob") == []
    assert bob.get("/tags/skilled/actions").json["actions"] == []
    assert office.runtime.database["social.user"].find_one({"_id": "bob"}) is None


def test_everything_is_back_when_a_block_ends(office: Office) -> None:
    block(office, "ann", "bob")
    action = office.act("ann")
    office.workers.drain()
    assert office.feed("bob") == []

    assert office.client.as_("ann").delete("/users/me/blocked/bob").status == 204

    assert office.feed("bob") == [action]
    assert office.client.as_("bob").get(f"/actions/{action}").status == 200


def test_third_parties_are_not_concerned(office: Office) -> None:
    block(office, "ann", "bob")
    action = office.act("ann", "department")
    office.workers.drain()
    assert office.feed("cy") == [action]
    office.comment("cy", action)


def test_comments_across_a_block_are_left_out_whatever_the_page(office: Office) -> None:
    action = office.act("cy", "department")
    said = []
    for by in ("ann", "bob", "ann", "ann", "bob"):
        office.clock.advance(seconds=1)
        said.append(office.comment(by, action))
    block(office, "bob", "ann")

    def read(who: str, limit: int) -> list[str]:
        found, cursor = [], ""
        while cursor is not None:
            path = f"/actions/{action}/comments?limit={limit}{cursor and '&cursor='}{cursor}"
            page = office.client.as_(who).get(path).json
            found += [each["id"] for each in page["comments"]]
            cursor = page["next"]
        return found

    for limit in (1, 2, 50):
        assert read("bob", limit) == [said[1], said[4]]
        assert read("ann", limit) == [said[0], said[2], said[3]]
        assert read("cy", limit) == said


@pytest.mark.parametrize(
    "queries",
    [
        pytest.param(3, marks=pytest.mark.bounds(social={"blocks_read": 0})),
        pytest.param(2, marks=pytest.mark.bounds(social={"blocks_read": 1})),
    ],
)
def test_a_feed_takes_two_queries_unless_its_reader_has_very_many_blocks(
    watched: Town, meantime: Meantime, queries: int
) -> None:
    office = Office(watched.client, watched.workers, watched.runtime, watched.clock)
    office.place("ann", "bob", "cy", team="hiring")
    office.act("ann")
    left = office.act("cy")
    watched.courier.deliver(watched.runtime, random.Random(7))
    block(office, "ann", "bob")
    meantime.sent.clear()

    assert office.feed("bob") == [left]

    assert meantime.sent == ["aggregate", "find", "aggregate"][:queries]

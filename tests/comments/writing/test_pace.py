"""Slow mode: readers wait between two comments of their own in a node."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.writing import door
from chalicelib.errors import TooFast
from chalicelib.identity import Principal
from chalicelib.limits import LIMITS
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
LISTING = "/nodes/a-page/comments"
SETTINGS = "/sites/default/comments/settings"


@pytest.fixture
def slow(publisher: Client) -> Client:
    """The publisher of a node where readers wait for forty seconds."""
    assert publisher.put("/nodes/a-page", **PAGE, slow_seconds=40).status == 201
    return publisher


def status(author: Client, text: str = "words") -> int:
    return author.post(LISTING, text=text).status


@pytest.mark.usefixtures("slow")
def test_a_reader_waits_between_two_comments(ann: Client, clock: Clock) -> None:
    assert status(ann) == 201
    clock.advance(seconds=10)

    refused = ann.post(LISTING, text="again")
    assert (refused.status, refused.code) == (429, "too_fast")
    assert refused.headers["Retry-After"] == "30"

    clock.advance(seconds=30)
    assert status(ann) == 201


def test_a_shorter_wait_holds_for_authors_of_before(
    publisher: Client, ann: Client, clock: Clock
) -> None:
    publisher.put("/nodes/a-page", **PAGE, slow_seconds=86_400)
    assert status(ann) == 201
    publisher.put("/nodes/a-page", **PAGE, slow_seconds=10)
    clock.advance(seconds=6)

    for seconds in (10, 4):
        refused = ann.post(LISTING, text="again")
        assert (refused.status, refused.headers["Retry-After"]) == (429, str(seconds))
        clock.advance(seconds=6)
    assert status(ann) == 201


@pytest.mark.usefixtures("slow")
def test_readers_wait_for_themselves_alone_and_in_one_node(
    publisher: Client, ann: Client, client: Client
) -> None:
    publisher.put("/nodes/other", **PAGE, slow_seconds=40)
    assert status(ann) == 201

    assert status(client.as_("bob")) == 201
    assert ann.post("/nodes/other/comments", text="there").status == 201


@pytest.mark.usefixtures("slow")
def test_moderators_do_not_wait(client: Client) -> None:
    mo = client.as_("mo", roles=["moderator"])

    assert [status(mo), status(mo)] == [201, 201]


@pytest.mark.usefixtures("slow")
def test_a_denial_writes_nothing(ann: Client, runtime: Runtime) -> None:
    assert status(ann) == 201

    def stored() -> list[object]:
        kept = (nodes.NODES, PEOPLE, LIMITS)
        return [list(each.of(runtime.database).find()) for each in kept]

    before = stored()
    assert status(ann) == 429
    assert stored() == before


@pytest.mark.usefixtures("slow")
def test_what_is_refused_costs_no_wait(slow: Client, ann: Client) -> None:
    slow.put(SETTINGS, phrases=[{"phrase": "casino", "action": "reject"}])
    assert status(ann, "casino") == 422
    assert ann.post(LISTING, text="to nobody", parent="j4qqq5sm0f").code == "unknown_comment"
    slow.put("/nodes/a-page", **PAGE, locked=True)
    assert status(ann) == 409
    slow.put("/nodes/a-page", **PAGE, locked=False)

    assert status(ann) == 201


def test_a_node_goes_by_its_site_until_it_has_its_own(
    publisher: Client, ann: Client, clock: Clock
) -> None:
    publisher.put(SETTINGS, slow_seconds=60)
    assert publisher.put("/nodes/a-page", **PAGE).json["slow_seconds"] == 60
    assert [status(ann), status(ann)] == [201, 429]

    assert publisher.put("/nodes/a-page", **PAGE, slow_seconds=0).json["slow_seconds"] == 0
    clock.advance(seconds=5)
    assert [status(ann), status(ann)] == [201, 201]

    assert publisher.put("/nodes/a-page", **PAGE, slow_seconds=None).json["slow_seconds"] == 60


def test_a_page_says_how_slow_it_is(slow: Client, client: Client) -> None:
    assert client.get(LISTING).json["node"]["slow_seconds"] == 40
    assert slow.get("/nodes/a-page").json["slow_seconds"] == 40


@pytest.mark.parametrize("wrong", [-1, 86_401, "soon"])
def test_a_wait_that_is_none_is_refused(publisher: Client, wrong: object) -> None:
    assert publisher.put("/nodes/a-page", **PAGE, slow_seconds=wrong).code == "invalid_request"


def test_of_many_comments_at_once_one_is_counted(runtime: Runtime) -> None:
    node = nodes.new_node("a-page")
    node["slow_seconds"] = 40
    standing = door.standing_in(runtime, node, Principal("ann", "Ann"))

    def counted(_: int) -> bool:
        try:
            door.count_pace(runtime, node, standing)
        except TooFast:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(counted, range(40))) == 1
    row = LIMITS.of(runtime.database).find_one({})
    assert row is not None
    assert row["tat"] == runtime.now() + timedelta(seconds=40)

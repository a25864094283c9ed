"""Whom a reader has blocked is left out of the pages of comments that the reader is given."""

from typing import Any

import pytest

from tests.support.clock import Clock
from tests.support.http_client import Client

NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
BOB = "/sites/blog/blocked/bob"


@pytest.fixture
def ann(client: Client) -> Client:
    root = client.as_("root", roles=["admin"])
    root.put(NODE, title="Moon", url="https://blog.example/moon")
    for number in range(4):
        for who in ("bob", "cat"):
            client.as_(who).post(COMMENTS, text=f"{who} {number}")
    return client.as_("ann")


def walk(reader: Client, order: str, limit: int) -> list[str]:
    found, more = [], ""
    while True:
        page = reader.get(f"{COMMENTS}?order={order}&limit={limit}{more}").json
        found += [each["text"] for each in page["comments"]]
        if page["next"] is None:
            return found
        more = f"&cursor={page['next']}"


@pytest.mark.parametrize("order", ["oldest", "newest", "best"])
def test_pages_leave_out_whom_the_reader_has_blocked(
    client: Client, ann: Client, order: str
) -> None:
    everything = walk(client, order, 3)
    assert ann.put(BOB).status == 204

    assert walk(ann, order, 3) == [text for text in everything if "bob" not in text]
    assert walk(client, order, 3) == everything


def test_threads_leave_them_out_and_keep_replies_of_others(client: Client, ann: Client) -> None:
    root = client.as_("dan").post(COMMENTS, text="root").json["id"]
    by_bob = client.as_("bob").post(COMMENTS, text="bob's", parent=root).json["id"]
    client.as_("cat").post(COMMENTS, text="cat's", parent=by_bob)
    ann.put(BOB)

    thread = ann.get(f"{COMMENTS}/{root}/thread").json["comments"]

    assert [each["text"] for each in thread] == ["root", None, "cat's"]
    assert (thread[1]["state"], thread[1]["author"], thread[1]["can"]) == ("hidden", None, [])


def test_a_block_is_part_of_the_readers_tag(client: Client, ann: Client, clock: Clock) -> None:
    others = client.get(COMMENTS).headers["ETag"]
    tags = [ann.get(COMMENTS).headers["ETag"]]
    for change in (ann.put, ann.delete):
        assert change(BOB).status == 204
        clock.advance(seconds=5)
        tags.append(ann.get(COMMENTS).headers["ETag"])

    assert tags[0] == tags[2] != tags[1]
    assert client.get(COMMENTS).headers["ETag"] == others


def test_blocks_are_listed_and_taken_back(ann: Client) -> None:
    for who in ("cat", "bob", "bob"):
        ann.put(f"/sites/blog/blocked/{who}")

    assert ann.get("/sites/blog/blocked").json == {"people": [{"id": "bob"}, {"id": "cat"}]}
    assert ann.delete(BOB).status == 204
    assert ann.delete(BOB).status == 204
    assert ann.get("/sites/blog/blocked").json == {"people": [{"id": "cat"}]}


def test_moderators_read_everything(client: Client, ann: Client) -> None:
    assert ann.put(BOB).status == 204
    moderator = client.as_("ann", roles=["moderator"])

    assert any("bob" in text for text in walk(moderator, "oldest", 50))


def told(reply: Any) -> tuple[int, str]:
    return reply.status, reply.code


def test_nobody_blocks_themselves(ann: Client) -> None:
    assert told(ann.put("/sites/blog/blocked/ann")) == (422, "invalid_request")

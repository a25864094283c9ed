"""Places of comments that a reader does not see, above the replies that the reader sees."""

from typing import Any

import pytest

from chalicelib.comments.store import Order
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.support.http_client import Client

ORDERS: tuple[Order, ...] = ("oldest", "newest")
NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
THREADED = [Layout("documents", threaded=True), Layout("embedded", threaded=True)]


@pytest.fixture(params=THREADED, ids=str)
def talk(request: pytest.FixtureRequest, runtime: Runtime) -> Discussion:
    return Discussion.make(runtime, request.param)


def chain(discussion: Discussion, length: int, parent: str | None = None) -> list[str]:
    """Post a comment and replies, each to the one before; return their ids."""
    ids: list[str] = []
    for number in range(length):
        parent = discussion.post(str(number), parent)["id"]
        ids.append(parent)
    return ids


def shape(comments: list[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    return [(each["id"], each["state"], each["author"] is None) for each in comments]


@pytest.mark.parametrize("state", ["pending", "hidden", "spam"])
@pytest.mark.parametrize("order", [*ORDERS, "best"])
def test_a_held_comment_keeps_its_place_above_a_visible_reply(
    talk: Discussion, state: str, order: Any
) -> None:
    root, held, reply = chain(talk, 3)
    talk.set_state(held, state)  # type: ignore[arg-type]

    (_, place, _) = listed = talk.page(order, by="bob")["comments"]

    shown = "pending" if state == "pending" else "hidden"
    assert shape(listed) == [
        (root, "visible", False),
        (held, shown, True),
        (reply, "visible", False),
    ]
    assert place["text"] is place["html"] is place["edited_at"] is place["votes"] is None
    assert (place["mentions"], place["can"], place["parent_id"]) == ([], [], root)
    assert shape(talk.page(order, by="mo")["comments"])[1] == (held, state, False)
    assert shape(talk.thread(root)["comments"]) == shape(listed)


@pytest.mark.parametrize("ending", ["deleted", "hidden", "pending"])
def test_a_branch_without_a_living_comment_is_not_listed(talk: Discussion, ending: str) -> None:
    kept, branch = chain(talk, 1), chain(talk, 4)
    for each in branch:
        if ending == "deleted":
            talk.delete(each)
        else:
            talk.set_state(each, ending)  # type: ignore[arg-type]

    for order in ("oldest", "newest", "best"):
        page = talk.page(order, by=None)
        assert [each["id"] for each in page["comments"]] == kept
        assert (page["count"], page["next"]) == (1, None)


def test_a_discussion_that_is_deleted_whole_is_empty(talk: Discussion) -> None:
    for each in chain(talk, 3):
        talk.delete(each)

    for by in (None, "mo"):
        page = talk.page(by=by)
        assert (page["comments"], page["count"], page["next"]) == ([], 0, None)


def test_a_deleted_comment_is_there_again_with_a_living_reply(talk: Discussion) -> None:
    root, reply = chain(talk, 2)
    talk.delete(root)
    assert shape(talk.page()["comments"])[0] == (root, "deleted", True)

    talk.set_state(reply, "hidden")
    assert talk.page()["comments"] == []

    talk.set_state(reply, "visible")
    assert shape(talk.page()["comments"]) == [(root, "deleted", True), (reply, "visible", False)]


def forest(discussion: Discussion) -> list[str]:
    """Post threads of which every third comment is deleted or held, at any depth."""
    ids: list[str] = []
    for index in range(30):
        parent = ids[(index * 7) // 11] if index % 5 else None
        ids.append(discussion.post(str(index), parent)["id"])
    for index in range(0, 30, 3):
        if index % 2:
            discussion.delete(ids[index])
        else:
            discussion.set_state(ids[index], "hidden")
    return ids


@pytest.mark.parametrize("order", ORDERS)
def test_pages_of_any_size_have_each_place_once_and_before_its_replies(
    talk: Discussion, order: Order
) -> None:
    forest(talk)
    whole = talk.page(order)["comments"]
    seen: set[str] = set()
    for each in whole:
        assert each["parent_id"] is None or each["parent_id"] in seen
        seen.add(each["id"])
    assert any(each["author"] is None for each in whole)

    for limit in (1, 2, 3, 7):
        assert [each["id"] for each in talk.walk(order, limit)] == [each["id"] for each in whole]
        assert all(len(page) <= limit for page in [talk.page(order, limit)["comments"]])


@pytest.mark.parametrize("order", ORDERS)
def test_the_next_page_does_not_repeat_a_place(talk: Discussion, order: Order) -> None:
    held = talk.post("root")["id"]
    first, second = (talk.post(text, held)["id"] for text in ("first", "second"))
    talk.set_state(held, "hidden")

    page = talk.page(order, limit=2)
    following = talk.page(order, limit=2, cursor=page["next"])

    assert [each["id"] for each in page["comments"]] == [held, first]
    assert [each["id"] for each in following["comments"]] == [second]
    assert following["next"] is None


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("limit", [3, 5])
def test_a_page_around_a_comment_shows_all_comments_above_it(
    talk: Discussion, order: Order, limit: int
) -> None:
    forest(talk)
    for target in talk.page(order)["comments"]:
        if target["author"] is None:
            continue
        page = talk.page(order, limit, around=target["id"])
        above = [each["id"] for each in page["ancestors"]]
        first = page["comments"][0]
        assert above == first["slug"].split("/")[:-1]
        known = set(above)
        for each in page["comments"]:
            assert each["parent_id"] is None or each["parent_id"] in known
            known.add(each["id"])
        assert target["id"] in known


def test_only_a_page_around_a_comment_reads_what_is_above_it(talk: Discussion) -> None:
    ids = chain(talk, 6)

    page = talk.page(limit=1, around=ids[4])
    following = talk.page(limit=1, cursor=page["next"])

    assert shape(page["ancestors"]) == [(each, "visible", False) for each in ids[:4]]
    assert page["ancestors"][0]["text"] == "0"
    assert following["ancestors"] == []


def test_who_blocks_sees_no_more_than_the_place(client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(NODE, title="Moon", url="https://blog.example/moon").status == 201
    root = client.as_("bob").post(COMMENTS, text="root").json["id"]
    client.as_("cat").post(COMMENTS, text="cat's", parent=root)
    client.as_("bob").post(COMMENTS, text="alone")
    ann = client.as_("ann")
    assert ann.put("/sites/blog/blocked/bob").status == 204

    texts = [(each["text"], each["state"]) for each in ann.get(COMMENTS).json["comments"]]

    assert texts == [(None, "hidden"), ("cat's", "visible")]
    assert len(client.get(COMMENTS).json["comments"]) == 3

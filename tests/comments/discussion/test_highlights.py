"""Pinned and featured comments: where they appear, and what becomes of them, in every store."""

import dataclasses
from typing import Any

import pytest

from chalicelib.comments import stores
from chalicelib.comments.discussion import highlighting, pinned
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import CommentDeleted, TooManyPins
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.shapes import ListingOrder
from chalicelib.errors import Forbidden, InvalidCursor, UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, PEOPLE, Discussion, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
ORDERS: tuple[ListingOrder, ...] = ("oldest", "newest", "best")


def _mo() -> Principal:
    found = PEOPLE["mo"]
    assert found is not None
    return found


def pin(discussion: Discussion, comment_id: str) -> None:
    highlighting.pin(discussion.runtime, discussion.node_id, comment_id, _mo())


def unpin(discussion: Discussion, comment_id: str) -> None:
    highlighting.unpin(discussion.runtime, discussion.node_id, comment_id, _mo())


def feature(discussion: Discussion, comment_id: str) -> None:
    highlighting.feature(discussion.runtime, discussion.node_id, comment_id, _mo())


def unfeature(discussion: Discussion, comment_id: str) -> None:
    highlighting.unfeature(discussion.runtime, discussion.node_id, comment_id, _mo())


def pins(discussion: Discussion, **how: Any) -> list[str]:
    return [each["text"] for each in discussion.page(**how)["pinned"]]


def posted(discussion: Discussion, number: int) -> list[str]:
    return [str(discussion.post(str(each))["id"]) for each in range(number)]


def featured(discussion: Discussion, limit: int = 200) -> list[str]:
    """Return the texts of the whole list, read page by page."""
    texts: list[str] = []
    page = discussion.page("featured", limit)
    texts += [each["text"] for each in page["comments"]]
    while page["next"]:
        page = discussion.page("featured", limit, page["next"])
        texts += [each["text"] for each in page["comments"]]
    return texts


def test_pins_are_beside_the_first_page_and_in_their_place(discussion: Discussion) -> None:
    ids = posted(discussion, 6)
    before = {order: discussion.texts(order, limit=2) for order in ORDERS}
    for each in (ids[4], ids[0]):
        pin(discussion, each)

    for order in ORDERS:
        page = discussion.page(order, limit=2)
        assert [each["text"] for each in page["pinned"]] == ["4", "0"]
        assert discussion.page(order, limit=2, cursor=page["next"])["pinned"] == []
        assert discussion.texts(order, limit=2) == before[order]
    assert pins(discussion, around=ids[3]) == []


def test_three_are_pinned_at_most(discussion: Discussion) -> None:
    ids = posted(discussion, 4)
    for each in (*ids[:3], *ids[:3]):
        pin(discussion, each)
    with pytest.raises(TooManyPins):
        pin(discussion, ids[3])

    unpin(discussion, ids[1])
    unpin(discussion, ids[1])
    pin(discussion, ids[3])

    assert pins(discussion) == ["0", "2", "3"]


def test_the_pin_of_a_hidden_comment_shows_nothing(discussion: Discussion) -> None:
    ids = posted(discussion, 2)
    for each in ids:
        pin(discussion, each)

    discussion.set_state(ids[0], "hidden")
    assert (pins(discussion), pins(discussion, by="mo")) == (["1"], ["1"])

    discussion.set_state(ids[0], "visible")
    assert pins(discussion) == ["0", "1"]


def test_the_pin_of_a_deleted_comment_goes(discussion: Discussion) -> None:
    ids = posted(discussion, 2)
    for each in ids:
        pin(discussion, each)

    discussion.delete(ids[0])

    assert discussion.node.get("pinned") == [ids[1]]
    with pytest.raises((CommentDeleted, UnknownComment)):
        pin(discussion, ids[0])


def test_a_pin_that_meets_a_deletion_is_taken_down(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comment is deleted, and its pin taken down, just before it is put up."""
    (comment,) = posted(discussion, 1)
    put_up = pinned.put_up

    def late(*given: Any) -> bool:
        monkeypatch.setattr(pinned, "put_up", put_up)
        discussion.delete(comment)
        return put_up(*given)

    monkeypatch.setattr(pinned, "put_up", late)
    with pytest.raises((CommentDeleted, UnknownComment)):
        pin(discussion, comment)

    assert discussion.node.get("pinned") == []


def test_a_pin_left_by_a_deleted_comment_makes_room(discussion: Discussion) -> None:
    ids = posted(discussion, 4)
    for each in ids[:3]:
        pin(discussion, each)
    # As if its process had ended before it took the pin down.
    discussion.delete(ids[1])
    assert pinned.put_up(discussion.runtime.database, discussion.node_id, ids[1])

    pin(discussion, ids[3])

    assert pins(discussion) == ["0", "2", "3"]


def test_a_move_keeps_pins_and_what_is_featured(discussion: Discussion) -> None:
    ids = posted(discussion, 3)
    pin(discussion, ids[2])
    feature(discussion, ids[1])

    discussion.move("documents" if discussion.node["store"] != "documents" else "embedded")
    relocation.request(discussion.runtime, discussion.node_id, "blog:there")
    there = Discussion(discussion.runtime, "blog:there")

    assert (pins(there), featured(there)) == (["2"], ["1"])


def test_the_last_that_was_featured_comes_first(discussion: Discussion, clock: Clock) -> None:
    ids = posted(discussion, 9)
    for each in (ids[3], ids[8], ids[1], ids[5]):
        clock.advance(seconds=1)
        feature(discussion, each)
    # In one moment: by their numbers.
    feature(discussion, ids[0])
    # Again: it keeps its place.
    clock.advance(seconds=1)
    feature(discussion, ids[3])

    for limit in (1, 2, 200):
        assert featured(discussion, limit) == ["0", "5", "1", "8", "3"]
    unfeature(discussion, ids[1])
    assert featured(discussion) == ["0", "5", "8", "3"]


def test_replies_are_featured_alone(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, LAYOUTS[0])
    root = discussion.post("root")["id"]
    feature(discussion, discussion.post("reply", root)["id"])

    assert featured(discussion) == ["reply"]


def test_what_is_featured_while_one_reads_on_changes_nothing_else(
    discussion: Discussion, clock: Clock
) -> None:
    ids = posted(discussion, 8)
    for each in ids[:6]:
        clock.advance(seconds=1)
        feature(discussion, each)
    page = discussion.page("featured", 2)
    clock.advance(seconds=1)
    feature(discussion, ids[7])
    unfeature(discussion, ids[4])
    unfeature(discussion, ids[2])

    texts: list[str] = []
    while page["next"]:
        page = discussion.page("featured", 2, page["next"])
        texts += [each["text"] for each in page["comments"]]

    assert texts == ["3", "1", "0"]


def test_what_is_hidden_or_deleted_is_not_featured(discussion: Discussion) -> None:
    ids = posted(discussion, 3)
    for each in ids:
        feature(discussion, each)
    discussion.set_state(ids[0], "hidden")
    discussion.delete(ids[1])

    assert featured(discussion, 1) == ["2"]
    discussion.set_state(ids[0], "visible")
    assert featured(discussion) == ["0", "2"]
    assert (
        ENTRIES.of(discussion.runtime.database).count_documents(
            {"state": {"$in": ["deleted", "removed"]}, "featured": {"$exists": True}}
        )
        == 0
    )


def test_a_comment_of_an_earlier_release_can_be_featured(discussion: Discussion) -> None:
    (comment,) = posted(discussion, 1)
    ENTRIES.of(discussion.runtime.database).delete_many({"site": "default"})

    feature(discussion, comment)

    assert featured(discussion) == ["0"]


def test_a_cursor_of_another_node_is_refused(runtime: Runtime) -> None:
    here, there = (Discussion.make(runtime, LAYOUTS[0], name) for name in ("here", "there"))
    for each in posted(here, 2):
        feature(here, each)
    cursor = here.page("featured", 1)["next"]
    assert cursor
    with pytest.raises(InvalidCursor):
        there.page("featured", 1, cursor)
    with pytest.raises(InvalidCursor):
        here.page("oldest", 1, cursor)


def test_a_page_with_large_pins_fits_into_an_answer(runtime: Runtime) -> None:
    """The pins that do not fit beside the comments are left out, and the comments stay."""
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    large = "\N{GRINNING FACE} " * 4_900
    ids = [str(discussion.post(f"{number}{large}")["id"]) for number in range(60)]
    for each in ids[-3:]:
        pin(discussion, each)

    page = discussion.page(limit=200)

    assert page["next"]
    assert len(page["pinned"]) < 3


def test_the_calls_say_what_they_refuse(client: Client) -> None:
    publisher = client.as_("paula", roles=["publisher", "moderator"])
    publisher.put("/nodes/a-page", **PAGE)
    ann, there = client.as_("ann"), "/nodes/a-page/comments"
    ids = [ann.post(there, text="one").json["id"] for _ in range(5)]
    reply = ann.post(there, text="two", parent=ids[0]).json["id"]
    assert reply
    ann.delete(f"{there}/{ids[0]}")

    for what in ("pin", "featured"):
        assert publisher.put(f"{there}/{ids[1]}/{what}").status == 204
        assert publisher.put(f"{there}/gone/{what}").code == "unknown_comment"
        assert publisher.put(f"{there}/{ids[0]}/{what}").code == "comment_deleted"
        assert ann.put(f"{there}/{ids[1]}/{what}").code == "forbidden"
        assert publisher.put(f"/nodes/none/comments/{ids[1]}/{what}").code == "unknown_node"
        assert publisher.delete(f"/nodes/none/comments/{ids[1]}/{what}").code == "unknown_node"
    for each in ids[2:4]:
        assert publisher.put(f"{there}/{each}/pin").status == 204
    assert publisher.put(f"{there}/{ids[4]}/pin").code == "too_many_pins"
    page = client.get(f"{there}?order=featured").json
    assert ([each["id"] for each in page["comments"]], page["order"]) == ([ids[1]], "featured")
    assert len(page["pinned"]) == 3
    assert client.get(f"{there}?order=featured&around={ids[1]}").status == 422
    for what in ("pin", "featured"):
        assert publisher.delete(f"{there}/{ids[1]}/{what}").status == 204
        assert publisher.delete(f"{there}/gone/{what}").status == 204
    assert client.get(f"{there}?order=featured").json["comments"] == []

    client.as_("root", roles=["admin"]).post("/nodes/a-page/move", to="b-page")
    for what in ("pin", "featured"):
        for act in (publisher.put, publisher.delete):
            assert act(f"{there}/{ids[1]}/{what}").code == "node_moved"


def test_pins_and_features_change_the_tag(client: Client) -> None:
    moderator = client.as_("mo", roles=["publisher", "moderator"])
    moderator.put("/nodes/a-page", **PAGE)
    there = "/nodes/a-page/comments"
    comment = client.as_("ann").post(there, text="one").json["id"]
    for what, target in (("pin", there), ("featured", f"{there}?order=featured")):
        for act in (moderator.put, moderator.delete):
            tag = client.get(target).headers["ETag"]
            assert act(f"{there}/{comment}/{what}").status == 204
            again = client.request("GET", target, headers={"If-None-Match": tag})
            assert again.status == 200


def test_pins_that_are_on_the_page_are_not_read_again(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = posted(discussion, 3)
    pin(discussion, ids[0])
    asked: list[Any] = []
    real = stores.ask

    def noted(*given: Any) -> Any:
        asked.append(given)
        return real(*given)

    monkeypatch.setattr("chalicelib.comments.discussion.pinned.ask", noted)
    assert pins(discussion) == ["0"]
    assert asked == []
    assert pins(discussion, order="newest", limit=1) == ["0"]
    assert len(asked) == 1


def test_a_moderator_of_another_site_points_nothing_out(discussion: Discussion) -> None:
    (comment,) = posted(discussion, 1)
    other = dataclasses.replace(_mo(), sites=frozenset({"shop"}))
    for act in (
        highlighting.pin,
        highlighting.unpin,
        highlighting.feature,
        highlighting.unfeature,
    ):
        with pytest.raises(Forbidden):
            act(discussion.runtime, discussion.node_id, comment, other)

"""Pages around a comment and back from a position, which every store has to give alike."""

from typing import Any

import pytest

from chalicelib.comments.store import Order
from chalicelib.errors import InvalidCursor, UnknownComment
from chalicelib.http import responses
from tests.comments.support.discussion import Discussion, Layout

ORDERS: tuple[Order, ...] = ("oldest", "newest")
LIMITS = (1, 2, 3, 5, 50)


def talk(discussion: Discussion, layout: Layout, number: int = 13) -> list[str]:
    """Post comments, as threads of some depth if the node has them; return their ids."""
    ids: list[str] = []
    for index in range(number):
        parent = ids[index // 3] if layout.threaded and index % 4 else None
        ids.append(discussion.post(str(index), parent)["id"])
    return ids


def ids_of(page: dict[str, Any]) -> list[str]:
    return [comment["id"] for comment in page["comments"]]


def followed(
    discussion: Discussion, page: dict[str, Any], order: Order, limit: int, by: str | None = None
) -> list[str]:
    """Return the ids of a page and of all before and after it, by its cursors."""
    found, back, onwards = ids_of(page), page["previous"], page["next"]
    while back is not None:
        before = discussion.page(order, limit, back, by)
        assert before["next"] is not None
        found, back = ids_of(before) + found, before["previous"]
    while onwards is not None:
        after = discussion.page(order, limit, onwards, by)
        assert after["previous"] is not None
        found, onwards = found + ids_of(after), after["next"]
    return found


@pytest.mark.parametrize("order", ORDERS)
def test_each_comment_has_a_page_around_it(
    discussion: Discussion, layout: Layout, order: Order
) -> None:
    talk(discussion, layout)
    whole = ids_of(discussion.page(order))

    for limit in LIMITS:
        for index, comment in enumerate(whole):
            page = discussion.page(order, limit, around=comment)
            shown = ids_of(page)
            first = whole.index(shown[0])
            assert comment in shown
            assert len(shown) <= limit
            assert shown == whole[first : first + len(shown)]
            assert index - first == min(index, (limit - 1) // 2)
            assert (page["previous"] is None) == (first == 0)
            assert (page["next"] is None) == (shown[-1] == whole[-1])
            assert followed(discussion, page, order, limit) == whole


@pytest.mark.parametrize("order", ORDERS)
def test_what_a_reader_does_not_see_is_in_no_page_and_has_none(
    discussion: Discussion, layout: Layout, order: Order
) -> None:
    ids = talk(discussion, layout)
    for index in (2, 3, 7, 11):
        discussion.set_state(ids[index], "pending" if index % 2 else "hidden")
    discussion.delete(ids[12])

    for by in (None, "ann", "mo"):
        listed = discussion.page(order, by=by)["comments"]
        whole = [each["id"] for each in listed]
        seen = [each["id"] for each in listed if each["author"] is not None]
        for comment in ids:
            if comment in seen:
                page = discussion.page(order, 3, by=by, around=comment)
                assert comment in ids_of(page)
                assert followed(discussion, page, order, 3, by) == whole
            else:
                with pytest.raises(UnknownComment):
                    discussion.page(order, 3, by=by, around=comment)


def test_an_unknown_comment_has_no_page(discussion: Discussion) -> None:
    discussion.post("first")

    with pytest.raises(UnknownComment):
        discussion.page(around="0123456789")


@pytest.mark.parametrize("order", ORDERS)
def test_a_way_back_survives_the_comment_that_it_points_to(
    discussion: Discussion, layout: Layout, order: Order
) -> None:
    talk(discussion, layout, 9)
    whole = ids_of(discussion.page(order))
    page = discussion.page(order, 2, around=whole[5])
    discussion.delete(ids_of(page)[0])

    before = discussion.page(order, 200, page["previous"])

    first = whole.index(ids_of(page)[0])
    left = ids_of(discussion.page(order))
    assert ids_of(before) == [each for each in whole[:first] if each in left]
    assert before["previous"] is None


def test_a_way_back_is_of_one_listing(discussion: Discussion, layout: Layout) -> None:
    ids = talk(discussion, layout, 5)
    back = discussion.page("oldest", 1, around=ids[4])["previous"]

    with pytest.raises(InvalidCursor):
        discussion.page("newest", 1, back)
    with pytest.raises(InvalidCursor):
        discussion.thread(ids[0], 1, back)


@pytest.mark.parametrize("order", ORDERS)
def test_a_page_around_a_comment_ends_early_before_it_is_too_large(
    discussion: Discussion, layout: Layout, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(discussion, layout)
    whole = ids_of(discussion.page(order))
    monkeypatch.setattr(responses, "MAX_BYTES", 3_000)

    for comment in whole:
        page = discussion.page(order, around=comment)
        assert comment in ids_of(page)
        assert 0 < len(ids_of(page)) < len(whole)
        assert followed(discussion, page, order, 200) == whole


@pytest.mark.parametrize("order", ORDERS)
def test_pages_back_cross_every_boundary(
    discussion: Discussion, layout: Layout, order: Order
) -> None:
    """With more comments than one stored page of a hundred holds."""
    talk(discussion, layout, 230)
    whole = ids_of(discussion.page(order)) + ids_of(
        discussion.page(order, cursor=discussion.page(order)["next"])
    )

    for comment in (whole[0], whole[99], whole[100], whole[229]):
        page = discussion.page(order, 60, around=comment)
        assert followed(discussion, page, order, 60) == whole

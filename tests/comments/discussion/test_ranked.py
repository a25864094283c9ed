"""Pages by rank: the same from every store, put together the one sort that they are parts of."""

import dataclasses
import itertools
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.discussions import seed_node
from chalicelib.comments.entries import upkeep
from chalicelib.comments.entries.ranking import KEYS
from chalicelib.comments.shapes import Comment, RankedOrder
from chalicelib.errors import InvalidCursor
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.entries import entries, vote

ORDERS: tuple[RankedOrder, ...] = ("best", "top", "controversial")
_node_ids = (f"ranked-{number}" for number in itertools.count())


def seeded(runtime: Runtime, layout: Layout, number: int) -> Discussion:
    """Return a discussion of which some waits, with votes that often tie."""
    node_id, rng = next(_node_ids), random.Random(number)
    seed_node(runtime, node_id, number, visible_of_ten=9, **dataclasses.asdict(layout))
    discussion = Discussion(runtime, node_id)
    upkeep.compare_node(runtime, discussion.node)
    roots = [each["id"] for each in discussion.stored().values() if each["depth"] == 0]
    for root in roots:
        vote(discussion, root, up=rng.randrange(4), down=rng.randrange(4))
    for root in roots[::7]:
        discussion.set_state(root, "hidden")
    for root in roots[3::9]:
        discussion.delete(root)
    return discussion


def one_sort(discussion: Discussion, order: RankedOrder) -> list[str]:
    """Return the ids of all that readers see, sorted once."""
    found, stored = entries(discussion), discussion.stored()

    def place(comment: Comment) -> tuple[int, int, str]:
        root = found[comment["slug"].partition("/")[0]]
        return -root[KEYS[order]], root["seq"], comment["full_slug"]

    visible = [each for each in stored.values() if each["state"] == "visible"]
    # Comments above visible ones keep their places.
    seen = [stored[id_] for id_ in {id_ for each in visible for id_ in each["slug"].split("/")}]
    return [each["id"] for each in sorted(seen, key=place)]


def ids(page: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in page]


def walked(discussion: Discussion, order: str, limit: int) -> list[str]:
    return ids(discussion.walk(order, limit))  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ORDERS)
def test_pages_of_any_size_put_together_are_one_sort(
    runtime: Runtime, layout: Layout, order: RankedOrder
) -> None:
    discussion = seeded(runtime, layout, 130)
    expected = one_sort(discussion, order)

    for limit in (1, 7, 50, 200):
        assert walked(discussion, order, limit) == expected
    assert set(expected) == set(walked(discussion, "newest", 200))
    assert len(expected) > 80


def test_stores_give_the_same_pages(runtime: Runtime, layout: Layout) -> None:
    discussion = seeded(runtime, layout, 60)
    before = [page["comments"] for page in pages(discussion, "best", 7)]

    for store in ("documents", "embedded"):
        discussion.move(store)
        assert [page["comments"] for page in pages(discussion, "best", 7)] == before


def pages(discussion: Discussion, order: RankedOrder, limit: int) -> list[dict[str, Any]]:
    found = [discussion.page(order, limit)]
    while cursor := found[-1]["next"]:
        found.append(discussion.page(order, limit, cursor))
    return found


def test_a_thread_that_fits_no_page_goes_on_in_the_next(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    long, short = discussion.post("long")["id"], discussion.post("short")["id"]
    replies = [discussion.post(str(n), long)["id"] for n in range(9)]
    vote(discussion, long, up=9)

    found = [ids(page["comments"]) for page in pages(discussion, "best", 4)]

    assert found == [[long, *replies[:3]], replies[3:7], [*replies[7:], short]]


def test_a_page_that_is_half_full_cuts_no_thread(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    first, second = discussion.post("first")["id"], discussion.post("second")["id"]
    below_first = discussion.post("reply", first)["id"]
    below_second = [discussion.post(str(n), second)["id"] for n in range(3)]
    vote(discussion, first, up=1)

    found = [ids(page["comments"]) for page in pages(discussion, "top", 4)]

    assert found == [[first, below_first], [second, *below_second]]


def test_wrong_sizes_of_threads_change_no_listing(runtime: Runtime, layout: Layout) -> None:
    discussion = seeded(runtime, layout, 60)
    expected = one_sort(discussion, "best")

    for size in (1, 50):
        runtime.database["comments.entry"].update_many({}, {"$set": {"thread": size}})
        for limit in (1, 4, 50):
            assert walked(discussion, "best", limit) == expected


def test_a_vote_between_pages_neither_repeats_nor_skips_others(
    runtime: Runtime, layout: Layout
) -> None:
    discussion = Discussion.make(runtime, layout)
    made = [discussion.post(str(number))["id"] for number in range(6)]
    for place, comment in enumerate(made):
        vote(discussion, comment, up=10 - place)
    first = discussion.page("top", 3)

    vote(discussion, made[2], up=0)
    vote(discussion, made[4], up=99)
    rest = discussion.page("top", 9, first["next"])

    assert ids(first["comments"]) == made[:3]
    # The third fell and comes again, the fifth rose past the cursor and is missed.
    assert ids(rest["comments"]) == [made[3], made[5], made[2]]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_threads_that_keep_their_keys_come_once_whatever_others_do(
    runtime: Runtime, layout: Layout, data: st.DataObject
) -> None:
    discussion = Discussion.make(runtime, layout, next(_node_ids))
    threads = _some_threads(discussion, layout, data)
    order = data.draw(st.sampled_from(ORDERS))
    # By their order of posting: their ids are drawn anew in each example.
    votes = st.tuples(st.sampled_from(list(threads)), st.integers(0, 5), st.integers(0, 5))
    for root, up, down in data.draw(st.lists(votes, max_size=8)):
        vote(discussion, root, up, down)
    came: Counter[str] = Counter()
    sequence: list[str] = []
    changed: set[str] = set()
    cursor, reads = None, 0

    while reads == 0 or cursor:
        page = discussion.page(order, data.draw(st.integers(1, 5)), cursor)
        came.update(ids(page["comments"]))
        sequence += ids(page["comments"])
        cursor, reads = page["next"], reads + 1
        if cursor and reads < 6:
            for root, up, down in data.draw(st.lists(votes, max_size=3)):
                vote(discussion, root, up, down)
                changed.add(root)

    kept = {root: thread for root, thread in threads.items() if root not in changed}
    assert {each: came[each] for thread in kept.values() for each in thread} == {
        each: 1 for thread in kept.values() for each in thread
    }
    for thread in kept.values():
        begun = sequence.index(thread[0])
        assert sequence[begun : begun + len(thread)] == thread
    still = entries(discussion)
    by_rank = sorted(kept, key=lambda root: (-still[root][KEYS[order]], still[root]["seq"]))
    assert [each for each in sequence if each in kept] == by_rank
    assert reads <= 40


def _some_threads(
    discussion: Discussion, layout: Layout, data: st.DataObject
) -> dict[str, list[str]]:
    """Return the comments of some threads, by their roots and depth-first."""
    threads: dict[str, list[str]] = {}
    for _ in range(data.draw(st.integers(1, 5))):
        root = discussion.post("root")["id"]
        replies = data.draw(st.integers(0, 4)) if layout.threaded else 0
        threads[root] = [root, *(discussion.post("reply", root)["id"] for _ in range(replies))]
    return threads


def test_own_waiting_comments_come_beside_the_first_page(runtime: Runtime, layout: Layout) -> None:
    discussion = Discussion.make(runtime, layout)
    waiting = discussion.post("waits", by="bob")["id"]
    discussion.post("of ann")
    discussion.post("of ann, too")
    discussion.set_state(waiting, "pending")

    own, others = discussion.page("best", 1, by="bob"), discussion.page("best", 1, by="ann")
    second = discussion.page("best", 1, own["next"], by="bob")

    assert [ids(page["waiting"]) for page in (own, others, second)] == [[waiting], [], []]
    assert [each["text"] for each in own["comments"]] == ["of ann"]


@pytest.mark.parametrize("other", ["top", "newest"])
def test_a_cursor_belongs_to_its_order(discussion: Discussion, other: Any) -> None:
    for text in "ab":
        discussion.post(text)
    page = discussion.page("best", 1)

    with pytest.raises(InvalidCursor):
        discussion.page(other, 1, page["next"])


def test_a_cursor_belongs_to_its_node(runtime: Runtime, layout: Layout) -> None:
    one, other = (Discussion.make(runtime, layout, name) for name in ("one", "other"))
    for text in "ab":
        one.post(text)
    cursor = one.page("best", 1)["next"]

    with pytest.raises(InvalidCursor):
        other.page("best", 1, cursor)


def test_a_tombstone_ranks_last_with_its_thread(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    deleted, kept = discussion.post("deleted")["id"], discussion.post("kept")["id"]
    reply = discussion.post("reply", deleted)["id"]
    vote(discussion, deleted, up=99)
    vote(discussion, kept, up=1)

    discussion.delete(deleted)

    assert walked(discussion, "best", 50) == [kept, deleted, reply]


def test_a_node_whose_comments_all_wait_has_an_empty_page(discussion: Discussion) -> None:
    discussion.set_state(discussion.post("waits")["id"], "pending")

    page = discussion.page("best", 10)

    assert (page["comments"], page["next"]) == ([], None)


def test_a_page_around_a_comment_has_an_order_by_time(discussion: Discussion) -> None:
    made = [discussion.post(text)["id"] for text in "abc"]
    nodes = discussion.runtime.database["comments.node"]
    nodes.update_many({}, {"$set": {"order": "best"}})

    page = discussion.page(None, 3, around=made[1])  # type: ignore[arg-type]

    assert (ids(page["comments"]), page["order"]) == (made, "oldest")
    assert discussion.page(None, 3)["order"] == "best"  # type: ignore[arg-type]

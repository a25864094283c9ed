"""How often a call goes to the database, in every store."""

from chalicelib.comments import nodes
from chalicelib.comments.discussion import reading
from chalicelib.comments.discussion.tags import Held
from chalicelib.comments.forms import CommentsQuery
from chalicelib.comments.shapes import CommentPlace
from chalicelib.comments.store import Order
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.support.commands import Commands

ORDERS: tuple[Order, ...] = ("oldest", "newest")


def test_a_page_takes_at_most_two_round_trips_whatever_its_depth(
    listened: Runtime, layout: Layout, commands: Commands
) -> None:
    discussion = Discussion.make(listened, layout)
    parent = None
    for number in range(220):
        posted = discussion.post(str(number), parent)
        parent = posted["id"] if layout.threaded and number % 4 else None

    for order in ORDERS:
        discussion.page(order)
        for limit in (1, 50, 200):
            commands.names.clear()
            page = discussion.page(order, limit)
            # Documents come with their node: test_guesses.
            assert len(commands.names) == (1 if layout.store == "documents" else 2)
            commands.names.clear()
            discussion.page(order, limit, page["next"])
            assert len(commands.names) == 2


def test_a_ranked_page_takes_one_more_for_its_entries(
    listened: Runtime, layout: Layout, commands: Commands
) -> None:
    discussion = Discussion.make(listened, layout)
    for number in range(40):
        root = discussion.post(str(number))["id"]
        for _ in range(number % 3 if layout.threaded else 0):
            discussion.post("reply", root)
    discussion.page("best")

    for limit in (5, 20):
        commands.names.clear()
        page = discussion.page("best", limit)
        assert commands.names == ["find"] * 3
        commands.names.clear()
        discussion.page("best", limit, page["next"])
        assert commands.names == ["find"] * 3


def test_a_page_that_is_held_takes_one(
    listened: Runtime, layout: Layout, commands: Commands
) -> None:
    discussion = Discussion.make(listened, layout)
    root = discussion.post("root")["id"]
    query, place = CommentsQuery(), CommentPlace(discussion.node_id, root)
    page = reading.list_comments(listened, discussion.node_id, query, None)
    thread = reading.list_thread(listened, place, query, None)

    commands.names.clear()
    assert (
        reading.list_comments(listened, discussion.node_id, query, None, Held([page.tag])).body
        is None
    )
    assert reading.list_thread(listened, place, query, None, [thread.tag]).body is None

    assert commands.names == ["find", "find"]


def test_a_post_takes_at_most_six_round_trips(
    listened: Runtime, layout: Layout, commands: Commands
) -> None:
    discussion = Discussion.make(listened, layout)
    root = discussion.post("root")["id"]

    commands.names.clear()
    discussion.post("reply", root if layout.threaded else None)

    assert len(commands.names) <= 6


def test_counts_of_many_nodes_take_one(listened: Runtime, commands: Commands) -> None:
    for number in range(5):
        layout = Layout("documents", threaded=True)
        Discussion.make(listened, layout, f"page-{number}").post("x")

    commands.names.clear()
    counts = nodes.visible_counts(listened.database, [f"page-{n}" for n in range(7)])

    assert counts == {**{f"page-{n}": 1 for n in range(5)}, "page-5": 0, "page-6": 0}
    assert len(commands.names) == 1

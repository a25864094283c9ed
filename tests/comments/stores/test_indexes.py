"""Every hot query of every store reads about what it returns, in order, by an index.

The site has 20,000 comments: one large discussion among many small ones, in every store.
"""

import dataclasses
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import pytest
from pymongo.database import Database

from bench.discussions import made_up, seed_node
from chalicelib.comments import nodes
from chalicelib.comments.entries import marked, ranking, upkeep
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.forms import PendingQuery
from chalicelib.comments.moderation import queue
from chalicelib.comments.shapes import Node, RankedOrder
from chalicelib.comments.store import Order, Page, Root, Viewer, position
from chalicelib.comments.stores import collected, promotion, store_of
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS, DocumentStore
from chalicelib.database import Document, open_database
from chalicelib.database.migration import migrate
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.wiring import schema
from tests.comments.support.discussion import LAYOUTS, Layout

SITE_COMMENTS = 20_000
LARGE, SMALL = 2_000, 40
LIMIT = 50
ORDERS: tuple[Order, ...] = ("oldest", "newest")
VIEWERS = {
    "anyone": Viewer(),
    "author": Viewer("ann"),
    "moderator": Viewer("mo", moderator=True),
}


@pytest.fixture(scope="module")
def site(mongo_client: Any) -> Iterator[Database[Document]]:
    """A database with 20,000 comments, shared by this module's tests."""
    database = open_database(mongo_client, "plaza-test-indexes")
    mongo_client.drop_database(database.name)
    migrate(database, schema.COLLECTIONS)
    yield database
    mongo_client.drop_database(database.name)


@pytest.fixture
def seeded(runtime: Runtime, site: Database[Document]) -> Runtime:
    there = dataclasses.replace(runtime, database=site)
    if nodes.NODES.of(site).find_one() is None:
        seed(there)
    return there


def seed(runtime: Runtime) -> None:
    """Nine of ten comments wait for a moderator."""
    left = SITE_COMMENTS
    for number in itertools.count():
        layout = LAYOUTS[number % len(LAYOUTS)]
        large = 900 if layout.store == "embedded" else LARGE
        size = min(left, large if number < len(LAYOUTS) else SMALL)
        there = dataclasses.asdict(layout)
        seed_node(runtime, name(layout, number), size, visible_of_ten=1, **there)
        left -= size
        if not left:
            break


def name(layout: Layout, number: int) -> str:
    return f"{layout}-{number}"


def large_node(runtime: Runtime, layout: Layout) -> Node:
    return nodes.find(runtime.database, name(layout, LAYOUTS.index(layout)))


class Explained:
    """Explains every find and update that a piece of code sends, instead of trusting it."""

    def __init__(self, database: Database[Document], feature: str = "comments") -> None:
        self.database, self._feature = database, feature
        database.command("profile", 0)
        database["system.profile"].drop()

    def __enter__(self) -> Self:
        self.database.command("profile", 2)
        return self

    def __exit__(self, *_: object) -> None:
        self.database.command("profile", 0)

    @property
    def queries(self) -> list[Document]:
        where = {
            "ns": {"$regex": rf"\.{self._feature}\."},
            "op": {"$in": ["query", "update", "command"]},
        }
        return list(self.database["system.profile"].find(where))


def check(explained: Explained, returned: int) -> None:
    """Assert that each query used an index, sorted by it, and read little beyond the answer."""
    queries = explained.queries
    assert queries
    for query in queries:
        plan = query["planSummary"]
        assert "COLLSCAN" not in plan, query
        assert not query.get("hasSortStage"), plan
        # A merge of a few ranges reads one key beyond in each of them.
        assert query.get("keysExamined", 0) <= returned + 8, (plan, query["keysExamined"])
        assert query.get("docsExamined", 0) <= returned + 8, (plan, query["docsExamined"])
        carries_the_shard_key(query)


def carries_the_shard_key(query: Document) -> None:
    """Assert that a query names what routes it: the node, or the key of the queue."""
    collection = query["ns"].partition(".")[2]
    key = next(c.shard_key for c in schema.COLLECTIONS if c.name == collection)
    first = next(iter(key))
    command = query["command"]
    conditions = command.get("filter") or command.get("q") or command.get("query")
    branches = conditions.get("$or") or conditions.get("$and") or [conditions]
    for branch in branches if "$or" in conditions else [conditions]:
        flat = {**branch, **{k: v for part in branch.get("$and", []) for k, v in part.items()}}
        assert first in flat, conditions
    assert branches


@pytest.mark.parametrize("viewer", VIEWERS.values(), ids=VIEWERS.keys())
@pytest.mark.parametrize("order", ORDERS)
def test_a_page_reads_what_it_returns(
    seeded: Runtime, layout: Layout, order: Order, viewer: Viewer
) -> None:
    node = large_node(seeded, layout)
    store = store_of(seeded, node)
    after = None
    for _ in range(3):
        with Explained(seeded.database) as explained:
            page = store.page(node, Page(order, LIMIT, after, viewer))
        check(explained, LIMIT if layout.store == "documents" else 30)
        if len(page) < LIMIT:
            break
        after = position(node, page[-1])
        with Explained(seeded.database) as explained:
            before = store.page(node, Page(order, LIMIT, after, viewer, backwards=True))
        check(explained, LIMIT if layout.store == "documents" else 30)
        assert before == page[-2::-1] or len(before) == LIMIT


@pytest.mark.parametrize("layout", LAYOUTS[:2], ids=str)
@pytest.mark.parametrize("order", ORDERS)
def test_a_guests_page_with_its_node_reads_what_it_returns(
    seeded: Runtime, layout: Layout, order: Order
) -> None:
    """No hint names its index, and the server keeps a plan that it tried on a small node."""
    large = large_node(seeded, layout)
    number = LAYOUTS.index(layout) + len(LAYOUTS)
    small = nodes.find(seeded.database, name(layout, number))
    for node in (small, small, small, large, large, small, large):
        with Explained(seeded.database) as explained:
            found, page = DocumentStore(seeded.database).first_page(
                node, Page(order, LIMIT, None, Viewer())
            )
        assert found == node
        assert page == store_of(seeded, node).page(node, Page(order, LIMIT, None, Viewer()))
        (query,) = explained.queries
        assert not query.get("hasSortStage"), query
        assert query["docsExamined"] <= len(page) + 1
        assert query["keysExamined"] <= len(page) + 8
        # Of the comments as well.
        assert query["docsExamined"] > 1


@pytest.mark.parametrize("threaded", [False, True], ids=["flat", "threaded"])
@pytest.mark.parametrize("order", ORDERS)
def test_if_few_are_pending_the_server_does_not_plan_each_range_by_itself(
    runtime: Runtime, *, order: Order, threaded: bool
) -> None:
    node = seed_node(
        runtime, "few-pending", 200, store="documents", threaded=threaded, visible_of_ten=9
    )
    after = None
    for _ in range(2):
        with Explained(runtime.database) as explained:
            page = store_of(runtime, node).page(node, Page(order, LIMIT, after, Viewer("zoe")))
        (query,) = explained.queries
        assert query["execStats"]["stage"] != "SUBPLAN"
        check(explained, LIMIT + node["counts"]["pending"])
        after = position(node, page[-1])


@pytest.mark.parametrize("order", ["best", "top", "controversial"])
def test_a_ranked_page_reads_what_it_returns(
    seeded: Runtime, layout: Layout, order: RankedOrder
) -> None:
    node = large_node(seeded, layout)
    upkeep.compare_node(seeded, node)
    store, after = store_of(seeded, node), None
    for _ in range(2):
        with Explained(seeded.database) as explained:
            page = ranking.RootsPage(node, order, after, LIMIT // 2)
            roots = ranking.roots(seeded.database, page)
        check(explained, LIMIT // 2)
        after = (roots[-1].key, roots[-1].seq)
    with Explained(seeded.database) as explained:
        found = store.gather(node, [Root(each.id, each.seq) for each in roots], Viewer())
    (query,) = explained.queries
    assert not query.get("hasSortStage")
    carries_the_shard_key(query)
    assert found
    if layout.store == "documents":
        # Two states of each root, and the key at which each range ends.
        assert query["keysExamined"] <= 4 * LIMIT + 5 + len(found)
        assert query["docsExamined"] <= len(found)


def test_a_page_of_what_is_featured_reads_what_it_returns(seeded: Runtime, layout: Layout) -> None:
    node, rows = large_node(seeded, layout), ENTRIES.of(seeded.database)
    upkeep.compare_node(seeded, node)
    some = {"site": node["site"], "node_id": node["_id"], "state": "visible"}
    since = datetime(2026, 3, 1, tzinfo=UTC)
    for number, entry in enumerate(rows.find(some, {"site": 1, "id": 1}).limit(60)):
        at = since + timedelta(minutes=number // 3)
        rows.update_one({"_id": entry["_id"], "site": entry["site"]}, {"$set": {"featured": at}})
    after = None
    for _ in range(3):
        with Explained(seeded.database) as explained:
            found = ranking.featured_comments(seeded.database, node, after, LIMIT // 3)
        check(explained, LIMIT // 3)
        assert len(found) == LIMIT // 3
        after = (found[-1].since, found[-1].seq)
    with Explained(seeded.database) as explained:
        read = store_of(seeded, node).get_many(node, [each.id for each in found])
    (query,) = explained.queries
    carries_the_shard_key(query)
    assert "COLLSCAN" not in query["planSummary"]
    assert query["keysExamined"] <= 4 * len(found) + 5
    assert len(read) == len(found)


@pytest.mark.parametrize("layout", [each for each in LAYOUTS if each.store != "embedded"], ids=str)
def test_a_few_comments_are_read_by_their_ids_after_a_read_of_many(
    seeded: Runtime, layout: Layout
) -> None:
    """The server keeps the plan of the newest comments, for which an order's index does as well."""
    node, store = large_node(seeded, layout), store_of(seeded, large_node(seeded, layout))
    upkeep.compare_node(seeded, node)
    where = {"site": node["site"], "node_id": node["_id"], "depth": 0, "state": "pending"}
    rows = list(ENTRIES.of(seeded.database).find(where, {"id": 1, "seq": 1}).sort("seq", -1))
    roots = [Root(row["id"], row["seq"]) for row in rows]

    def by_id(some: list[Root]) -> int:
        return len(store.get_many(node, [each.id for each in some]))

    def of_nodes(some: list[Root]) -> int:
        wanted = {node["_id"]: [each.id for each in some]}
        return len(collected.collect(seeded.database, [node], wanted))

    def of_roots(some: list[Root]) -> int:
        return len(store.gather(node, some, Viewer("mo", moderator=True)))

    for read in (by_id, of_nodes, of_roots):
        for collection in (COMMENTS, PAGES):
            seeded.database.command("planCacheClear", collection.name)
        for some in (roots[:500], roots[:500], roots[:5]):
            with Explained(seeded.database) as explained:
                found = read(some)
        query = explained.queries[-1]
        assert found >= 5
        assert not query.get("replanned"), read.__name__
        assert query["keysExamined"] <= 4 * found + 5, read.__name__


def test_the_marks_of_a_page_are_read_by_their_ids(seeded: Runtime, layout: Layout) -> None:
    node = large_node(seeded, layout)
    upkeep.compare_node(seeded, node)
    where = {"site": node["site"], "node_id": node["_id"]}
    ids = [row["id"] for row in ENTRIES.of(seeded.database).find(where, {"id": 1}).limit(LIMIT)]
    for user_id in (None, "ann"):
        with Explained(seeded.database) as explained:
            found = marked.read(seeded.database, node, ids, user_id)
        (query,) = explained.queries
        assert "COLLSCAN" not in query["planSummary"]
        assert not query.get("hasSortStage")
        assert query["keysExamined"] <= 4 * LIMIT + 5
        assert query["docsExamined"] <= LIMIT
        assert len(found.counts) == LIMIT


def test_a_permalink_reads_one_document(seeded: Runtime, layout: Layout) -> None:
    node = large_node(seeded, layout)
    store = store_of(seeded, node)
    (some,) = store.page(node, Page("newest", 1, None, Viewer()))
    with Explained(seeded.database) as explained:
        assert store.get(node, some["id"])
    check(explained, 1)


def test_a_thread_reads_what_it_returns(seeded: Runtime, layout: Layout) -> None:
    node = large_node(seeded, layout)
    store = store_of(seeded, node)
    (root,) = store.page(node, Page("newest", 1, None, Viewer()))
    for viewer in VIEWERS.values():
        with Explained(seeded.database) as explained:
            thread = store.thread(node, root["full_slug"], Page("oldest", LIMIT, None, viewer))
        # A flat node has no threads: the other stores ask nothing more than the comment itself.
        if layout.threaded or layout.store == "documents":
            check(explained, len(thread))


@pytest.mark.parametrize("threaded", [False, True], ids=["flat", "threaded"])
def test_a_thread_reads_what_it_returns_if_few_are_pending(
    runtime: Runtime, *, threaded: bool
) -> None:
    node = seed_node(
        runtime, "few-pending", 200, store="documents", threaded=threaded, visible_of_ten=9
    )
    store = store_of(runtime, node)
    (root,) = store.page(node, Page("newest", 1, None, Viewer()))
    for viewer in VIEWERS.values():
        with Explained(runtime.database) as explained:
            thread = store.thread(node, root["full_slug"], Page("oldest", LIMIT, None, viewer))
        check(explained, len(thread))


def test_a_post_and_a_change_touch_what_they_write(seeded: Runtime, layout: Layout) -> None:
    node = large_node(seeded, layout)
    store = store_of(seeded, node)
    ((comment,),) = made_up(1, threaded=False)
    comment |= {"id": "zzzzzzzzzz", "seq": node["last_seq"] + 1}
    with Explained(seeded.database) as explained:
        store.add(node, comment)
        store.change(node, comment["id"], {"state": "hidden"}, {})
        nodes.count(seeded.database, node, {"counts.visible": 0})
    check(explained, 1)


def test_the_queues_and_sweeps_read_what_they_return(seeded: Runtime) -> None:
    database = seeded.database
    for number in range(200):
        site = "blog" if number % 2 else "shop"
        ((comment,),) = made_up(1, threaded=False)
        comment["state"] = "pending"
        queue.settle(database, nodes.new_node(f"n{number}", site), comment)
        if number % 4 > 1:
            comment["reasons"] = ["flagged"]
        entries.settle(database, nodes.new_node(f"n{number}", site), comment)
    mia = Principal("mia", "Mia", frozenset({"moderator"}), sites=frozenset({"shop"}))
    with Explained(database) as explained:
        page = queue.list_pending(seeded, PendingQuery(limit=20), mia)
        queue.list_pending(seeded, PendingQuery(limit=20, cursor=page["next"]), mia)
        nodes.visible_counts(database, [name(layout, n) for n, layout in enumerate(LAYOUTS)])
    check(explained, 21)
    ada = Principal("ada", "Ada", frozenset({"admin"}))
    for reader, one in ((mia, None), (mia, "shop"), (ada, "shop")):
        for name_of_queue in ("pending", "flagged"):
            asked = PendingQuery(limit=20, queue=name_of_queue, site=one)
            with Explained(database) as explained:
                first = queue.list_pending(seeded, asked, reader)
                asked = asked.model_copy(update={"cursor": first["next"]})
                assert queue.list_pending(seeded, asked, reader)["comments"]
            check(explained, 21)
    with Explained(database) as explained:
        promotion.sweep(seeded)
    assert all("COLLSCAN" not in query["planSummary"] for query in explained.queries)

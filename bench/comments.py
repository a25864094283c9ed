"""Cost of a call on a discussion, in every store and size.

The floor of a call is its own reads and writes, sent by the driver with nothing around them:
the node, then the same comments as the store keeps them.
"""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import get_args

from bench import searching
from bench.calls import AppCalls, Caller, HttpCalls
from bench.case import Case, Work
from bench.discussions import made_up, seed_node
from bench.raw_comments import RAW, RawDocuments
from bench.raw_node import LIMIT, TEXT, Bench
from bench.stage import Stage
from chalicelib.comments import nodes
from chalicelib.comments.discussion import reading
from chalicelib.comments.entries import upkeep
from chalicelib.comments.forms import CommentsQuery, NewComment
from chalicelib.comments.shapes import StoreName
from chalicelib.comments.store import Order
from chalicelib.comments.writing.post import post_comment
from chalicelib.identity import Principal

LAYOUTS: tuple[tuple[StoreName, bool, tuple[int, ...]], ...] = (
    ("documents", True, (100, 1_000, 10_000)),
    ("documents", False, (100, 1_000, 10_000)),
    # Beyond 1,000 comments a node is in another store; a few are left for the posts.
    ("embedded", True, (100, 300, 700)),
    ("embedded", False, (100, 300, 700)),
    ("buckets", False, (100, 1_000, 10_000)),
)
# Posts to an embedded node make it grow, so there are few of them.
POSTS_TO_EMBEDDED = 5
POSTS = 50
SITE_NODE_COMMENTS = 1_000


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the same page in sites of three sizes, searches, each store's calls, and the doors."""
    yield list(_sites(stage))
    yield list(searching.cases(stage))
    for store, threaded, sizes in LAYOUTS:
        yield [
            case
            for size in stage.sizes(*sizes)
            for case in _calls(stage, store, size, threaded=threaded)
        ]
    with stage.server() as url:
        yield list(_doors(stage, url))


def _sites(stage: Stage) -> Iterator[Case]:
    sizes = stage.sizes(1_000, 100_000) if stage.sizes_at_most else (1_000, 10_000, 100_000)
    for size in sizes:
        here = stage.with_database(f"site-{size}").runtime
        for number in range(size // SITE_NODE_COMMENTS):
            name = f"site-{number}"
            seed_node(here, name, SITE_NODE_COMMENTS, store="documents", threaded=True)
        bench = Bench(here, AppCalls(here), nodes.find(here.database, "site-0"))
        yield Case(
            "page of 50 in a site",
            bench.page("oldest"),
            RawDocuments(bench).page("oldest"),
            store="documents-threaded",
            size=size,
            unit="comments",
            growth_at_most=1.2,
        )


def _calls(stage: Stage, store: StoreName, size: int, *, threaded: bool) -> Iterator[Case]:
    runtime, calls = stage.runtime, AppCalls(stage.runtime)
    layout = f"{store}-{'threaded' if threaded else 'flat'}"
    # Nodes that are read do not grow by the posts of other cases.
    read, posted = (
        Bench(runtime, calls, seed_node(runtime, name, size, store=store, threaded=threaded))
        for name in (f"{layout}-{size}", f"{layout}-{size}-posts")
    )
    everything = list(itertools.chain.from_iterable(made_up(size, threaded=threaded)))
    middle = everything[size // 2 - 1]
    root = next(each for each in everything[size // 2 :] if each["depth"] == 0)
    raw, case = RAW[store](read), partial(Case, store=layout, size=size, unit="comments")
    bar = 2.0 if store == "documents" else None
    for order in get_args(Order):
        works = read.page(order), raw.page(order)
        yield case(f"page of 50, {order}", *works, ratio_at_most=bar)
    if store == "documents":
        guest = Bench(runtime, AppCalls(runtime, ""), read.node)
        works = guest.page("oldest"), RawDocuments(read).page_with_node("oldest")
        yield case("page of 50 for a guest", *works, ratio_at_most=bar)
    upkeep.compare_node(runtime, read.node)
    ranked = 1.7 if store == "documents" else None
    yield case("page of 50, best", read.page("best"), raw.ranked(), ratio_at_most=ranked)
    yield case("thread", read.one(root, "/thread"), raw.thread(root))
    yield case("permalink", read.one(middle), raw.get(middle))
    parent = middle if threaded else None
    yield case(
        "post",
        posted.post(parent),
        RAW[store](posted).post(parent),
        floor_is="the same reads and writes",
        ratio_at_most=1.5 if store == "documents" else None,
        samples_at_most=POSTS_TO_EMBEDDED if store == "embedded" else POSTS,
    )


def _doors(stage: Stage, url: str) -> Iterator[Case]:
    """Give a page and a post through each door, on a node of its own for each."""
    runtime = stage.runtime
    doors: dict[str, Caller] = {"app": AppCalls(runtime), "HTTP": HttpCalls(url, runtime)}
    for door, connections in (("function", 1), ("app", 1), ("HTTP", 1), ("HTTP", 8)):
        node = f"door-{door.lower()}-{connections}"
        seeded = seed_node(runtime, node, 1_000, store="documents", threaded=True)
        bench = Bench(runtime, doors.get(door, doors["app"]), seeded)
        works = (bench.page("oldest"), bench.post(None))
        if door == "function":
            works = _functions(bench)
        raw, case = RawDocuments(bench), partial(Case, door=door, connections=connections)
        yield case("page of 50, by door", works[0], raw.page("oldest"))
        yield case("post, by door", works[1], raw.post(None), floor_is="the same reads and writes")


def _functions(bench: Bench) -> tuple[Work, Work]:
    """Return what the views of a page and a post call."""
    runtime, node, ann = bench.runtime, bench.node["_id"], Principal("ann", "Ann")
    query = CommentsQuery(order="oldest", limit=LIMIT)
    new = NewComment(text=TEXT)
    return (
        lambda: reading.list_comments(runtime, node, query, ann),
        lambda: post_comment(runtime, node, new, ann),
    )

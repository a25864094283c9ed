"""What a call on a discussion costs, in every store and size, beside the raw driver.

The raw floor of a call is its own reads and writes, sent by the driver with nothing around
them: the node, then the same comments as the store keeps them.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from bench.discussions import made_up, seed_node
from bench.raw_comments import RAW, Bench, RawDocuments, Work
from bench.stack import Calls
from bench.timing import compare
from chalicelib.comments import nodes
from chalicelib.comments.store import StoreName
from chalicelib.runtime import Runtime

SAMPLES = 200
LAYOUTS: tuple[tuple[StoreName, bool, tuple[int, ...]], ...] = (
    ("documents", True, (100, 1_000, 10_000)),
    ("documents", False, (100, 1_000, 10_000)),
    # Beyond 1,000 comments a node is in another store; a few are left for the posts.
    ("embedded", True, (100, 700)),
    ("embedded", False, (100, 700)),
    ("buckets", False, (100, 1_000, 10_000)),
)


def measure(runtime: Runtime) -> list[dict[str, Any]]:
    """Return a row per store, size and call, and the page of 50 in two sizes of site."""
    calls = Calls(runtime)
    # The site first, while there is nothing else in the database.
    return [*_by_site(runtime, calls), *_by_store(runtime, calls)]


def _by_store(runtime: Runtime, calls: Calls) -> Iterator[dict[str, Any]]:
    for store, threaded, sizes in LAYOUTS:
        for size in sizes:
            name = f"{store}-{'threaded' if threaded else 'flat'}"
            node = seed_node(runtime, f"{name}-{size}", size, store=store, threaded=threaded)
            bench = Bench(runtime, calls, node)
            for call, (work, raw) in _works(bench, size).items():
                yield {
                    "layout": name,
                    "comments": size,
                    "call": call,
                    **compare(work, raw, SAMPLES),
                }


def _works(bench: Bench, size: int) -> dict[str, tuple[Work, Work]]:
    """Return each call with its raw floor; the posts come last, since they add comments."""
    threaded = bench.node["threaded"]
    everything = list(itertools.chain.from_iterable(made_up(size, threaded=threaded)))
    middle = everything[size // 2 - 1]
    root = next(c for c in everything[size // 2 :] if c["depth"] == 0)
    raw = RAW[bench.node["store"]](bench)
    return {
        "page of 50, oldest": (bench.page("oldest"), raw.page("oldest")),
        "page of 50, newest": (bench.page("newest"), raw.page("newest")),
        "thread": (bench.one(root, "/thread"), raw.thread(root)),
        "permalink": (bench.one(middle), raw.get(middle)),
        "post": (bench.post(middle if threaded else None), raw.post()),
    }


def _by_site(runtime: Runtime, calls: Calls) -> Iterator[dict[str, Any]]:
    """Measure the same page of 50 while the site around it grows to 100,000 comments."""
    number = 0
    for site in (1_000, 100_000):
        while number < site // 1_000:
            seed_node(runtime, f"site-{number}", 1_000, store="documents", threaded=True)
            number += 1
        bench = Bench(runtime, calls, nodes.find(runtime.database, "site-0"))
        works = bench.page("oldest"), RawDocuments(bench).page("oldest")
        label = {"layout": "documents-threaded", "comments": site, "call": "page of 50, in a site"}
        yield {**label, **compare(*works, SAMPLES)}

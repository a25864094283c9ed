"""What the social feed costs beside the raw driver: fan-out, the first page, comments, circling.

The floor of a fan-out is `insert_many(ordered=False)` of the same documents; that of a page
is its own reads, permission reads included, sent by the driver with nothing around them.
"""

import dataclasses
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.people import AUTHOR, READER, clear, seed_followed, seed_followers, seed_post
from bench.raw_social import RAW_PAGES, raw_items
from bench.stack import Calls
from bench.timing import compare
from chalicelib.queues import Message, Queues
from chalicelib.runtime import Runtime
from chalicelib.social import fan_out, graph, news, spreading
from chalicelib.social.fan_out import CHUNK_READERS
from chalicelib.social.posts import collection
from chalicelib.social.views import NewsDesign

Row = dict[str, Any]
POSTS, WARM_UP = 15, 3
SAMPLES = 200
PAGE = 25


def measure(runtime: Runtime) -> list[Row]:
    """Return a row for each thing measured, with its floor where it has one."""
    runtime = dataclasses.replace(runtime, queues=NoQueues(""))
    return [*_fan_outs(runtime), *_pages(runtime), *_spreads(runtime), *_circlings(runtime)]


class NoQueues(Queues):
    """Queues that forget: what they would carry is measured by itself."""

    def send(self, *_messages: Message) -> bool:
        """Say that the messages were taken."""
        return True


def _row(what: str, design: str, size: int, took: dict[str, float]) -> Row:
    empty = dict.fromkeys(("p50_ms", "raw_p50_ms", "ratio", "per_second", "raw_per_second"), "")
    return {"what": what, "design": design, "size": size, **empty, **_named(took)}


def _named(took: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in took.items() if "p99" not in name}


def _with_news(runtime: Runtime, design: NewsDesign) -> Runtime:
    return dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"news": design})
    )


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _fan_outs(runtime: Runtime) -> Iterator[Row]:
    """Measure chunk workers in turns with the raw insert of the same items."""
    designs: tuple[NewsDesign, ...] = ("references", "copies")
    for size in (1_000, 10_000):
        for design in designs:
            here = _with_news(runtime, design)
            clear(runtime)
            readers = seed_followers(runtime, size)
            ours, floor = [], []
            for _ in range(WARM_UP + POSTS):
                post = seed_post(here)
                ours.append(sum(_seconds(chunk) for chunk in _chunks(here, post["_id"], size)))
                floor.append(sum(_seconds(insert) for insert in raw_items(runtime, post, readers)))
            called, raw = (statistics.median(times[WARM_UP:]) for times in (ours, floor))
            rates = {"per_second": round(size / called), "raw_per_second": round(size / raw)}
            yield _row("fan-out", design, size, {**rates, "ratio": round(raw / called, 2)})


def _chunks(runtime: Runtime, post_id: str, size: int) -> list[Callable[[], None]]:
    """Plan a fan-out; return the work of its chunks."""
    fan_out.deliver(runtime, post_id)
    numbers = range((size + CHUNK_READERS) // CHUNK_READERS)
    planned = collection(runtime.database).find_one({"_id": post_id})
    assert planned is not None  # noqa: S101 - it was planned just now
    count = len(planned["fan_out"]["chunks"])

    def chunk(number: int) -> Callable[[], None]:
        return lambda: fan_out.deliver_chunk(runtime, post_id, number)

    return [chunk(number) for number in numbers[:count]]


def _pages(runtime: Runtime) -> Iterator[Row]:
    """Measure the first page of news of a reader who follows a hundred authors."""
    for design in ("references", "copies", "pull"):
        here = _with_news(runtime, design)
        clear(runtime)
        seed_followed(here, authors=100, posts_each=5)
        calls = Calls(here, READER)
        raw = RAW_PAGES[design](runtime, PAGE)
        took = compare(_first_page(calls), raw, SAMPLES)
        yield _row("first page of news", design, PAGE, took)


def _first_page(calls: Calls) -> Callable[[], object]:
    return lambda: calls("GET", "/users/me/news", {}, {"limit": str(PAGE)})


def _spreads(runtime: Runtime) -> Iterator[Row]:
    """Measure a comment's way to the copies of a post that 1,000 have."""
    for design in ("references", "copies"):
        here = _with_news(runtime, design)
        clear(runtime)
        readers = seed_followers(runtime, 1_000)
        post = seed_post(here)
        news.design(here).add([post], readers)
        times = sorted(_spread_once(here, post["_id"]) for _ in range(20))
        took = {"p50_ms": round(times[len(times) // 2] * 1_000, 2)}
        yield _row("a comment's spread", design, 1_000, took)


def _spread_once(runtime: Runtime, post_id: str) -> float:
    comment = {"id": "c", "by": {"id": AUTHOR, "name": "A"}, "ts": runtime.now(), "text": "So"}
    collection(runtime.database).update_one(
        {"_id": post_id}, {"$push": {"comments": comment}, "$inc": {"spread.version": 1}}
    )
    return _seconds(lambda: spreading.spread(runtime, post_id))


def _circlings(runtime: Runtime) -> Iterator[Row]:
    """Measure putting somebody into a circle who has so many followers already."""
    for store in ("embedded", "edges"):
        for size in (10, 1_000, 100_000):
            clear(runtime)
            seed_followers(runtime, size, store=store)
            seed_followed(runtime, authors=0, posts_each=0)
            times = sorted(_circle_once(runtime) for _ in range(20))
            took = {"p50_ms": round(times[len(times) // 2] * 1_000, 2)}
            yield _row("circling", store, size, took)


def _circle_once(runtime: Runtime) -> float:
    took = _seconds(lambda: graph.add_member(runtime, READER, "read", AUTHOR))
    graph.remove_member(runtime, READER, "read", AUTHOR)
    return took

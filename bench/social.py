"""Cost of the social feed: a post, its fan-out, the first page, a comment's propagation, circling.

The floor of a page is its own reads, permission reads included, sent by the driver with
nothing around them.
"""

import dataclasses
import itertools
from collections.abc import Iterator
from functools import partial
from typing import get_args

from bench import fan_out, polls, raw_changes
from bench.calls import AppCalls, Caller, HttpCalls
from bench.case import Case, Work
from bench.fan_out import PUSHED, with_news
from bench.people import (
    AUTHOR,
    READER,
    leave_to_readers,
    seed_followed,
    seed_followers,
    seed_post,
)
from bench.raw_social import RAW_PAGES
from bench.stage import Stage
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social.graph import memberships
from chalicelib.social.graph.store import StoreName
from chalicelib.social.posts.forms import COMMENTS_SHOWN
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.timelines import news, propagation
from chalicelib.social.timelines.view import NewsDesign

PAGE = 25
FOLLOWED, POSTS_EACH = 100, 5
POST = {
    "type": "status",
    "detail": {"text": "A post of a usual length, such as people write. " * 4},
    "circles": ["*public*"],
}


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield fan-outs, first pages, spreads, circlings, a vote, and a page through each door."""
    yield list(_published(stage))
    yield from fan_out.groups(stage)
    yield [*_pages(stage), *_above_the_line(stage)]
    yield list(_spreads(stage))
    yield list(_circlings(stage))
    yield [polls.vote(stage)]
    yield from _doors(stage)


def _published(stage: Stage) -> Iterator[Case]:
    """Give the publishing of a post by an author with this many followers, before any fan-out."""
    for size in stage.sizes(100, 1_000, 10_000):
        here = with_news(stage, f"publish-{size}", "references")
        seed_followers(here, size)
        yield Case(
            "post published",
            partial(AppCalls(here, AUTHOR), "POST", "/posts", {}, None, POST),
            raw_changes.publish(here, seed_post(here)["_id"]),
            floor_is="insert_one of such a post",
            store="references",
            size=size,
            unit="followers",
        )


def _pages(stage: Stage) -> Iterator[Case]:
    """Give the first page of news of a reader who follows this many authors."""
    for size, design in itertools.product(stage.sizes(10, 100, 500), get_args(NewsDesign)):
        here = with_news(stage, f"page-{design}-{size}", design)
        seed_followed(here, authors=size, posts_each=POSTS_EACH)
        yield Case(
            "first page of news",
            _first_page(AppCalls(here, READER)),
            RAW_PAGES[design](here, PAGE),
            store=design,
            size=size,
            unit="followed",
            ratio_at_most=2.0,
        )


def _above_the_line(stage: Stage) -> Iterator[Case]:
    """Give the first page of references of a reader some of whose followed are not pushed."""
    for size in stage.sizes(1, 10, 100):
        here = with_news(stage, f"above-{size}", "references")
        seed_followed(here, authors=FOLLOWED, posts_each=POSTS_EACH)
        leave_to_readers(here, size)
        yield Case(
            "first page of news, authors above the line",
            _first_page(AppCalls(here, READER)),
            RAW_PAGES["references"](here, PAGE),
            store="references",
            size=size,
            unit="of 100 followed",
            ratio_at_most=2.0,
        )


def _first_page(calls: Caller) -> Work:
    return lambda: calls("GET", "/users/me/news", {}, {"limit": str(PAGE)})


def _spreads(stage: Stage) -> Iterator[Case]:
    """Give the propagation of a comment to this many copies of a post."""
    for size, design in itertools.product(stage.sizes(10, 100, 1_000), PUSHED):
        here = with_news(stage, f"spread-{design}-{size}", design)
        post = seed_post(here)
        view = news.stored_design(here)
        assert view is not None  # noqa: S101 - those of PUSHED are
        view.add([post], seed_followers(here, size))
        yield Case(
            "a comment's spread",
            partial(propagation.propagate, here, post["_id"]),
            raw_changes.spread(here, post["_id"]),
            floor_is="the same read and updates",
            prepare=_commented(here, post["_id"]),
            prepare_floor=_commented(here, post["_id"]),
            store=design,
            size=size,
            unit="copies",
            door="function",
        )


def _commented(runtime: Runtime, post_id: str) -> Work:
    def comment() -> None:
        added = {"id": "c", "by": {"id": AUTHOR, "name": "A"}, "ts": runtime.now(), "text": "So"}
        newest = {"$each": [added], "$slice": -COMMENTS_SHOWN}
        POSTS.of(runtime.database).update_one(
            {"_id": post_id}, {"$push": {"comments": newest}, "$inc": {"spread.version": 1}}
        )

    return comment


def _unbounded(runtime: Runtime) -> Runtime:
    """Return a runtime whose embedded followers may grow beyond Plaza's bound."""
    social = dataclasses.replace(runtime.bounds.social, embedded_max=10**9)
    bounds = dataclasses.replace(runtime.bounds, social=social)
    return dataclasses.replace(runtime, bounds=bounds)


def _circlings(stage: Stage) -> Iterator[Case]:
    """Give the cost of circling a user who has this many followers already.

    The embedded store is measured beyond the size at which Plaza leaves it, to show why.
    """
    for size, store in itertools.product(stage.sizes(10, 1_000, 100_000), get_args(StoreName)):
        here = _unbounded(stage.with_database(f"circling-{store}-{size}").runtime)
        seed_followers(here, size, store=store)
        seed_followed(here, authors=0, posts_each=0)
        circle = (here, READER, "read", AUTHOR)
        yield Case(
            "circling",
            partial(memberships.add_member, *circle),
            raw_changes.circle(here, "read", store),
            floor_is="the same writes in a transaction",
            prepare=partial(memberships.remove_member, *circle),
            prepare_floor=partial(memberships.remove_member, *circle),
            store=store,
            size=size,
            unit="followers",
            door="function",
            samples_at_most=20,
        )


def _doors(stage: Stage) -> Iterator[list[Case]]:
    """Give the first page of references through each door."""
    here = stage.with_database("doors")
    runtime = here.runtime
    seed_followed(runtime, authors=FOLLOWED, posts_each=POSTS_EACH)
    query = PageQuery(limit=PAGE)
    raw = RAW_PAGES["references"](runtime, PAGE)
    with here.server() as url:
        case = partial(Case, "first page of news, by door", floor=raw)
        http = _first_page(HttpCalls(url, runtime, READER))
        yield [
            case(work=lambda: news.read(runtime, READER, query), door="function"),
            case(work=_first_page(AppCalls(runtime, READER))),
            case(work=http, door="HTTP"),
            case(work=http, door="HTTP", connections=8),
        ]

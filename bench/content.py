"""Cost of reading what a site publishes, beside the same reads sent by the driver alone."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from bench import searching
from bench.calls import AppCalls
from bench.case import Case, Work
from bench.pages import seed
from bench.stage import Stage
from chalicelib.content import settings, terms
from chalicelib.content.feeds import reading
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing.addresses import ADDRESSES
from chalicelib.content.reading import lists, pages
from chalicelib.content.reading.lists import PageList
from chalicelib.content.settings_forms import ContentSettings
from chalicelib.runtime import Runtime

# All pages have the first word; one has the second as well.
QUERIES = {"a frequent word": ["ferry"], "a frequent and a rare word": ["ferry", "501"]}
SITE, SLUG, NODE = "harbour", "news/7", f"page{7:012d}"
# Some 3 kB of text, and as much of HTML.
PARAGRAPHS = 60
LIST = 50
ORDER = [("published", -1), ("_id", -1)]
_NOT_MODIFIED = 304


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the calls of readers on sites of two sizes."""
    yield [
        case
        for size in stage.sizes(1_000, 20_000)
        for case in _calls(stage.with_database(f"content-{size}").runtime, size)
    ]


def _calls(runtime: Runtime, size: int) -> Iterator[Case]:
    seed(runtime, SITE, size, PARAGRAPHS)
    told = ContentSettings(title="The Harbour", base_url="https://harbour.example")
    site = settings.put(runtime, SITE, told)
    calls, raw, case = AppCalls(runtime), _Raw(runtime), partial(Case, size=size, unit="pages")
    items = site["feed_items"] + 1
    page = partial(calls, "GET", "/content/{site}/page", {"site": SITE}, {"address": SLUG})
    listed = partial(calls, "GET", "/content/{site}", {"site": SITE}, {"limit": str(LIST)})
    yield case("page by address", page, raw.page, floor_is="the same two reads", ratio_at_most=2.0)
    yield case("list of 50", listed, partial(raw.list, LIST + 1, lists.WITHOUT_TEXTS))
    for form in ("atom", "json"):
        path = f"/content/{{site}}/feed.{form}"
        feed = partial(calls, "GET", path, {"site": SITE})
        yield case(f"feed of 30, {form}", feed, partial(raw.list, items, reading.OF_FEED))
    yield case(
        "feed that has nothing new (304)",
        _poll(calls),
        partial(raw.list, items, reading.OF_TAG),
        floor_is="the same read, of an index alone",
        ratio_at_most=1.5,
    )
    for name, words in QUERIES.items():
        query = {"q": " ".join(words), "limit": str(searching.LIMIT)}
        yield case(
            f"search, {name}",
            partial(calls, "GET", "/content/{site}/search", {"site": SITE}, query),
            partial(raw.search, words),
            floor_is="the same reads",
            ratio_at_most=searching.AT_MOST,
            growth_at_most=searching.GROWTH_AT_MOST if words[1:] == [] else None,
        )
    tags = partial(calls, "GET", "/content/{site}/tags", {"site": SITE})
    yield case("tags with counts", tags, samples_at_most=20)


class _Raw:
    """The same reads with the driver alone."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def page(self) -> object:
        """Read an address and its page."""
        database = self._runtime.database
        address: Any = ADDRESSES.of(database).find_one({"_id": f"{SITE}:{SLUG}"})
        where = {"_id": address["node"], "site": SITE}
        return NODES.of(database).find_one(where, pages.WITHOUT_DRAFT)

    def list(self, most: int, fields: dict[str, int]) -> object:
        """Read the newest pages that are shown."""
        where = lists.where(PageList(SITE), self._runtime.now())
        rows = NODES.of(self._runtime.database).find(where, fields)
        return list(rows.sort(ORDER).limit(most))

    def search(self, words: Sequence[str]) -> object:
        """Read the rows of words, and their pages."""
        rows = searching.read_rows(self._runtime, terms.TERMS, SITE, words)
        where = {"site": SITE, "_id": {"$in": [row["_id"] for row in rows]}}
        return list(NODES.of(self._runtime.database).find(where, lists.WITHOUT_TEXTS))


def _poll(calls: AppCalls) -> Work:
    """Return a call of a feed of which the reader holds the tag."""
    event = calls.event("GET", "/content/{site}/feed.atom", {"site": SITE})
    answer = calls.send(event)
    tag = answer["headers"].get("ETag") or answer["multiValueHeaders"]["ETag"][0]
    event["headers"]["if-none-match"] = tag
    event["multiValueHeaders"]["if-none-match"] = [tag]

    def poll() -> None:
        if calls.send(event)["statusCode"] != _NOT_MODIFIED:
            raise AssertionError("the feed was answered again")

    return poll

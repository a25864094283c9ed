"""Cost at scale: a run's measured figures, a made-up town, and a table of prices.

`script/simulate RUN.json [--markdown FILE]` takes a full run of the bench and types no figure.
"""

import argparse
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench import page
from bench.__main__ import called_path
from bench.audience import FeedCosts, Town, fitted
from bench.figures import Figure, Run, load
from bench.prices import Cost, Prices, cost_of_million, read_prices, server_seconds
from bench.tables import run_table, table
from chalicelib.settings import Settings

LINES = (0, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
# Posts a day of each person, and pages of news for each post.
POSTS_A_DAY, PAGES_A_POST = 1.0, (1, 10, 100)
CALLS_A_DAY, PEAK = 1_000_000, 3
TIMES = (1, 100, 10_000)
SECONDS_A_DAY, HOURS_A_DAY, DAYS_A_MONTH = 86_400, 24, 365 / 12
REGIONS = ("run", "feed_costs", "followed", "line", "costs", "fixed", "traffic")
# Of a container at work to the primary, which is where a limit is reached first: two for its
# calls and one that watches it (docs/operations/database.md, "Connections").
CONNECTIONS_A_CONTAINER = 3
BATCH = 500


class MissingFigure(Exception):
    """The run lacks a figure that the simulation rests on; the message names it."""


@dataclass(frozen=True)
class Call:
    """A call of Plaza, the figure that says what it costs, and its share of the mixed day.

    One work of a worker serves `per` of them.
    """

    name: str
    part: str
    operation: str
    store: str
    size: int
    share: float
    messages: float = 0.0
    is_request: bool = True
    per: int = 1


CALLS = (
    Call(
        "a page of 50 comments",
        "comments",
        "page of 50, oldest",
        "documents-threaded",
        1_000,
        share=0.70,
    ),
    Call("a comment", "comments", "post", "documents-threaded", 1_000, share=0.01),
    Call("an ad decision", "ads", "warm decision, profile, keywords", "", 1_000, share=0.10),
    Call("a beacon", "ads_counting", "beacon", "", 20, share=0.10, messages=1),
    Call(
        "an event counted by the worker",
        "ads_counting",
        "worker's batch",
        "",
        BATCH,
        share=0.10,
        is_request=False,
        per=BATCH,
    ),
    Call("a page of news", "social", "first page of news", "references", 100, share=0.08),
    Call("a page of the activity feed", "activity", "first page of a feed", "", 10_000, share=0.0),
    Call("a post", "social", "post published", "references", 1_000, share=0.01, messages=1),
    Call(
        "a post brought to 1,000",
        "social",
        "fan-out",
        "references",
        1_000,
        share=0.01,
        is_request=False,
    ),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables of a run, and put them into a page where one is named."""
    parser = argparse.ArgumentParser(prog="script/simulate", description=__doc__)
    parser.add_argument("run", type=Path, help="a full run, as script/bench --json wrote it")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="fill a page's regions")
    given = parser.parse_args(arguments)
    content = functools.partial(section, load(called_path(given.run)), read_prices())
    for name in REGIONS:
        print(content(name), end="\n\n")
    if given.markdown:
        page.write(called_path(given.markdown), content)


def section(run: Run, prices: Prices, name: str) -> str:
    """Return one table; raises MissingFigure and page.UnknownRegion."""
    tables: dict[str, Callable[[], str]] = {
        "run": lambda: run_table(run),
        "feed_costs": lambda: _feed_costs_table(feed_costs(run)),
        "followed": lambda: _followed_table(feed_costs(run)),
        "line": lambda: _line_table(Town(), feed_costs(run)),
        "costs": lambda: _costs_table(run, prices),
        "fixed": lambda: _fixed_table(prices),
        "traffic": lambda: _traffic_table(run, prices),
    }
    if name not in tables:
        raise page.UnknownRegion(name)
    return tables[name]()


def find(run: Run, part: str, operation: str, store: str, size: int | None = None) -> list[Figure]:
    """Return the figures of an operation, by size; raises MissingFigure."""
    found = [
        each
        for each in run.figures
        if (each.part, each.operation, each.store) == (part, operation, store)
        and size in {None, each.size}
    ]
    if not found:
        raise MissingFigure(f"{part}: {operation}, {store}, {size or 'any size'}")
    return sorted(found, key=lambda each: each.size)


def feed_costs(run: Run) -> FeedCosts:
    """Fit what the simulation needs to the measured figures."""

    def points(operation: str, store: str) -> list[tuple[float, float]]:
        return [(each.size, each.p50_ms) for each in find(run, "social", operation, store)]

    push_ms, push_each_ms = fitted(points("fan-out", "references"))
    pull_ms, pull_each_ms = fitted(points("first page of news", "pull"))
    (page_figure,) = find(run, "social", "first page of news", "references", 100)
    above = points("first page of news, authors above the line", "references")
    with_above_ms, above_each_ms = fitted(above)
    return FeedCosts(
        push_ms=push_ms,
        push_each_ms=push_each_ms,
        page_ms=page_figure.p50_ms,
        above_ms=max(with_above_ms - page_figure.p50_ms, 0.0),
        above_each_ms=above_each_ms,
        pull_ms=pull_ms,
        pull_each_ms=pull_each_ms,
    )


def _feed_costs_table(costs: FeedCosts) -> str:
    rows = [
        ("a post pushed", f"{costs.push_ms:.2f}", f"{costs.push_each_ms * 1_000:.1f} a follower"),
        ("a page of what was pushed", f"{costs.page_ms:.2f}", ""),
        (
            "beside that, authors above the line",
            f"{costs.above_ms:.2f} if there are any",
            f"{costs.above_each_ms * 1_000:.1f} an author",
        ),
        ("a page by pull", f"{costs.pull_ms:.2f}", f"{costs.pull_each_ms * 1_000:.1f} a followed"),
    ]
    return table(("operation", "ms", "and µs"), rows)


def _followed_table(costs: FeedCosts) -> str:
    """Return what a page costs by how many are followed, and from when on pushing pays."""
    rows = []
    for followed in (10, 100, 500, 2_000):
        by_pull = costs.pull_ms + followed * costs.pull_each_ms
        saved = by_pull - costs.page_ms
        pages = f"{followed * costs.push_each_ms / saved:.2f}" if saved > 0 else "never"
        rows.append((f"{followed:,}", f"{costs.page_ms:.2f}", f"{by_pull:.2f}", pages))
    columns = ("followed", "page of what was pushed, ms", "page by pull, ms")
    return table((*columns, "pushing pays from so many pages for a post of each"), rows)


def _line_table(town: Town, costs: FeedCosts) -> str:
    """Return a day's work by where the line lies, beside push and pull alone."""
    default = Settings().pull_audience
    rows = []
    by_line = {
        line: [_hybrid(town, line, pages, costs) for pages in PAGES_A_POST]
        for line in (*LINES, math.inf)
    }
    least = [min(column) for column in zip(*by_line.values(), strict=True)]
    for line, days in by_line.items():
        pushed, ties = town.below(line)
        name = "push alone" if line == math.inf else f"line at {line:,}"
        cells = [_hours(day, best) for day, best in zip(days, least, strict=True)]
        mark = ", the default" if line == default else ""
        share = f"{(1 - ties / town.ties):.1%}"
        rows.append((name + mark, f"{len(town.followers) - pushed:,}", share, *cells))
    pull = [_hours(town.pull_ms(pages * POSTS_A_DAY, costs), math.inf) for pages in PAGES_A_POST]
    rows.append(("pull alone", "all", "100.0%", *pull))
    columns = [f"{pages} pages a post" for pages in PAGES_A_POST]
    return table(("design", "authors above", "of all ties", *columns), rows)


def _hybrid(town: Town, line: float, pages: int, costs: FeedCosts) -> float:
    return town.hybrid_ms(line, POSTS_A_DAY, pages * POSTS_A_DAY, costs)


def _hours(day_ms: float, least_ms: float) -> str:
    """Return a day's work in hours, the least of a column marked."""
    hours = f"{day_ms / 3_600_000:.2f} h"
    return f"**{hours}**" if day_ms == least_ms else hours


def _costs_table(run: Run, prices: Prices) -> str:
    """Return what a million of each call costs, in dollars."""
    rows = []
    for call in CALLS:
        cost = _cost(run, prices, call)
        by_use = (cost.api_gateway, cost.compute, cost.queues, cost.logs, cost.traffic)
        dollars = map(_dollars, (*by_use, cost.database, cost.total))
        rows.append((cost.name, f"{cost.duration_ms:.2f}", *dollars))
    columns = ("API Gateway", "Lambda", "SQS", "logs, traces", "traffic", "Atlas", "together")
    return table(("a million of", "ms in Lambda", *columns), rows)


def _dollars(amount: float) -> str:
    return f"{amount:.2f}" if amount == 0 or amount >= 0.01 else f"{amount:.4f}"  # noqa: PLR2004 - a cent


def _cost(run: Run, prices: Prices, call: Call) -> Cost:
    (figure,) = find(run, call.part, call.operation, call.store, call.size)
    of_all = cost_of_million(
        call.name, figure, prices, is_request=call.is_request, messages=call.messages
    )
    return replace(of_all.shared_by(call.per), name=call.name, queues=of_all.queues)


def _fixed_table(prices: Prices) -> str:
    """Return what a month costs before anybody calls."""
    smallest = prices.atlas.tiers[0]
    cluster = smallest.per_hour * HOURS_A_DAY * DAYS_A_MONTH
    rows = [
        (f"Atlas, {smallest.name}, the smallest cluster", f"{cluster:.2f}", "yes"),
        *(
            (each.name, f"{each.per_month:.2f}", "yes" if each.is_needed else "")
            for each in prices.fixed
        ),
    ]
    return table(("whatever the traffic", "$ a month", "always"), rows)


def _traffic_table(run: Run, prices: Prices) -> str:
    """Return the mixed day at each traffic: what it needs of each limit, and what it costs."""
    rows = []
    for times in TIMES:
        rate = CALLS_A_DAY * times / SECONDS_A_DAY * PEAK
        requests = rate * sum(call.share for call in CALLS if call.is_request)
        busy_ms, cores = 0.0, 0.0
        for call in CALLS:
            (figure,) = find(run, call.part, call.operation, call.store, call.size)
            busy_ms += rate * call.share * _cost(run, prices, call).duration_ms
            cores += rate * call.share / call.per * server_seconds(figure)
        containers = math.ceil(busy_ms / 1_000)
        cores /= prices.atlas.utilisation
        by_use = sum(_cost(run, prices, call).by_use * call.share for call in CALLS)
        by_use *= times * CALLS_A_DAY / 1_000_000
        connections = containers * CONNECTIONS_A_CONTAINER
        cluster, an_hour = _cluster(cores, connections, prices)
        rows.append(
            (
                f"{times:,}",
                f"{requests:,.0f} ({requests / prices.api_gateway.requests_per_second:.2f})",
                f"{containers:,} ({containers / prices.lambda_.concurrency:.2f})",
                f"{connections:,} ({connections / prices.atlas.tiers[0].connections:.2f})",
                f"{cores:,.1f} ({cores / prices.atlas.tiers[0].cores:.2f})",
                cluster,
                f"${by_use:,.2f}",
                f"${an_hour * HOURS_A_DAY:,.2f}",
            )
        )
    columns = ("requests a second", "containers", "connections", "cores of MongoDB")
    return table(("times", *columns, "cluster", "by use, a day", "cluster, a day"), rows)


def _cluster(cores: float, connections: int, prices: Prices) -> tuple[str, float]:
    """Return the smallest cluster with these cores and connections, and its hourly price."""
    for tier in prices.atlas.tiers:
        if cores <= tier.cores and connections <= tier.connections:
            return tier.name, tier.per_hour
    largest = prices.atlas.tiers[-1]
    shards = max(math.ceil(cores / largest.cores), math.ceil(connections / largest.connections))
    return f"{shards} shards of {largest.name}", shards * largest.per_hour


if __name__ == "__main__":
    main()

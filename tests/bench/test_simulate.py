import dataclasses
import math
from pathlib import Path

import pytest

from bench import simulate
from bench.audience import FeedCosts, Town, fitted
from bench.figures import Run
from bench.prices import cost_of_million, duration_ms, read_prices
from tests.bench.test_bench import figure, run_of

COSTS = FeedCosts(
    push_ms=2.0,
    push_each_ms=0.01,
    page_ms=1.5,
    above_ms=0.3,
    above_each_ms=0.02,
    pull_ms=1.0,
    pull_each_ms=0.005,
)


@pytest.fixture(scope="module")
def town() -> Town:
    return Town(authors=20_000)


def test_a_line_is_fitted_through_points_of_a_line() -> None:
    assert fitted([(10, 1.2), (100, 3.0), (1_000, 21.0)]) == pytest.approx((1.0, 0.02))


def test_a_fitted_cost_is_never_negative() -> None:
    assert fitted([(10, 2.0), (1_000, 1.0)])[1] == 0.0


def test_the_town_has_a_long_tail_and_is_the_same_every_time(town: Town) -> None:
    assert town.followers == Town(authors=20_000).followers
    largest_hundredth = sum(town.followers[-200:])
    assert largest_hundredth > town.ties / 4


def test_a_line_at_infinity_is_push_alone(town: Town) -> None:
    everybody, ties = len(town.followers), town.ties

    day = town.hybrid_ms(math.inf, 1.0, 10.0, COSTS)

    assert day == pytest.approx(everybody * (2.0 + 10 * 1.5) + ties * 0.01)


def test_a_line_at_zero_writes_nothing(town: Town) -> None:
    day = town.hybrid_ms(0, 5.0, 1.0, COSTS)

    each = 1.5 + 0.3 + town.followed * 0.02
    assert day == pytest.approx(len(town.followers) * each)


def test_more_posts_make_a_lower_line_cheaper_and_more_pages_a_higher_one(town: Town) -> None:
    assert town.hybrid_ms(100, 50, 1, COSTS) < town.hybrid_ms(math.inf, 50, 1, COSTS)
    assert town.hybrid_ms(100, 1, 500, COSTS) > town.hybrid_ms(math.inf, 1, 500, COSTS)


def test_a_million_calls_cost_what_their_time_trips_and_messages_do() -> None:
    prices = read_prices()
    read = figure(10)

    cost = cost_of_million("read", read, prices, messages=1)

    slower = prices.lambda_.core_memory_mb / prices.lambda_.memory_mb
    assert duration_ms(read, prices) == pytest.approx(
        read.p50_ms * slower + 2 * prices.atlas.round_trip_ms
    )
    assert cost.duration_ms == duration_ms(read, prices) + prices.sqs.send_ms
    assert cost.queues == pytest.approx(1.2 * prices.sqs.per_million_requests)
    assert cost.api_gateway == prices.api_gateway.per_million_requests
    assert cost.total > cost.api_gateway


def test_a_long_answer_is_compressed_on_its_way_out_and_a_short_one_is_not() -> None:
    prices = read_prices()
    short, long = (
        cost_of_million("read", dataclasses.replace(figure(10), answer_bytes=length), prices)
        for length in (1_000, 10_000)
    )

    a_kilobyte = prices.traffic.per_gb
    headers = prices.traffic.header_bytes / 1_000 * a_kilobyte
    assert short.traffic == pytest.approx(headers + a_kilobyte)
    assert long.traffic == pytest.approx(headers + 10 * prices.traffic.compressed_to * a_kilobyte)


def test_a_workers_batch_is_shared_by_its_events() -> None:
    cost = cost_of_million("batch", figure(10), read_prices(), is_request=False)

    assert cost.shared_by(500).total == pytest.approx(cost.total / 500)


def whole_run() -> Run:
    """A run with a figure for all that the simulation asks for."""
    sizes = {
        ("social", "fan-out", "references"): (100, 1_000, 10_000),
        ("social", "first page of news", "references"): (10, 100, 500),
        ("social", "first page of news", "pull"): (10, 100, 500),
        ("social", "first page of news, authors above the line", "references"): (1, 10, 100),
    }
    wanted = {(call.part, call.operation, call.store): (call.size,) for call in simulate.CALLS}
    return run_of(
        *(
            dataclasses.replace(
                figure(size),
                part=part,
                operation=name,
                store=store,
                p50_ms=1 + size / 100,
                floor_p50_ms=1.0,
            )
            for (part, name, store), some in (wanted | sizes).items()
            for size in some
        )
    )


@pytest.mark.parametrize("name", simulate.REGIONS)
def test_every_region_of_the_page_is_made_from_a_run(name: str) -> None:
    scale = (Path(simulate.__file__).parents[1] / "docs" / "scale.md").read_text()

    made = simulate.section(whole_run(), read_prices(), name)

    assert made.startswith("|")
    assert f"<!-- bench: {name} -->" in scale


def test_the_traffic_costs_in_proportion_and_outgrows_a_cluster() -> None:
    rows = simulate.section(whole_run(), read_prices(), "traffic").splitlines()[2:]

    days = [float(row.split("$")[1].split(" ")[0].replace(",", "")) for row in rows]
    clusters = [float(row.split("$")[2].split(" ")[0].replace(",", "")) for row in rows]

    assert days[1] == pytest.approx(days[0] * 100, rel=0.01)
    assert clusters[0] == pytest.approx(read_prices().atlas.tiers[0].per_hour * 24)
    assert clusters == sorted(clusters)
    assert "shards of" in rows[2]


def test_a_run_that_lacks_a_figure_is_refused_by_its_name() -> None:
    run = whole_run()
    lacking = dataclasses.replace(
        run, figures=[each for each in run.figures if each.part != "ads_counting"]
    )

    with pytest.raises(simulate.MissingFigure, match="ads_counting: beacon"):
        simulate.section(lacking, read_prices(), "costs")

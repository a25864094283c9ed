import contextlib
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

import bench.__main__ as bench_main
from bench import charts, comparison, page, rounds, tables
from bench.__main__ import main
from bench.case import Case
from bench.commands import Asked
from bench.figures import Figure, Round, Run, bars, compared, growths, load, save
from bench.rounds import Effort, joined, measure

pytestmark = pytest.mark.processes

QUICKLY = Effort(visits=1, rounds=7, seconds=0.002)
TWO_TRIPS = Asked(2, {"find post {author}": 2})


def measured(*cases: Case, visits: int = 1) -> list[Figure]:
    each = [measure(cases, QUICKLY, lambda _: None, lambda _: TWO_TRIPS) for _ in range(visits)]
    return [rounds.figure("a part", one) for one in joined(each)]


def figure(size: int = 10, *p50_ms: float, floor_ms: float = 1.0, **changed: object) -> Figure:
    (found,) = measured(Case("reading", lambda: None, lambda: None, size=size, unit="rows"))
    rounds = [Round(each, floor_ms) for each in p50_ms or (1.5,)]
    return replace(found, rounds=rounds, **changed)  # type: ignore[arg-type]


def run_of(*figures: Figure) -> Run:
    return Run(
        started="2026-03-01T12:00:00+00:00",
        commit="0123456789",
        is_quick=False,
        seconds=1.0,
        machine={"cores": "2"},
        figures=list(figures),
    )


class Watch:
    """Time that passes only while something works."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def perf_counter(self) -> float:
        return self.seconds

    def taking(self, milliseconds: float) -> Callable[[], None]:
        def work() -> None:
            self.seconds += milliseconds / 1_000

        return work


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(rounds, "time", watch)
    return watch


def test_a_call_that_takes_three_times_its_floor_has_a_ratio_of_three(watch: Watch) -> None:
    (found,) = measured(Case("work", watch.taking(0.6), watch.taking(0.2)))

    assert found.ratios == pytest.approx([3] * QUICKLY.rounds)
    assert (found.p50_ms, found.floor_p50_ms) == pytest.approx((0.6, 0.2))


def test_a_ratio_is_the_median_of_what_each_call_takes_beside_its_floors(watch: Watch) -> None:
    pairs = itertools.cycle([(3, 1), (20, 10), (30, 10)])
    times = itertools.chain.from_iterable(pairs)
    # The floor is first in each second pair.
    both = {"call": 0.0, "floor": 0.0}
    numbers = itertools.count()

    def take(side: str) -> None:
        if next(numbers) % 2 == 0:
            both["call"], both["floor"] = next(times), next(times)
        watch.taking(both[side])()

    (found,) = measured(
        Case("work", lambda: take("call"), lambda: take("floor"), samples_at_most=3)
    )

    assert (found.p50_ms, found.floor_p50_ms) == pytest.approx((20, 10))
    assert found.ratio == pytest.approx(3)


def test_the_rounds_of_two_visits_are_joined(watch: Watch) -> None:
    (found,) = measured(Case("work", watch.taking(0.6), watch.taking(0.2)), visits=2)

    assert len(found.rounds) == 2 * QUICKLY.rounds
    assert found.round_trips == 2


def test_a_slow_call_among_a_hundred_is_the_99th_percentile(watch: Watch) -> None:
    numbers = itertools.count()

    def work() -> None:
        watch.taking(50 if next(numbers) % 50 == 0 else 0.1)()

    (found,) = measured(Case("work", work))

    assert (found.p50_ms, found.p99_ms) == pytest.approx((0.1, 50))


def test_plaza_and_floor_are_called_in_turns_and_each_comes_first_half_of_the_time() -> None:
    called: list[str] = []
    case = Case("work", lambda: called.append("P"), lambda: called.append("f"), samples_at_most=4)
    warm_up = 10

    measured(case)

    assert "".join(called[warm_up:]) == "PffPPffP" * QUICKLY.rounds


def test_what_is_prepared_is_not_timed(watch: Watch) -> None:
    case = Case("work", watch.taking(1), prepare=watch.taking(5))

    (found,) = measured(case)

    assert found.p50_ms == pytest.approx(1)


def test_connections_work_at_the_same_time() -> None:
    all_at_once = threading.Barrier(8, timeout=20)

    def meet() -> None:
        # The warm-up calls alone.
        if threading.current_thread() is not threading.main_thread():
            all_at_once.wait()

    (found,) = measured(Case("meeting", meet, door="HTTP", connections=8, samples_at_most=8))

    assert found.door == "HTTP by 8"
    assert found.samples == 8 * QUICKLY.rounds


def test_a_rate_counts_what_a_call_handles(watch: Watch) -> None:
    (found,) = measured(Case("batch", watch.taking(1), items=500))

    assert found.per_second == pytest.approx(500_000)


def test_growth_compares_the_largest_size_with_the_smallest_round_by_round() -> None:
    first, middle, last = figure(10, 1, 2), figure(100, 3, 3), figure(1_000, 4, 6)

    (growth,) = growths([last, first, middle])

    assert growth.factors == [4, 3]
    assert growth.factor == 3.5


def test_a_bar_is_met_by_the_median_of_the_rounds() -> None:
    run = run_of(
        figure(10, 1.9, 1.9, 9.0, ratio_at_most=2.0), figure(20, 2.1, 2.1, 1.0, ratio_at_most=2.0)
    )

    assert [bar.is_met for bar in bars(run)] == [True, False]
    assert "**missed**" in tables.bars_table(bars(run))


def test_a_bar_of_growth_is_that_of_the_largest_size() -> None:
    run = run_of(figure(10, 1.0, growth_at_most=1.2), figure(100, 1.3, growth_at_most=1.2))

    (bar,) = bars(run)

    assert (bar.median, bar.is_met) == (1.3, False)


def test_two_runs_disagree_where_a_ratio_differs_by_more_than_the_tolerance() -> None:
    now, before = run_of(figure(10, 1.5), figure(20, 1.5)), run_of(figure(10, 1.4), figure(20, 1.1))

    assert [one.size for one, _ in compared(now, before).beyond(0.15)] == [20]


def test_of_two_runs_the_page_says_which_ratios_lie_apart_and_what_it_does_to_the_bars() -> None:
    now = run_of(figure(10, 1.5, 1.6), figure(20, 2.5, 2.6, ratio_at_most=2.0))
    before = run_of(figure(10, 1.1, 1.9, 1.1), figure(20, 1.7, 1.9, ratio_at_most=2.0))

    made = comparison.tables(now, before) + comparison.bars_table(now, before)

    assert re.search(r"rounds overlap +\| 1 ", made)
    assert re.search(r"lie apart +\| 1 ", made)
    assert re.search(r"\*\*missed\*\* \| 1.80 \(1.70 to 1.90\) \| met", made)


def test_what_one_side_alone_asks_of_the_database_is_shown() -> None:
    same = {"find user {_id}": 1}
    run = run_of(
        figure(10, 1.5, store="alike", commands=same, floor_commands=same),
        figure(20, 1.5, commands={"find post {author}": 2}, floor_commands=same),
        figure(30, 1.5, commands={"find post {author}": 3}, floor_commands=same),
    )

    made = tables.floors_tables(run)

    assert "both sides ask the same: 1." in made
    assert "30 rows" not in made
    assert re.search(r"20 rows, app +\| 2 times `find post {author}` +\| `find user {_id}` ", made)


def test_a_run_comes_back_from_its_file(tmp_path: Path) -> None:
    run = run_of(figure())

    save(run, tmp_path / "run.json")

    assert load(tmp_path / "run.json") == run


def test_a_page_keeps_its_words_and_changes_its_tables(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("Before\n<!-- bench: bars -->\nold\n<!-- /bench -->\nAfter\n")
    run = run_of(figure(10, 1.5, ratio_at_most=2.0))

    for _ in range(2):
        page.write(file, page.run_content(run))

    text = file.read_text()
    assert text.startswith("Before\n")
    assert text.endswith("<!-- /bench -->\nAfter\n")
    assert text.count("reading, 10 rows") == 1
    assert "old" not in text


def test_a_page_that_asks_for_what_was_not_measured_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("<!-- bench: comments -->\nold\n<!-- /bench -->\n")

    save(run_of(figure()), tmp_path / "run.json")

    with pytest.raises(SystemExit, match="shows comments, which this run has not measured"):
        main(["--read", str(tmp_path / "run.json"), "--markdown", str(file)])

    assert "old" in file.read_text()


def test_a_run_of_one_part_fills_its_own_region_alone(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    regions = [
        f"<!-- bench: {name} -->\nold {name}\n<!-- /bench -->" for name in ("bars", "a_part")
    ]
    file.write_text("\n".join(regions))
    save(run_of(replace(figure(), part="a_part")), tmp_path / "run.json")

    page.write(file, page.parts_content(load(tmp_path / "run.json"), ["a_part"]))

    text = file.read_text()
    assert "old bars" in text
    assert "old a_part" not in text
    assert text.count("reading") == 1
    assert "2026-03-01T12:00:00" in text


def test_the_chart_page_holds_all_that_it_needs() -> None:
    html = charts.page(run_of(figure(10, 1.0), figure(100, 2.0)))

    markup = re.sub(r"<script[^>]*>.*?</script>", "<script/>", html, flags=re.DOTALL)
    assert html.count("Plotly.newPlot(") >= 1
    assert "src=" not in markup
    assert "href=" not in markup
    assert "reading" in markup


def test_an_earlier_run_is_shown_without_measuring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(run_of(figure(10, 1.5, ratio_at_most=1.0)), tmp_path / "run.json")

    main(["--read", str(tmp_path / "run.json"), "--json", str(tmp_path / "copy.json")])

    assert "reading" in capsys.readouterr().out
    assert json.loads((tmp_path / "copy.json").read_text())["commit"] == "0123456789"


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nonsense"])

    assert "no part nonsense" in capsys.readouterr().err


class Parts:
    """Parts of the bench that ask nothing, of which `failing` fails."""

    failing = ""

    def groups(self, part: str) -> Callable[[object], Iterator[list[Case]]]:
        def made(_stage: object) -> Iterator[list[Case]]:
            if part == self.failing:
                raise ValueError(f"{part} is refused")
            yield [Case(f"reading {part}", lambda: None, lambda: None)]

        return made


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    parts = Parts()
    stage = SimpleNamespace(runtime=Mock(), folder=None, observe=lambda _: TWO_TRIPS)
    monkeypatch.setattr(bench_main, "_groups", parts.groups)
    monkeypatch.setattr(bench_main, "fresh_stage", lambda *_: contextlib.nullcontext(stage))
    monkeypatch.setattr(bench_main, "machine", lambda *_: {"cores": "2"})
    return parts


def test_a_part_that_fails_takes_no_other_part_s_figures_along(
    parts: Parts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, parts.failing = tmp_path / "run.json", "comments"

    with pytest.raises(SystemExit, match="comments") as ended:
        main(["comments", "votes", "--quick", "--json", str(file)])

    assert ended.value.code != 0
    assert "comments is refused" in capsys.readouterr().err
    assert {each.part for each in load(file).figures} == {"votes"}


@pytest.mark.usefixtures("parts")
def test_a_part_is_measured_onto_an_earlier_run_of_the_same_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.json"
    earlier = [replace(figure(), part=part) for part in ("comments", "votes")]
    save(run_of(*earlier), file)
    monkeypatch.setattr(bench_main, "is_code_of", lambda commit: commit == "0123456789")

    main(["comments", "--quick", "--onto", str(file), "--json", str(file)])

    found = load(file)
    assert [each.operation for each in found.figures] == ["reading comments", "reading"]
    assert found.seconds > 1.0


@pytest.mark.usefixtures("parts")
def test_no_part_is_measured_onto_a_run_of_other_code(tmp_path: Path) -> None:
    save(run_of(figure()), tmp_path / "run.json")

    with pytest.raises(SystemExit, match="0123456789"):
        main(["votes", "--quick", "--onto", str(tmp_path / "run.json")])

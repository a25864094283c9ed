"""A run in tables of Markdown, which read well in a terminal too."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bench.figures import Bar, Figure, Growth, Run, bars, growths

FIGURE_COLUMNS = (
    "operation",
    "store",
    "size",
    "door",
    "p50 / p99 ms",
    "floor's ms",
    "ratio (in rounds)",
    "a second",
    "floor's a second",
    "trips",
    "samples",
)


def figures_table(figures: Iterable[Figure]) -> str:
    """Return a row for each figure: times in milliseconds, ratios as times of the floor."""
    return table(FIGURE_COLUMNS, [_figure_row(figure) for figure in figures])


def growth_table(growth: Iterable[Growth]) -> str:
    """Return a row for each series: its costs by size, and the largest beside the smallest."""
    rows = []
    for each in growth:
        first = each.figures[0]
        costs = "; ".join(f"{one.size:,}: {_number(one.p50_ms)}" for one in each.figures)
        floor = f"{each.floor_factor:.2f}" if each.floor_factor else ""
        labels = (first.operation, first.store, first.door, first.unit)
        rows.append((*labels, costs, ratio_cell(each.factors), floor))
    columns = ("operation", "store", "door", "unit", "p50 ms by size")
    return table((*columns, "growth (in rounds)", "floor's"), rows)


def bars_table(found: Iterable[Bar]) -> str:
    """Return a row for each bar: what was promised, what was found, and whether it is kept."""
    rows = [
        (
            bar.name,
            f"≤ {bar.at_most:.2f}",
            ratio_cell(bar.found),
            verdict(bar),
        )
        for bar in found
    ]
    return table(("bar", "promised", "found (in rounds)", ""), rows)


def verdict(bar: Bar) -> str:
    """Return whether a bar is kept."""
    return "met" if bar.is_met else "**missed**"


def run_table(run: Run) -> str:
    """Return when, of what and on what the run was made."""
    kind = "quick" if run.is_quick else "full"
    facts = {"run": f"{run.started}, {kind}, {run.seconds:.0f} s", "commit": run.commit}
    return table(("", ""), list({**facts, **run.machine}.items()))


def floors_tables(run: Run) -> str:
    """Return what Plaza and floor ask of MongoDB beyond each other, where that is not the same.

    The smallest size of an operation represents all sizes; behind HTTP there is the same app.
    """
    looked = [
        each
        for each in run.figures
        if each.commands and each.floor_commands and not each.door.startswith("HTTP")
    ]
    if not looked:
        return "This run did not look at what is asked."
    smallest: dict[tuple[str, ...], Figure] = {}
    for figure in sorted(looked, key=lambda each: each.size):
        smallest.setdefault(figure.series, figure)
    rows = []
    for figure in (each for each in looked if smallest[each.series] is each):
        more = _beyond(figure.commands, figure.floor_commands)
        less = _beyond(figure.floor_commands, figure.commands)
        if more or less:
            rows.append((f"{figure.part}: {figure.name}", more, less))
    same = f"Operations of which both sides ask the same: {len(smallest) - len(rows)}."
    if not rows:
        return same
    return f"{same}\n\n{table(('call', 'asked by Plaza alone', 'asked by the floor alone'), rows)}"


def _beyond(commands: Mapping[str, int], others: Mapping[str, int]) -> str:
    more = Counter(commands) - Counter(others)
    return "; ".join((f"{n} times " if n > 1 else "") + f"`{name}`" for name, n in more.items())


def ratio_cell(found: Sequence[float]) -> str:
    """Return the median of what the rounds found, and their range."""
    return f"{statistics.median(found):.2f} ({_range(found)})" if found else ""


def report(run: Run) -> str:
    """Return the whole run: the machine, each part's figures and growth, then the bars."""
    sections = [run_table(run)]
    for part in dict.fromkeys(figure.part for figure in run.figures):
        sections += [f"## {part}", part_tables(run, part)]
    if found := bars(run):
        sections += ["## bars", bars_table(found)]
    return "\n\n".join(sections)


def part_tables(run: Run, part: str) -> str:
    """Return what was measured of one part, and how it grew."""
    mine = [figure for figure in run.figures if figure.part == part]
    growth = growths(mine)
    return "\n\n".join([figures_table(mine), *([growth_table(growth)] if growth else [])])


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text as a Markdown table whose columns are aligned."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [columns, ["-" * width for width in widths], *rows]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def _figure_row(figure: Figure) -> tuple[str, ...]:
    floor = figure.floor_p50_ms, figure.floor_p99_ms
    return (
        figure.operation,
        figure.store,
        f"{figure.size:,} {figure.unit}" if figure.unit else "",
        figure.door,
        _pair(figure.p50_ms, figure.p99_ms),
        _pair(*floor) if figure.floor_p50_ms else "",
        ratio_cell(figure.ratios),
        f"{figure.per_second:,.0f}",
        f"{figure.floor_per_second:,.0f}" if figure.floor_per_second else "",
        _trips(figure),
        str(figure.samples),
    )


def _trips(figure: Figure) -> str:
    """Return the round trips to MongoDB, and the floor's."""
    floor = "" if figure.floor_round_trips is None else f" / {figure.floor_round_trips}"
    return f"{figure.round_trips}{floor}"


def _pair(p50_ms: float | None, p99_ms: float | None) -> str:
    return f"{_number(p50_ms)} / {_number(p99_ms)}"


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}" if values else ""


def _number(value: float | None) -> str:
    """Return milliseconds to three digits that count."""
    if value is None:
        return ""
    hundred, ten = 100, 10
    return (
        f"{value:,.0f}" if value >= hundred else f"{value:.1f}" if value >= ten else f"{value:.2f}"
    )

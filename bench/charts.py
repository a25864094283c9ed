"""A run as one page for a browser: each operation's cost against size, its stores side by side."""

import math
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]  # it has no types
from markdown_it import MarkdownIt
from plotly.colors import qualitative  # type: ignore[import-untyped]
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

from bench import tables
from bench.figures import Growth, Run, bars, growths

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 13px }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .6rem; text-align: left }
td { font-variant-numeric: tabular-nums; white-space: nowrap }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr)) }
"""
_COLOURS = qualitative.Safe
_INTRODUCTION = (
    "Solid lines are Plaza's medians, dashed ones the floor's: the same work by the driver "
    "alone. Both axes are logarithmic; a flat line does not mind the size."
)


def write(run: Run, file: Path) -> None:
    """Write the page, with everything that it needs inside."""
    file.write_text(page(run), encoding="utf-8")


def page(run: Run) -> str:
    """Return the page of a run as HTML."""
    body = [_markdown(f"# What Plaza costs\n\n{_INTRODUCTION}\n\n{tables.run_table(run)}")]
    if found := bars(run):
        body.append(_markdown(f"## Bars\n\n{tables.bars_table(found)}"))
    for part in dict.fromkeys(figure.part for figure in run.figures):
        mine = [figure for figure in run.figures if figure.part == part]
        growth = growths(mine)
        body += [_markdown(f"## {part}"), _charts(growth)]
        if growth:
            body.append(_markdown(tables.growth_table(growth)))
        body.append(_markdown(tables.figures_table(mine)))
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f"<title>Plaza's bench, {escape(run.started)}</title><style>{_STYLE}</style>"
        f"<script>{get_plotlyjs()}</script></head><body>{''.join(body)}</body></html>\n"
    )


def _markdown(text: str) -> str:
    return str(MarkdownIt().enable("table").render(text))


def _charts(growth: Iterable[Growth]) -> str:
    by_operation: dict[tuple[str, str], list[Growth]] = {}
    for each in growth:
        first = each.figures[0]
        by_operation.setdefault((first.operation, first.unit), []).append(each)
    charts = (_chart(*key, of_stores) for key, of_stores in by_operation.items())
    return f"<div class='charts'>{''.join(charts)}</div>"


def _chart(operation: str, unit: str, of_stores: list[Growth]) -> str:
    figure = go.Figure()
    for number, each in enumerate(of_stores):
        colour = _COLOURS[number % len(_COLOURS)]
        name = each.figures[0].store or "Plaza"
        sizes = [one.size for one in each.figures]
        line = {"x": sizes, "mode": "lines+markers", "legendgroup": name}
        costs = [one.p50_ms for one in each.figures]
        figure.add_scatter(y=costs, name=name, line={"color": colour}, **line)
        floors = [one.floor_p50_ms for one in each.figures]
        if any(floors):
            dashed = {"color": colour, "dash": "dot"}
            label = f"{name}: {each.figures[0].floor_is}"
            # The same colour says whose floor it is; ten entries would squeeze the chart.
            figure.add_scatter(
                y=floors, name=label, line=dashed, opacity=0.6, showlegend=False, **line
            )
    sizes = sorted({one.size for each in of_stores for one in each.figures})
    ticks = {"tickvals": sizes, "ticktext": [f"{size:,}" for size in sizes]}
    figure.update_xaxes(type="log", title=unit, **ticks)
    figure.update_yaxes(type="log", title="ms, p50", **_decades(of_stores))
    figure.update_layout(
        title=operation,
        height=380,
        margin={"l": 60, "r": 10, "t": 50, "b": 10},
        legend={"orientation": "h", "y": -0.25},
        template="plotly_white",
    )
    config = {"responsive": True, "displayModeBar": False}
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config=config))


def _decades(of_stores: list[Growth]) -> dict[str, Any]:
    """Return an axis of whole decades: a narrower one would make a few percent look like much."""
    costs = [
        cost
        for each in of_stores
        for one in each.figures
        for cost in (one.p50_ms, one.floor_p50_ms)
        if cost
    ]
    first = math.floor(math.log10(min(costs)))
    last = max(first + 1, math.ceil(math.log10(max(costs))))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    shown = [tick for tick in ticks if tick <= 10**last]
    return {"range": [first, last], "tickvals": shown, "ticktext": [f"{tick:g}" for tick in shown]}

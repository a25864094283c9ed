"""Two runs beside each other: which of their ratios agree, and what that does to the bars."""

from bench.figures import Bar, Figure, Run, bars, compared, is_apart
from bench.tables import ratio_cell, table, verdict

# Ratios of two runs on one machine are to agree within this share.
TOLERANCE = 0.15


def tables(run: Run, other: Run) -> str:
    """Return how many ratios agree, and those that differ by more."""
    comparison = compared(run, other)
    differing = comparison.beyond(TOLERANCE)
    apart = [pair for pair in differing if _are_apart(pair)]
    counts = [
        ("ratios in both runs", len(comparison.pairs)),
        (f"agree within {TOLERANCE:.0%}", len(comparison.pairs) - len(differing)),
        ("differ by more, their rounds overlap", len(differing) - len(apart)),
        ("differ by more, their rounds lie apart", len(apart)),
    ]
    runs = [
        (name, each.started, each.commit, each.machine.get("load before the run", ""))
        for name, each in (("this run", run), ("the other", other))
    ]
    return "\n\n".join(
        (
            table(("", "made", "commit", "load before"), runs),
            table(("", "number"), [(name, str(number)) for name, number in counts]),
            _figures_table(differing),
        )
    )


def _are_apart(pair: tuple[Figure, Figure]) -> bool:
    return is_apart(pair[0].ratios, pair[1].ratios)


def bars_table(run: Run, other: Run) -> str:
    """Return the bars of a run, with what the other found where it has them."""
    before = {bar.name: bar for bar in bars(other)}
    rows = [
        (bar.name, f"≤ {bar.at_most:.2f}", *_found(bar), *_found(before.get(bar.name)))
        for bar in bars(run)
    ]
    return table(("bar", "promised", "this run", "", "the other", ""), rows)


def _found(bar: Bar | None) -> tuple[str, str]:
    return (ratio_cell(bar.found), verdict(bar)) if bar else ("", "")


def _figures_table(pairs: list[tuple[Figure, Figure]]) -> str:
    rows = [
        (
            f"{now.part}: {now.name}",
            ratio_cell(now.ratios),
            ratio_cell(then.ratios),
            "apart" if _are_apart((now, then)) else "",
        )
        for now, then in pairs
    ]
    return table(("differs by more", "this run", "the other", "rounds"), rows)

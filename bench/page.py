"""Pages with tables written by the bench and text written by people.

A region of a page is between `<!-- bench: NAME -->` and `<!-- /bench -->`.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import comparison, tables
from bench.figures import Run, bars

REGION = re.compile(
    r"(?P<begin><!-- bench: (?P<name>[a-z_]+) -->\n)(?P<body>.*?)(?P<end><!-- /bench -->)",
    re.DOTALL,
)


class UnknownRegion(Exception):
    """The page has a region that nothing was made for; the message names it."""


def write(file: Path, content: Callable[[str], str | None]) -> None:
    """Fill a page's regions with what `content` gives for their names; raises UnknownRegion.

    A region that it gives None for stays as it is.
    """
    file.write_text(filled(file.read_text(encoding="utf-8"), content), encoding="utf-8")


def filled(text: str, content: Callable[[str], str | None]) -> str:
    """Return a page's text with its regions filled again."""

    def region(match: re.Match[str]) -> str:
        found = content(match["name"])
        return match[0] if found is None else f"{match['begin']}\n{found}\n\n{match['end']}"

    return REGION.sub(region, text)


def run_content(run: Run, other: Run | None = None) -> Callable[[str], str]:
    """Return what a run has for a region: `run`, `bars`, `floors`, or the name of a part.

    `comparison` sets it beside another run.
    """

    def content(name: str) -> str:
        match name:
            case "run":
                return tables.run_table(run)
            case "bars":
                return comparison.bars_table(run, other) if other else tables.bars_table(bars(run))
            case "floors":
                return tables.floors_tables(run)
            case "comparison" if other:
                return comparison.tables(run, other)
            case "comparison":
                return "This run has been set beside no other."
            case _ if any(figure.part == name for figure in run.figures):
                return tables.part_tables(run, name)
            case _:
                raise UnknownRegion(name)

    return content


def parts_content(run: Run, parts: Sequence[str]) -> Callable[[str], str | None]:
    """Return what a run of some parts has for their regions, each with the run's own facts."""

    def content(name: str) -> str | None:
        if name not in parts:
            return None
        return f"{tables.run_table(run)}\n\n{tables.part_tables(run, name)}"

    return content

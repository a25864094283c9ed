"""The page that keeps the last full run: its tables are made by the bench, its words by people.

A region of the page stands between `<!-- bench: NAME -->` and `<!-- /bench -->`. NAME is
`run`, `bars` or the name of a part.
"""

import re
from pathlib import Path

from bench import tables
from bench.figures import Run, bars

_REGION = re.compile(r"(<!-- bench: (?P<name>[a-z_]+) -->\n).*?(<!-- /bench -->)", re.DOTALL)


class UnknownRegion(Exception):
    """The page has a region for something that was not measured; the message names it."""


def write(run: Run, file: Path) -> None:
    """Put a run's tables into the regions of a page; raises UnknownRegion."""
    file.write_text(filled(file.read_text(encoding="utf-8"), run), encoding="utf-8")


def filled(text: str, run: Run) -> str:
    """Return a page's text with the run's tables in its regions."""

    def region(match: re.Match[str]) -> str:
        return f"{match[1]}\n{_content(match['name'], run)}\n\n{match[3]}"

    return _REGION.sub(region, text)


def _content(name: str, run: Run) -> str:
    match name:
        case "run":
            return tables.run_table(run)
        case "bars":
            return tables.bars_table(bars(run))
        case _ if any(figure.part == name for figure in run.figures):
            return tables.part_tables(run, name)
        case _:
            raise UnknownRegion(name)

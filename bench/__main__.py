"""Measure Plaza beside the raw driver, on a MongoDB of its own with data of its own."""

import argparse
import contextlib
import importlib
import itertools
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench import ages, comparison, page, tables
from bench.case import Case
from bench.commands import Observe
from bench.figures import Figure, Run, bars, load, save
from bench.machine import commit, is_code_of, machine
from bench.progress import Progress
from bench.rounds import FULL, QUICK, Effort, Measured, figure, joined, measure
from bench.stage import Stage, fresh_stage

# Each part is a module of this package whose `groups(stage)` yields lists of cases: those of
# a list share the data that were made before it was yielded, and are measured in turns.
PARTS = (
    "comments",
    "votes",
    "ads",
    "ads_counting",
    "social",
    "activity",
    "content",
    "assets",
    "analytics",
    "shop",
    "notifications",
)
# Pieces of a part, which run only where the command line names them.
PIECES = ("fan_out",)
_NAMES = ", ".join((*PARTS, *PIECES))

Groups = Callable[[Stage], Generator[list[Case], None, None]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts that the command line names, or take an earlier run; show the figures.

    Exits with 1 if a full run misses a bar, or if a part failed.
    """
    given = _options(arguments)
    parts = given.part or PARTS
    if given.once:
        _call_once(parts)
        return
    if given.mark:
        ages.mark_pages()
        return
    onto = _earlier(given.onto, parts) if given.onto else None
    run = load(called_path(given.read)) if given.read else _measured(parts, given.quick)
    if onto:
        run = replace(run, seconds=run.seconds + onto.seconds, figures=_in_order(run, onto))
    other = load(called_path(given.compare)) if given.compare else None
    print(tables.report(run))
    if other:
        beside = comparison.bars_table(run, other), comparison.tables(run, other)
        print("", "## beside the other run", *beside, sep="\n\n")
    _write(run, other, given)
    failed = set() if given.read else set(parts) - {each.part for each in run.figures}
    if failed:
        sys.exit(f"Without figures, since they failed: {', '.join(sorted(failed))}")
    is_full = not (run.is_quick or given.read)
    if is_full and not all(bar.is_met for bar in bars(run)):
        sys.exit(1)


def _earlier(file: Path, parts: Sequence[str]) -> Run:
    """Return an earlier run without these parts; exits if it measured other code."""
    run = load(called_path(file))
    if not is_code_of(run.commit):
        sys.exit(f"{file} has figures of {run.commit}, whose code is another")
    return replace(run, figures=[each for each in run.figures if each.part not in parts])


def _in_order(*runs: Run) -> list[Figure]:
    """Return the figures of all runs, part by part."""
    figures = [each for run in runs for each in run.figures]
    return sorted(figures, key=lambda each: (*PARTS, *PIECES).index(each.part))


def _write(run: Run, other: Run | None, given: argparse.Namespace) -> None:
    """Write the files that the command line names.

    A run of named parts fills their regions of a page alone; any other needs all that it shows.
    """
    if given.json:
        save(run, called_path(given.json))
    if given.html:
        # Late: a measurement does not need its library.
        from bench import charts

        charts.write(run, called_path(given.html))
    if given.markdown:
        whole = page.run_content(run, other)
        content = page.parts_content(run, given.part) if given.part else whole
        try:
            page.write(called_path(given.markdown), content)
        except page.UnknownRegion as unknown:
            sys.exit(f"{given.markdown} shows {unknown}, which this run has not measured")
        if called_path(given.markdown).resolve() in ages.PAGES and is_code_of(run.commit):
            ages.record({each.part for each in run.figures} & {*PARTS})


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument(
        "part", nargs="*", help=f"which parts: {_NAMES}; default: {', '.join(PARTS)}"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes and shorter rounds")
    parser.add_argument(
        "--once",
        action="store_true",
        help="make the smallest data and do each call once, without figures",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with charts")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="put the tables into the regions of a page"
    )
    parser.add_argument(
        "--onto", type=Path, metavar="FILE", help="take the figures of other parts from a run"
    )
    parser.add_argument(
        "--mark", action="store_true", help="have older tables of the docs say so, and measure none"
    )
    parser.add_argument("--read", type=Path, metavar="FILE", help="show an earlier run's figures")
    parser.add_argument(
        "--compare", type=Path, metavar="FILE", help="set an earlier run's ratios beside these"
    )
    given = parser.parse_args(arguments)
    unknown = set(given.part).difference(PARTS, PIECES)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {_NAMES}")
    return given


def called_path(file: Path) -> Path:
    """Return a path as it was meant where the command was called from."""
    return Path(os.environ.get("PLAZA_CALLED_FROM", ".")) / file


def _measured(parts: Sequence[str], is_quick: bool) -> Run:  # noqa: FBT001 - straight from the options
    """Measure each part, on a fresh MongoDB at each visit; a part that fails has no figures."""
    started, seconds = datetime.now(UTC), time.monotonic()
    # The commit of the imported code: another commit may come before the end.
    measured = commit()
    effort = QUICK if is_quick else FULL
    visits: dict[str, list[list[Measured]]] = {part: [] for part in parts}
    facts: dict[str, str] = {}
    failed: set[str] = set()
    for visit, part in itertools.product(range(1, effort.visits + 1), parts):
        if part in failed:
            continue
        with (
            tempfile.TemporaryDirectory(prefix="plaza-bench-") as folder,
            fresh_stage(Path(folder), effort.sizes_at_most) as stage,
        ):
            facts = facts or machine(stage.runtime.database, stage.folder)
            progress = Progress(f"{part}, visit {visit}/{effort.visits}", effort.rounds)
            # The first visit tells what is asked; the others would say the same.
            observe = None if visits[part] else stage.observe
            try:
                groups = _groups(part)(stage)
                visits[part].append(_measured_part(groups, effort, progress, observe))
            except Exception:  # noqa: BLE001 - half an hour of other parts' figures stays
                traceback.print_exc()
                failed.add(part)
    return Run(
        started=started.isoformat(timespec="seconds"),
        commit=measured,
        is_quick=is_quick,
        seconds=time.monotonic() - seconds,
        machine=facts,
        figures=[
            figure(part, each)
            for part in parts
            if part not in failed
            for each in joined(visits[part])
        ],
    )


def _call_once(parts: Sequence[str]) -> None:
    """Do each call of the parts once, and its floor, on the smallest data; fail with the first.

    Data, calls and floors follow Plaza's own shapes, and a whole run comes seldom.
    """
    for part in parts:
        with (
            tempfile.TemporaryDirectory(prefix="plaza-bench-") as folder,
            fresh_stage(Path(folder), sizes_at_most=1) as stage,
            contextlib.closing(_groups(part)(stage)) as groups,
        ):
            calls = [_called_once(case) for cases in groups for case in cases]
        print(f"{part}: {len(calls)} calls, {sum(calls)} of them beside a floor")


def _called_once(case: Case) -> bool:
    """Do a call and its floor; return whether it has one."""
    case.prepare()
    case.work()
    if case.floor is None:
        return False
    case.prepare_floor()
    case.floor()
    return True


def _groups(part: str) -> Groups:
    groups: Groups = importlib.import_module(f"bench.{part}").groups
    return groups


def _measured_part(
    groups: Generator[list[Case], None, None],
    effort: Effort,
    progress: Progress,
    observe: Observe | None,
) -> list[Measured]:
    found: list[Measured] = []
    with contextlib.closing(groups) as each:
        for number, cases in enumerate(each, 1):
            progress.starts(number, cases)
            found += measure(cases, effort, progress.reaches, observe)
    progress.ends()
    return found


if __name__ == "__main__":
    main()

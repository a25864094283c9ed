"""`script/mutants`: plant slips, run the tests nearest to each, say which share is noticed."""

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

from tests.mutants.planting import Copies, Finding, copies_of
from tests.mutants.slips import Slip, read_slips, stale

ROOT = Path(__file__).resolve().parents[2]
NOTICED = ("caught", "timed out")
_BASELINE_TIMEOUT_SECONDS = 3_600


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Return 0 if the slips fit the code and enough are noticed, 1 if too few, 2 otherwise."""
    options = _parser().parse_args(arguments)
    slips = read_slips(root / "tests" / "mutants")
    problems = stale(slips, root)
    for problem in problems:
        print(f"stale: {problem}")
    chosen = [slip for slip in slips if not options.only or _is_any(slip, options.only)]
    if problems or not chosen:
        print(f"{len(chosen)} slips chosen, {len(problems)} stale")
        return 2
    if options.check:
        print(f"{len(slips)} slips, each with one place in the code")
        return 0
    with copies_of(root, options.jobs) as copies:
        if not options.no_baseline and not _passes(chosen, copies):
            return 2
        return _judge(_examine_all(chosen, copies, options), options.bar)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="script/mutants", description=__doc__)
    parser.add_argument(
        "only", nargs="*", metavar="NAME", help="slips by name or definition, as `nodes.*`"
    )
    parser.add_argument("--check", action="store_true", help="only see that each slip has a place")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="slips at a time")
    parser.add_argument("--timeout", type=int, default=240, help="seconds for the tests of a slip")
    parser.add_argument("--bar", type=float, default=0.9, help="the share that has to be noticed")
    parser.add_argument(
        "--no-baseline", action="store_true", help="trust the tests to pass without a slip"
    )
    return parser


def _is_any(slip: Slip, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, each) for name in (slip.name, slip.definition) for each in patterns)


def _passes(slips: Sequence[Slip], copies: Copies) -> bool:
    """Return whether the tests pass without a slip: tests that fail anyway notice none."""
    tests = sorted({test for slip in slips for test in slip.tests})
    # A test that a whole file of these has would be run twice.
    tests = [test for test in tests if "::" not in test or test.partition("::")[0] not in tests]
    with copies.one() as copy:
        finding = copy.run_tests(tests, _BASELINE_TIMEOUT_SECONDS)
    if finding.outcome != "survived":
        print(f"the tests fail without a slip: {finding.line}")
    return finding.outcome == "survived"


def _examine_all(
    slips: Sequence[Slip], copies: Copies, options: argparse.Namespace
) -> list[tuple[Slip, Finding]]:
    """Examine slips, one in each copy at a time; print a row for each when it is done."""

    def one(slip: Slip) -> tuple[Slip, Finding]:
        with copies.one() as copy:
            finding = copy.examine(slip, options.timeout)
        same = " (equivalent)" if slip.equivalent else ""
        row = f"{finding.outcome + same:<22} {finding.seconds:>6.1f} s  {slip.name}"
        print(f"{row:<85}  {finding.line}", flush=True)
        return slip, finding

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, slips))


def _judge(found: Sequence[tuple[Slip, Finding]], bar: float) -> int:
    """Print the figures; return the exit code."""
    telling = [(slip, finding) for slip, finding in found if not slip.equivalent]
    survivors = [slip.name for slip, finding in telling if finding.outcome == "survived"]
    broken = [slip.name for slip, finding in found if finding.outcome == "broken"]
    # Its reason is wrong: a test has noticed what is said to change nothing.
    broken += [slip.name for slip, each in found if slip.equivalent and each.outcome in NOTICED]
    caught = sum(finding.outcome in NOTICED for _, finding in telling)
    share = caught / len(telling) if telling else 1.0
    print(
        f"\n{len(found)} slips: {caught} of {len(telling)} that change something are noticed "
        f"({share:.1%}), {len(found) - len(telling)} change nothing"
    )
    for title, names in (("survived", survivors), ("to be mended", broken)):
        if names:
            print(f"{title}: {', '.join(names)}")
    if broken:
        return 2
    return 0 if share >= bar else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

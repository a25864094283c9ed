"""Measure a part of Plaza: script/bench PART [--json FILE]."""

import argparse
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from bench.stack import measured_stack
from bench.timing import table
from chalicelib.runtime import Runtime

# Each part is one or more modules of this package, each with a function `measure`.
PARTS = {
    "ads": ("ads", "ads_counting"),
    "ads_counting": ("ads_counting",),
    "comments": ("comments",),
    "social": ("social",),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the part that the command line names and print its table."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    given = parser.parse_args(arguments)
    measures: list[Callable[[Runtime], list[dict[str, Any]]]]
    measures = [importlib.import_module(f"bench.{name}").measure for name in PARTS[given.part]]
    with (
        tempfile.TemporaryDirectory(prefix="plaza-bench-") as folder,
        measured_stack(Path(folder)) as runtime,
    ):
        tables = [measure(runtime) for measure in measures]
    print("\n\n".join(map(table, tables)))
    if given.json:
        # The scripts run in the project's folder, wherever they were called from.
        file = Path(os.environ.get("PLAZA_CALLED_FROM", ".")) / given.json
        file.write_text(json.dumps(list(chain(*tables)), indent=2) + "\n")


if __name__ == "__main__":
    main()

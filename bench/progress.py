"""How far a run has come, on standard error, so that the figures can be sent elsewhere."""

import sys
import time
from collections.abc import Sequence
from typing import TextIO

from bench.case import Case


class Progress:
    """Progress of one part: each group of cases has a line, whose rounds go by on a terminal."""

    def __init__(self, part: str, rounds: int, out: TextIO = sys.stderr) -> None:
        self._part, self._rounds, self._out = part, rounds, out
        self._started = time.monotonic()
        self._group = "making its data"
        self._write(0)

    def starts(self, number: int, cases: Sequence[Case]) -> None:
        """Tell that the data of a group are made."""
        names = list(dict.fromkeys(case.store or case.operation for case in cases))
        self._group = f"group {number}, {', '.join(names)[:60]}, {len(cases)} cases"
        self._write(0)

    def reaches(self, number: int) -> None:
        """Tell that a round begins."""
        self._write(number)

    def ends(self) -> None:
        """Tell that the part is done."""
        self._group = "done"
        self._write(self._rounds)

    def _write(self, number: int) -> None:
        passed = time.monotonic() - self._started
        line = f"{self._part}, {passed:4.0f} s: {self._group}, round {number}/{self._rounds}"
        if self._out.isatty():
            # Over the last line; the next group begins a new one.
            end = "\n" if number == self._rounds else ""
            print(f"\r\033[K{line}", end=end, file=self._out, flush=True)
        elif number == 0 or self._group == "done":
            print(line, file=self._out, flush=True)

"""A bar of a command's progress, on a terminal alone."""

import shutil
import sys
import time

_PAUSE_SECONDS = 0.2
_CLEAR_LINE = "\r\x1b[2K"
_CELLS = 24


class Bar:
    """One line on the standard error that is written anew; nothing in a log."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._began = time.monotonic()
        self._shown_at = -_PAUSE_SECONDS

    def show(self, part: str, share: float | None, done: str) -> None:
        """Show the part that runs, how much of it is over if that is known, and what is done."""
        now = time.monotonic()
        if not self._is_shown or now - self._shown_at < _PAUSE_SECONDS:
            return
        self._shown_at = now
        cells = round(_CELLS * share) if share is not None else 0
        bar = f" [{'#' * cells}{'.' * (_CELLS - cells)}] {share:4.0%}" if share is not None else ""
        text = f"{part}{bar} {done}, {now - self._began:.0f} s"
        columns = shutil.get_terminal_size().columns - 1
        print(f"{_CLEAR_LINE}{text[:columns]}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self._is_shown:
            print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)

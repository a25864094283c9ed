"""A bar of a command's progress, on a terminal alone."""

import shutil
import sys
import time

_PAUSE_SECONDS = 0.2
_CLEAR_LINE = "\r\x1b[2K"
_CELLS = 24


class Bar:
    """A line on standard error that `show` overwrites; without a terminal, no line."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._began = time.monotonic()
        self._shown_at = -_PAUSE_SECONDS

    def show(self, part: str, share: float | None, done: str) -> None:
        """Show the running part, its finished share of 0 to 1 (None: unknown), and a count."""
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
        """Clear the line."""
        if self._is_shown:
            print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)

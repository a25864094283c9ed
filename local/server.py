"""Start Plaza on this machine: the command line, the signals, and one line on failure."""

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

DEFAULT_PORT = 8000
_HANGS_UP = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN


def main() -> None:
    """Start the stack of the command line's options and run it until a signal comes."""
    # Nothing has been started yet, and a module being imported could catch an exception.
    _on_signals(lambda *_: os._exit(0))
    options = _options()
    # Late: it takes a second, in which a signal or a wrong option should be answered already.
    from chalicelib.settings import InvalidSettings
    from local.failures import StartupFailure
    from local.stack import run

    _on_signals(_stop_by_signal)
    try:
        with contextlib.ExitStack() as stack:
            run(options, stack)
    except (StartupFailure, InvalidSettings) as failure:
        sys.exit(f"Plaza did not start: {failure}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="script/server", description="Run all of Plaza on this machine."
    )
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="default: %(default)s")
    parser.add_argument(
        "--fresh", action="store_true", help="start anew, in a temporary folder; keep nothing"
    )
    parser.add_argument("--empty", action="store_true", help="load no demo data")
    parser.add_argument("--open", action="store_true", help="open a browser once it runs")
    parser.add_argument(
        "--verbose", action="store_true", help="say what runs: database, queues, schedules, a token"
    )
    return parser.parse_args()


def _stop_by_signal(_number: int, _frame: object) -> NoReturn:
    """Unwind the main thread, so that everything started so far is stopped, in order."""
    # A second signal may not interrupt the unwinding.
    _on_signals(signal.SIG_IGN)
    # An object whose constructor was interrupted here may fail to be finalised: no news.
    sys.unraisablehook = lambda _unraisable: None
    sys.exit(0)


def _on_signals(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGINT, handler)
    # A window that is closed, unless the server outlives it (`nohup`).
    if _HANGS_UP:
        signal.signal(signal.SIGHUP, handler)


if __name__ == "__main__":
    main()

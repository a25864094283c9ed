"""What an installation says while it runs: what is being done, and for how long.

A person at a terminal sees one line that is written anew. A log gets a line every ten seconds. All
of it goes to stderr: what a command of ours prints may be read by a script.
"""

import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence

_TERMINAL_PAUSE_SECONDS, _LOG_PAUSE_SECONDS = 0.2, 10.0
_CLEAR_LINE = "\r\x1b[2K"
# What uv and pip say of a package that they fetch, and of the end of that.
_FETCHES = re.compile(r"^\s*(?:Downloading|Collecting) ([^\s=]+)\S*( \([\d.]+ ?[kMG]i?B\))?")
_HAS_FETCHED = re.compile(r"^\s*Downloaded (\S+)")
_IS_FETCHED_WHOLE = re.compile(r"^(?:Prepared \d+|Installing collected)")
_MOST_NAMES = 2
# Lines, the numbers of signals, and None at the end of the lines.
_Heard = queue.SimpleQueue[str | int | None]


def run(title: str, command: Sequence[str], log_pause: float = _LOG_PAUSE_SECONDS) -> int:
    """Run a command that ends with us, and say how it goes; return its exit code.

    What the command prints is shown only if it fails. Exits if a signal comes.
    """
    line, printed, packages = _Line(title, log_pause), list[str](), Packages()
    line.show("")
    heard: _Heard = queue.SimpleQueue()
    # A group of its own, so that what the command itself has started ends with it.
    with (
        _signals_into(heard),
        subprocess.Popen(  # noqa: S603 - commands of ours
            command,
            # An installer that asks for a password would wait for ever, unseen.
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        ) as process,
    ):
        try:
            for text in _lines(process, heard, line.pause_seconds):
                if text is not None:
                    printed.append(text)
                    packages.hear(text)
                line.show(str(packages))
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
        finally:
            line.end(has_failed=process.returncode != 0)
    if code:
        sys.stderr.write("".join(printed))
    return code


class Packages:
    """The packages that an installer is fetching, by what it prints."""

    def __init__(self) -> None:
        self._fetched: dict[str, str] = {}
        self._is_whole = False

    def hear(self, line: str) -> None:
        """Take a line that the installer printed."""
        if found := _FETCHES.match(line):
            self._fetched[found[1]] = found[2] or ""
        elif found := _HAS_FETCHED.match(line):
            self._fetched.pop(found[1], None)
        elif _IS_FETCHED_WHOLE.match(line):
            self._is_whole = True

    def __str__(self) -> str:
        if self._is_whole:
            return "unpacking"
        latest = list(self._fetched.items())[-_MOST_NAMES:]
        return ", ".join(f"{name}{size}" for name, size in latest)


class _Line:
    """The line of one step."""

    def __init__(self, title: str, log_pause: float) -> None:
        self._title = title
        self._started = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self.pause_seconds = _TERMINAL_PAUSE_SECONDS if self._is_terminal else log_pause
        # At a terminal the line stands there at once.
        self._shown_at = -self.pause_seconds if self._is_terminal else self._started

    def show(self, doing: str) -> None:
        """Say how long it has taken so far, unless that was said a moment ago."""
        now = time.monotonic()
        if now - self._shown_at < self.pause_seconds:
            return
        self._shown_at = now
        text = f"  {self._title} ... {now - self._started:.0f} s  {doing}".rstrip()
        if self._is_terminal:
            columns = shutil.get_terminal_size().columns - 1
            print(f"{_CLEAR_LINE}{text[:columns]}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self, *, has_failed: bool) -> None:
        """Say how long it took."""
        start = _CLEAR_LINE if self._is_terminal else ""
        taken = f"{time.monotonic() - self._started:.1f} s"
        text = f"{start}  {self._title}: {'failed after ' * has_failed}{taken}"
        print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _signals_into(heard: _Heard) -> Iterator[None]:
    """Queue signals: one that raised while a process is being started would leave it running."""
    # A window that is closed, unless the command outlives it (`nohup`).
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    numbers = (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hangs_up else ()))
    before = [signal.signal(each, lambda number, _: heard.put(number)) for each in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _lines(process: "subprocess.Popen[str]", heard: _Heard, pause: float) -> Iterator[str | None]:
    """Yield each line that a process prints, and None after each pause without one.

    Raises SystemExit for a signal.
    """

    def listen() -> None:
        for line in process.stdout or ():
            heard.put(line)
        heard.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        try:
            found = heard.get(timeout=pause)
        except queue.Empty:
            yield None
            continue
        if found is None:
            return
        if isinstance(found, int):
            sys.exit(128 + found)
        yield found

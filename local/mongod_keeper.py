"""A supervised mongod, started again whenever it ends, as by a service manager."""

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chalicelib.observability.logs import log
from local.failures import StartupFailure
from local.mongod import LOG, become_primary, prepare, start, stop, uri_of

# Pauses before a restart: doubled while the server keeps ending, up to the last.
FIRST_PAUSE_SECONDS = 0.5
LAST_PAUSE_SECONDS = 30.0
# A server that has run for this long counts as stable.
STAYED_SECONDS = 60.0
_DISK_FULL = b"No space left on device"


@contextlib.contextmanager
def kept_mongod(data: Path) -> Iterator[str]:
    """Run a one-member replica set over `data`, again whenever it ends; give its URI.

    Raises StartupFailure when the first server does not come up.
    """
    keeper = _Keeper(data, prepare(data))
    try:
        keeper.start()
        keeper.watch()
        yield uri_of(keeper.port)
    finally:
        keeper.stop()


@dataclass
class _Keeper:
    data: Path
    port: int
    _process: "subprocess.Popen[bytes] | None" = None
    _log_begins: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start a server, unless it is to stop; raises StartupFailure with the reason."""
        with self._lock:
            if self._stopping.is_set():
                return
            self._log_begins = self._log_size()
            self._process = process = start(self.data, self.port)
        try:
            become_primary(process, self.port, self.data)
        except StartupFailure as failure:
            stop(process)
            raise StartupFailure(f"{failure}{self._disk_is_full()}") from None

    def watch(self) -> None:
        """Start a thread that starts the server again whenever it ends."""
        self._thread = threading.Thread(target=self._run, name="mongod", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the server and the watch over it."""
        with self._lock:
            self._stopping.set()
        if self._process:
            stop(self._process)
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        pause, since = FIRST_PAUSE_SECONDS, time.monotonic()
        while self._process:
            code = self._process.wait()
            if self._stopping.is_set():
                return
            if time.monotonic() - since > STAYED_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            _say(
                f"MongoDB ended ({_reason(code)}){self._disk_is_full()}; "
                f"it is started again in {pause:g} s. Its log: {self.data / LOG}"
            )
            if self._stopping.wait(pause):
                return
            pause, since = min(2 * pause, LAST_PAUSE_SECONDS), time.monotonic()
            try:
                self.start()
            except StartupFailure:
                continue  # the next round says why it ended
            if not self._stopping.is_set():
                _say("MongoDB takes writes again.")

    def _disk_is_full(self) -> str:
        """Return the message for a server whose log reports a full disk."""
        with contextlib.suppress(OSError), (self.data / LOG).open("rb") as file:
            file.seek(self._log_begins)
            if _DISK_FULL in file.read():
                return f": the disk of {self.data} is full, make room"
        return ""

    def _log_size(self) -> int:
        file = self.data / LOG
        return file.stat().st_size if file.exists() else 0


def _reason(code: int) -> str:
    return signal.strsignal(-code) or f"signal {-code}" if code < 0 else f"exit code {code}"


def _say(line: str) -> None:
    print(line, flush=True)
    log.error(line)

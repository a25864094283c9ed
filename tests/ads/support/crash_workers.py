"""Processes that do one work until they are killed: by another, and at their own commands.

Run as a process of its own, so that forking meets neither pytest's threads nor its client:
`python -m tests.ads.support.crash_workers MODULE:FUNCTION URI DATABASE SECONDS PROCESSES SEED`.
"""

import contextlib
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from pymongo import MongoClient
from pymongo.database import Database
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from chalicelib.database import Document, open_database

Work = Callable[[Database[Document], random.Random], None]
PROCESSES = 8
SEED = 1
# How often a process dies just before or just after one of its commands.
DEATH_RATE = 0.002
SECONDS_BETWEEN_KILLS = 0.2


def run_swarm(  # noqa: PLR0913 - each a property of a swarm
    work: str,
    uri: str,
    database: str,
    *,
    seconds: float,
    processes: int = PROCESSES,
    seed: int = SEED,
) -> int:
    """Keep processes at `work` ("module:function") for some time; return how many died.

    Another swarm on the same database needs another seed: ids come from it, too.
    """
    arguments = [work, uri, database, str(seconds), str(processes), str(seed)]
    command = [sys.executable, "-m", "tests.ads.support.crash_workers", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout)["died"])


class _Reaper(CommandListener):
    """Kills its own process at some of its commands, before they go out or once they are done."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def started(self, _event: CommandStartedEvent) -> None:
        self._maybe_die()

    def succeeded(self, _event: CommandSucceededEvent) -> None:
        self._maybe_die()

    def failed(self, _event: CommandFailedEvent) -> None:
        self._maybe_die()

    def _maybe_die(self) -> None:
        if self._rng.random() < DEATH_RATE:
            os.kill(os.getpid(), signal.SIGKILL)


def _work_for_ever(work: Work, uri: str, database: str, seed: int) -> NoReturn:
    rng = random.Random(seed)
    client: MongoClient[Any] = MongoClient(uri, event_listeners=[_Reaper(rng)])
    opened = open_database(client, database)
    while True:
        work(opened, rng)


def _spawn(work: Work, uri: str, database: str, seed: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        _work_for_ever(work, uri, database, seed)
    except BaseException as error:  # noqa: BLE001 - the parent must hear of any of them
        traceback.print_exception(error)
        sys.stderr.flush()
        os._exit(70)


def _main(  # noqa: PLR0913, PLR0917 - the arguments of the command line
    name: str, uri: str, database: str, seconds: str, processes: str, seed: str
) -> None:
    module, _, function = name.partition(":")
    work: Work = getattr(importlib.import_module(module), function)
    rng = random.Random(int(seed))
    alive: set[int] = set()
    died = 0
    deadline = time.monotonic() + float(seconds)
    while time.monotonic() < deadline:
        while len(alive) < int(processes):
            alive.add(_spawn(work, uri, database, rng.getrandbits(32)))
        time.sleep(SECONDS_BETWEEN_KILLS * rng.random())
        os.kill(rng.choice(sorted(alive)), signal.SIGKILL)
        died += _reap(alive)
    for child in alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    sys.stdout.write(json.dumps({"died": died}))


def _reap(alive: set[int]) -> int:
    """Take the dead out of `alive`; return how many. One that failed fails the swarm."""
    dead = 0
    for child in sorted(alive):
        gone, status = os.waitpid(child, os.WNOHANG)
        if gone:
            alive.remove(child)
            dead += 1
            if not os.WIFSIGNALED(status):
                sys.exit("a process of the swarm failed")
    return dead


if __name__ == "__main__":
    _main(*sys.argv[1:])

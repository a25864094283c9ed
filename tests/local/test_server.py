"""The local server: what it starts, what it says, and that it leaves nothing behind."""

import os
import re
import signal
import socket
from pathlib import Path

import pytest

from chalicelib import __version__
from local.mongod import running_mongod
from local.processes import command_lines
from tests.local.stack import call, databases_over, server, wait_until

pytestmark = pytest.mark.processes


def test_it_serves_the_api_and_says_what_it_started(tmp_path: Path) -> None:
    with server(tmp_path) as stack:
        url = stack.wait_until_running()
        status, health = call("GET", f"{url}/health", stack.token())

        assert (status, health["version"]) == (200, __version__)
        for part in ("MongoDB", "Queues", "fan_out", "Schedules", "sweep", "Log"):
            assert part in stack.printed()


def test_the_token_that_it_prints_is_an_admins(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as stack:
        url = stack.wait_until_running()
        node = {"title": "A page", "url": "https://site.example/page"}

        assert call("PUT", f"{url}/nodes/page", stack.token(), node)[0] == 201
        assert call("PUT", f"{url}/nodes/page", None, node)[0] == 401


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything(tmp_path: Path, number: int) -> None:
    with server(tmp_path, "--empty") as stack:
        stack.wait_until_running()
        assert databases_over(tmp_path)

        assert stack.signal(number) == 0
        assert databases_over(tmp_path) == []
        assert "Traceback" not in stack.printed()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_starts_stops_everything(tmp_path: Path, number: int) -> None:
    with server(tmp_path, "--empty") as stack:
        wait_until(lambda: databases_over(tmp_path), "mongod has been started")

        assert stack.signal(number) == 0
        # One that the server did not know of yet is ended by the kernel, a moment later.
        wait_until(lambda: not databases_over(tmp_path), "mongod has ended")
        assert "Traceback" not in stack.printed()


def test_data_outlive_a_restart(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as stack:
        url = stack.wait_until_running()
        call(
            "PUT",
            f"{url}/nodes/page",
            stack.token(),
            {"title": "Kept", "url": "https://k.example/"},
        )
        stack.signal(signal.SIGTERM)

    with server(tmp_path, "--empty") as stack:
        url = stack.wait_until_running()
        assert call("GET", f"{url}/nodes/page")[1]["title"] == "Kept"


def test_the_first_start_loads_a_small_town_and_the_second_adds_nothing(tmp_path: Path) -> None:
    counts = []
    for _ in range(2):
        with server(tmp_path) as stack:
            url = stack.wait_until_running()
            path = "/nodes/harbour-post:lighthouse-cafe/comments?limit=200"
            counts.append(len(call("GET", url + path)[1]["comments"]))
            assert call("GET", f"{url}/ads/harbour-post/sidebar")[1]["ads"]
            stack.signal(signal.SIGTERM)

    assert counts[0] == counts[1] > 10


def test_what_was_there_before_the_demo_is_never_dropped(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as stack:
        url = stack.wait_until_running()
        node = {"title": "Mine", "url": "https://site.example/mine"}
        assert call("PUT", f"{url}/nodes/mine", stack.token(), node)[0] == 201
        stack.signal(signal.SIGTERM)

    with server(tmp_path) as stack:
        url = stack.wait_until_running()
        assert call("GET", f"{url}/nodes/mine")[0] == 200
        assert call("GET", f"{url}/nodes/harbour-post:lighthouse-cafe")[0] == 404


def test_tokens_say_what_the_settings_ask_for(tmp_path: Path) -> None:
    asked = {"PLAZA_JWT_AUDIENCE": "me", "PLAZA_JWT_ISSUER": "you"}
    with server(tmp_path, **asked) as stack:
        url = stack.wait_until_running()
        assert call("GET", f"{url}/users/me", stack.token())[0] in (200, 404)


def test_an_answer_to_head_has_no_body(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as stack:
        port = int(stack.wait_until_running().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(
                b"HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n"
                b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            )
            received = b"".join(iter(lambda: connection.recv(65_536), b""))

    head, _, rest = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert b"Content-Type: application/json" in head
    assert rest.startswith(b"HTTP/1.1 200")


def test_fresh_starts_with_the_demo_and_keeps_nothing(tmp_path: Path) -> None:
    with server(tmp_path, "--fresh", TMPDIR=str(tmp_path)) as stack:
        url = stack.wait_until_running()
        assert call("GET", f"{url}/nodes/harbour-post:lighthouse-cafe")[0] == 200
        assert list(tmp_path.glob("plaza-*/mongodb"))
        stack.signal(signal.SIGTERM)

        assert list(tmp_path.glob("plaza-*")) == []


def test_an_empty_start_has_neither_the_demo_nor_its_site(tmp_path: Path) -> None:
    with server(tmp_path, "--fresh", "--empty", TMPDIR=str(tmp_path)) as stack:
        url = stack.wait_until_running()
        assert call("GET", f"{url}/nodes/harbour-post:lighthouse-cafe")[0] == 404
        assert call("POST", f"{url}/demo/token", None, {"sub": "editor"})[0] in (403, 404)
        assert re.search(rf"the API +{url}/\n", stack.printed())
        assert "Harbour Post" not in stack.printed()


def test_a_start_that_was_killed_leaves_no_lock_and_no_port(tmp_path: Path) -> None:
    with server(tmp_path) as stack:
        wait_until(lambda: databases_over(tmp_path), "mongod has been started")
        # The server alone: its mongod may live on for a moment, as after a crash.
        stack.process.kill()
        stack.process.wait()

    with server(tmp_path) as stack:
        url = stack.wait_until_running()
        assert call("GET", f"{url}/health")[0] == 200
        assert call("GET", f"{url}/nodes/harbour-post:lighthouse-cafe")[0] == 200


def test_a_start_that_was_killed_while_loading_the_demo_loads_it_anew(tmp_path: Path) -> None:
    log = tmp_path / "data" / "plaza.log"
    with server(tmp_path) as stack:
        wait_until(lambda: log.exists() and "/nodes/{node}" in log.read_text(), "demo began")
        stack.kill_group()

    with server(tmp_path) as stack:
        url = stack.wait_until_running()
        for node, least in (
            ("harbour-post:lighthouse-cafe", 10),
            ("harbour-post:sourdough-letters", 5),
        ):
            page = call("GET", f"{url}/nodes/{node}/comments?limit=200")[1]
            assert len(page["comments"]) >= least


def test_a_database_of_the_users_own_is_used_and_left_running(tmp_path: Path) -> None:
    with running_mongod(tmp_path / "theirs") as uri:
        with server(tmp_path, "--empty", PLAZA_MONGODB_URI=uri) as stack:
            url = stack.wait_until_running()
            assert call("GET", f"{url}/health")[0] == 200
            stack.signal(signal.SIGTERM)
        assert not (tmp_path / "data" / "mongodb").exists()
        assert len(databases_over(tmp_path)) == 1


def test_a_killed_servers_database_does_not_outlive_it_for_long(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as stack:
        stack.wait_until_running()
        os.kill(stack.process.pid, signal.SIGKILL)

        wait_until(lambda: not databases_over(tmp_path), "mongod ended with its parent")


def test_a_database_that_is_killed_is_started_again(tmp_path: Path) -> None:
    with server(tmp_path, "--empty") as stack:
        url = stack.wait_until_running()
        node = {"title": "Kept", "url": "https://site.example/page"}
        assert call("PUT", f"{url}/nodes/page", stack.token(), node)[0] == 201
        (killed,) = mongods_over(tmp_path)

        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: "MongoDB takes writes again." in stack.printed(), "it is back")

        assert call("GET", f"{url}/nodes/page")[1]["title"] == "Kept"
        assert mongods_over(tmp_path) != [killed]
        assert "MongoDB ended (Killed); it is started again in 0.5 s" in stack.printed()
        assert stack.signal(signal.SIGTERM) == 0
        assert databases_over(tmp_path) == []


def mongods_over(folder: Path) -> list[int]:
    return [pid for pid, line in command_lines().items() if f"--dbpath={folder}" in line]

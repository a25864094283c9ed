"""An upload through the local server, killed in the midst of a part and resumed."""

import hashlib
import json
import os
import socket
import threading
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib.runtime import utc_now
from chalicelib.settings import Settings
from local.tokens import mint
from tests.local.stack import DEADLINE_SECONDS, call, server

pytestmark = pytest.mark.processes

MEBIBYTE = 1024 * 1024
# Three parts; with PLAZA_TEST_UPLOAD_MIB=64 what a file may have.
LENGTH = int(os.environ.get("PLAZA_TEST_UPLOAD_MIB", "9")) * MEBIBYTE - 5
SITE = "/content/harbour-post"


def content() -> bytes:
    """Return bytes that do not repeat from one chunk to the next."""
    lines = (b"%015d\n" % number for number in range(LENGTH // 16 + 1))
    return b"".join(lines)[:LENGTH]


def token_of(folder: Path) -> str:
    secrets = json.loads((folder / "data" / "secrets.json").read_text())
    settings = Settings(jwt_secret=secrets["PLAZA_JWT_SECRET"])
    return mint(settings, utc_now(), "eda", roles=["editor"], sites=["harbour-post"])


def put(url: str, token: str, data: bytes) -> int:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
    request = urllib.request.Request(url, data, headers, method="PUT")  # noqa: S310 - our own
    with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:  # noqa: S310
        return int(answer.status)


def put_half(url: str, token: str, data: bytes) -> socket.socket:
    """Send half of a part, and leave the server waiting for the rest."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port or 80), DEADLINE_SECONDS)
    head = f"PUT {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
    head += f"Authorization: Bearer {token}\r\nContent-Type: application/octet-stream\r\n"
    head += f"Content-Length: {len(data)}\r\n\r\n"
    connection.sendall(head.encode() + data[: len(data) // 2])
    return connection


def part_of(upload: Any, number: int, data: bytes) -> bytes:
    start = (number - 1) * upload["part_bytes"]
    return data[start : start + upload["part_bytes"]]


def played(address: str) -> bytes:
    """Read a file as a player does: on from where the last answer ended."""
    got = b""
    while len(got) < LENGTH:
        request = urllib.request.Request(address, headers={"Range": f"bytes={len(got)}-"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:  # noqa: S310
            assert answer.status == 206
            told = answer.headers["Content-Range"]
            read = answer.read()
        assert told == f"bytes {len(got)}-{len(got) + len(read) - 1}/{LENGTH}"
        got += read
    return got


def test_an_upload_that_is_killed_goes_on_with_the_parts_that_are_missing(tmp_path: Path) -> None:
    data = content()
    told = {"name": "Film", "type": "text/csv", "length": LENGTH}
    told["sha256"] = hashlib.sha256(data).hexdigest()
    with server(tmp_path, "--empty") as stack:
        url, token = stack.wait_until_running(), token_of(tmp_path)
        status, upload = call("POST", f"{url}{SITE}/assets", token, told)
        assert status == 201, upload
        first, second, *_ = upload["parts"]
        assert put(f"{url}{first['url']}", token, part_of(upload, 1, data)) == 204
        half = put_half(f"{url}{second['url']}", token, part_of(upload, 2, data))
        stack.kill_group()
        half.close()

    with server(tmp_path, "--empty") as stack:
        url = stack.wait_until_running()
        _, again = call("GET", f"{url}{SITE}/uploads/{upload['id']}", token)
        missing = [part for part in again["parts"] if not part["is_stored"]]
        assert [part["number"] for part in missing] == list(range(2, len(again["parts"]) + 1))
        threads = [
            threading.Thread(
                target=put, args=(url + part["url"], token, part_of(upload, part["number"], data))
            )
            for part in missing
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE_SECONDS)
        status, asset = call("POST", f"{url}{upload['finish_url']}", token, {})

        assert status == 200, asset
        assert played(f"{url}{asset['current']['url']}") == data

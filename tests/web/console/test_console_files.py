"""The console's files: small, asked for each time, and under a policy that allows nothing else."""

import gzip

import pytest

from chalicelib.web.files import CONSOLE
from deploy.web import build_console
from tests.support.http_client import Client
from tests.web.conftest import OpenPage

FIRST_PAGE_BYTES = 45_000


def test_its_first_page_is_small(open_page: OpenPage) -> None:
    loaded: list[str] = []
    page = open_page(
        "/console", before=lambda page: page.on("request", lambda each: loaded.append(each.url))
    )
    page.get_by_role("textbox", name="Token").wait_for()

    files = [url.rpartition("/")[2] for url in loaded if "/console/" in url]
    assert "console.js" in files
    size = sum(len(gzip.compress((CONSOLE / name).read_bytes(), 9)) for name in files)
    assert size <= FIRST_PAGE_BYTES


@pytest.mark.parametrize("path", ["/console", "/console/console.js", "/console/console.css"])
def test_what_the_caller_has_is_not_sent_again(client: Client, path: str) -> None:
    first = client.get(path)
    again = client.request("GET", path, headers={"If-None-Match": first.headers["ETag"]})

    assert first.headers["Cache-Control"] == "no-cache"
    assert again.status == 304


def test_no_other_file_is_served(client: Client) -> None:
    for name in ("none.js", "index.html", "..", "console.js.map"):
        reply = client.get(f"/console/{name}")
        assert (reply.status, reply.json["code"]) == (404, "unknown_file")


def test_nobody_frames_it_and_nothing_is_inline(client: Client) -> None:
    policy = client.get("/console").headers["Content-Security-Policy"]

    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy


def test_what_is_built_is_whole_each_time() -> None:
    names = {file.name for file in CONSOLE.iterdir()}

    assert set(build_console(CONSOLE)) == names
    assert {"index.html", "console.js", "console.css", "api.js", "element.js"} <= names

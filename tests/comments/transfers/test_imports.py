"""Imports by the API: a file is sent, tried, applied and stopped, one at a time at a site."""

import gzip
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.comments.errors import ImportRunning
from chalicelib.comments.importing.formats.detection import PARSERS
from chalicelib.comments.transfers import starting
from chalicelib.comments.transfers.forms import ImportFormat, NewImport
from chalicelib.comments.transfers.rows import MAX_MOVED, MAX_PARTS, TRANSFERS
from chalicelib.foreign import streams
from chalicelib.runtime import Runtime
from tests.assets.support.uploading import BYTES
from tests.comments.support.importing import at_url
from tests.comments.transfers.support.files import IMPORTS, URL, begin, lines_file, read
from tests.support.http_client import Client
from tests.support.workers import Workers


def test_a_file_is_tried_and_then_applied(
    publisher: Client, start: Callable[..., Any], workers: Workers, runtime: Runtime
) -> None:
    tried = start(lines_file(7))

    assert (tried["state"], tried["dry_run"], tried["format"]) == ("tried", True, "plaza")
    assert tried["counts"] == {"comments": 7, "threads": 1, "imported": 7}
    assert (tried["parts"], tried["progress"], tried["failure"]) == ([], None, None)
    assert runtime.database["comments.node"].count_documents({}) == 0

    for _ in range(2):
        applied = publisher.post(f"{IMPORTS}/{tried['id']}/apply")
        assert (applied.status, applied.json["state"]) == (202, "running")
    workers.drain()

    done = read(publisher, tried["id"])
    assert (done["state"], done["dry_run"]) == ("done", False)
    assert done["counts"] == {"comments": 7, "threads": 1, "imported": 7}
    assert len(at_url(runtime, URL).walk()) == 7
    (listed,) = publisher.get(IMPORTS).json["imports"]
    assert (listed["id"], listed["counts"]) == (done["id"], done["counts"])


def test_a_file_may_be_applied_at_once_and_may_be_compressed(
    start: Callable[..., Any], runtime: Runtime
) -> None:
    done = start(gzip.compress(lines_file(4)), dry_run=False, format="plaza")

    assert (done["state"], done["counts"]["imported"]) == ("done", 4)
    assert len(at_url(runtime, URL).walk()) == 4


def test_addresses_that_have_changed_lead_to_the_pages_of_today(
    start: Callable[..., Any], runtime: Runtime
) -> None:
    moved = [{"old": URL, "new": "https://blog.example/new"}]

    start(lines_file(2), dry_run=False, url_map=moved)

    assert len(at_url(runtime, "https://blog.example/new").walk()) == 2


def test_what_is_missing_of_a_file_is_named(publisher: Client) -> None:
    begun = publisher.post(IMPORTS, length=10).json

    refused = publisher.post(f"{IMPORTS}/{begun['id']}/start")

    assert (refused.status, refused.json["code"]) == (409, "parts_missing")
    assert refused.json["detail"] == "1 are missing: 1"


@pytest.mark.parametrize(
    ("number", "data", "code"), [(1, b"short", "wrong_length"), (2, b"x", "no_such_part")]
)
def test_a_part_that_is_none_is_refused(
    publisher: Client, number: int, data: bytes, code: str
) -> None:
    begun = publisher.post(IMPORTS, length=10).json

    path = f"{IMPORTS}/{begun['id']}/parts/{number}"
    refused = publisher.request("PUT", path, body=data, headers=BYTES)

    assert (refused.status, refused.json["errors"][0]["code"]) == (422, code)


def test_a_file_above_the_limits_is_refused(publisher: Client) -> None:
    too_large = publisher.post(IMPORTS, length=64 * 1024 * 1024 + 1)
    above_all = publisher.post(IMPORTS, length=(1 << 30) + 1)

    assert (too_large.status, too_large.json["code"]) == (413, "file_too_large")
    assert above_all.status == 422


def test_a_step_out_of_turn_is_refused(publisher: Client, workers: Workers) -> None:
    begun = begin(publisher, "blog", lines_file(1))
    early = publisher.post(f"{IMPORTS}/{begun['id']}/apply")
    assert (early.status, early.json["code"]) == (409, "wrong_step")
    assert early.json["facts"] == {"state": "uploading"}
    publisher.post(f"{IMPORTS}/{begun['id']}/start")
    workers.drain()

    again = publisher.post(f"{IMPORTS}/{begun['id']}/start")
    part = publisher.request("PUT", begun["parts"][0]["url"], body=b"x", headers=BYTES)

    assert (again.status, again.json["facts"]) == (409, {"state": "tried"})
    assert (part.status, part.json["code"]) == (409, "wrong_step")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/start"),
        ("POST", "/apply"),
        ("PUT", "/parts/1"),
    ],
)
def test_another_sites_import_is_unknown(client: Client, method: str, path: str) -> None:
    admin = client.as_("admin", roles=["admin"])
    begun = begin(admin, "other", lines_file(1))

    url, data = f"{IMPORTS}/{begun['id']}{path}", b"x" if method == "PUT" else b""
    reply = admin.request(method, url, body=data, headers=BYTES if data else None)

    assert (reply.status, reply.json["code"]) == (404, "unknown_transfer")


def test_a_site_has_one_import_at_a_time(publisher: Client, workers: Workers) -> None:
    first = begin(publisher, "blog", lines_file(1), dry_run=False)

    refused = publisher.post(IMPORTS, length=10)
    assert (refused.status, refused.json["code"]) == (409, "import_running")
    assert refused.json["facts"] == {"import": first["id"]}
    publisher.post(f"{IMPORTS}/{first['id']}/start")
    workers.drain()

    assert publisher.post(IMPORTS, length=10).status == 201


def test_two_beginnings_in_one_moment_are_one_import(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have seen that the site is free."""
    both, ends = threading.Barrier(2), list[str]()
    monkeypatch.setattr(starting, "_check_free", lambda *_given: both.wait())

    def begin_one() -> None:
        try:
            starting.begin_import(runtime, "blog", NewImport(length=10))
            ends.append("begun")
        except ImportRunning:
            ends.append("refused")

    callers = [threading.Thread(target=begin_one) for _ in range(2)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()

    assert sorted(ends) == ["begun", "refused"]
    assert TRANSFERS.of(runtime.database).count_documents({"site": "blog"}) == 1


def test_a_broken_file_says_where_and_leaves_the_site_free(
    publisher: Client, start: Callable[..., Any], runtime: Runtime
) -> None:
    cut = b"\n".join(lines_file(5).splitlines()[:-1])

    failed = start(cut, dry_run=False)

    assert (failed["state"], failed["failure"]["code"]) == ("failed", "broken_file")
    assert "line" in failed["failure"]["detail"]
    assert runtime.database["comments.node"].count_documents({}) == 0
    assert publisher.post(IMPORTS, length=10).status == 201


def test_a_file_of_no_known_format_is_refused(start: Callable[..., Any]) -> None:
    failed = start(b"Dear Plaza,\nplease find attached\n")

    assert (failed["state"], failed["failure"]["code"]) == ("failed", "unknown_format")


def test_a_small_file_without_an_end_is_refused(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_UNPACKED_BYTES", 1 << 20)
    bomb = gzip.compress(lines_file(1) + b" " * (2 << 20))

    failed = start(bomb, format="plaza")

    assert failed["failure"]["code"] == "broken_file"
    assert failed["failure"]["detail"].endswith("too large, uncompressed")


def test_a_file_that_fits_on_no_disk_is_refused(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(PARSERS, "isso", full)

    assert start(b"[]", format="isso")["failure"]["code"] == "too_large"


def test_every_format_may_be_named() -> None:
    assert set(ImportFormat.__args__) == set(PARSERS)  # type: ignore[attr-defined]


def test_the_largest_request_fits_into_a_body(publisher: Client) -> None:
    moved = [{"old": f"/{n:04}", "new": f"https://b.example/{n}"} for n in range(MAX_MOVED)]
    digests = ["0" * 64] * MAX_PARTS

    begun = publisher.post(IMPORTS, length=10, url_map=moved, part_sha256=digests)

    assert begun.status == 201, begun.body
    assert len(json.dumps(moved)) < 100_000

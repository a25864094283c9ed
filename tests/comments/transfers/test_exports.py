"""Exports by the API: a worker writes the files, and they stay for a week."""

import gzip
import json
from typing import Any

import pytest

from chalicelib.comments.importing import wxr
from chalicelib.comments.importing.exporting import lines_of
from chalicelib.comments.transfers import exports, files
from chalicelib.runtime import Runtime
from tests.comments.transfers.support.files import begin, lines_file, run, sweep
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

EXPORTS = "/sites/blog/exports"


@pytest.fixture
def publisher(client: Client, workers: Workers) -> Client:
    """The publisher of a site with two discussions."""
    paula = client.as_("paula", roles=["publisher"], sites=["blog", "copy"])
    begun = begin(paula, "blog", lines_file(5, pages=2), dry_run=False)
    paula.post(f"/sites/blog/imports/{begun['id']}/start")
    workers.drain()
    return paula


def exported(publisher: Client, workers: Workers, **wanted: Any) -> Any:
    begun = publisher.post(EXPORTS, **wanted)
    assert (begun.status, begun.json["state"], begun.json["files"]) == (202, "running", [])
    workers.drain()
    return publisher.get(f"{EXPORTS}/{begun.json['id']}").json


def content(publisher: Client, file: Any) -> bytes:
    """Return the bytes of a file, piece after piece."""
    pieces = [publisher.get(url) for url in file["pieces"]]
    assert all(each.status == 200 for each in pieces)
    assert all(each.headers["Cache-Control"] == "private, no-store" for each in pieces)
    whole = b"".join(each.body for each in pieces)
    assert len(whole) == file["length"]
    return whole


def test_an_export_has_the_lines_of_the_site(
    publisher: Client, workers: Workers, runtime: Runtime
) -> None:
    done = exported(publisher, workers)

    (file,) = done["files"]
    assert (done["state"], done["format"], done["comments"]) == ("done", "plaza", 10)
    assert (file["name"], file["is_signed"]) == ("blog.ndjson.gz", False)
    lines = [json.loads(line) for line in gzip.decompress(content(publisher, file)).splitlines()]
    now = [json.loads(json.dumps(line)) for line in lines_of(runtime, "blog")]
    assert lines[1:] == now[1:]
    (listed,) = publisher.get(EXPORTS).json["exports"]
    assert (listed["id"], listed["state"]) == (done["id"], "done")


def kept_files(publisher: Client, *made: Any) -> list[int]:
    return [len(publisher.get(f"{EXPORTS}/{each['id']}").json["files"]) for each in made]


def test_the_files_of_a_former_export_go_an_hour_after_the_next_in_their_format(
    publisher: Client, workers: Workers, runtime: Runtime, clock: Clock
) -> None:
    first = exported(publisher, workers)
    other = exported(publisher, workers, format="wxr")
    last = exported(publisher, workers)

    clock.advance(minutes=59)
    sweep(runtime)
    assert kept_files(publisher, first, other, last) == [1, 1, 1]
    clock.advance(minutes=1)
    sweep(runtime)

    assert kept_files(publisher, first, other, last) == [0, 1, 1]


def test_an_import_of_an_export_makes_the_site_again(publisher: Client, workers: Workers) -> None:
    (file,) = exported(publisher, workers)["files"]

    begun = begin(publisher, "copy", content(publisher, file), dry_run=False)
    publisher.post(f"/sites/copy/imports/{begun['id']}/start")
    workers.drain()

    copied = publisher.get(f"/sites/copy/imports/{begun['id']}").json
    assert (copied["state"], copied["counts"]["imported"]) == ("done", 10)


def test_wxr_may_be_several_files(
    publisher: Client, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wxr, "MAX_FILE_BYTES", 2_500)

    made = exported(publisher, workers, format="wxr")["files"]

    names = [each["name"] for each in made]
    assert names[:2] == ["blog.xml.gz", "blog-2.xml.gz"]
    for each in made:
        text = gzip.decompress(content(publisher, each)).decode()
        assert text.startswith("<?xml")
        assert text.rstrip().endswith("</rss>")


def test_a_site_has_one_export_at_a_time(publisher: Client, workers: Workers) -> None:
    first = publisher.post(EXPORTS, format="plaza").json

    refused = publisher.post(EXPORTS, format="wxr")

    assert (refused.status, refused.json["code"]) == (409, "export_running")
    assert refused.json["facts"] == {"export": first["id"]}
    workers.drain()
    assert publisher.post(EXPORTS, format="wxr").status == 202


def test_files_of_an_export_go_after_a_week(
    publisher: Client, workers: Workers, runtime: Runtime, clock: Clock
) -> None:
    done = exported(publisher, workers)
    url = done["files"][0]["pieces"][0]
    clock.advance(days=7)
    sweep(runtime)

    gone = publisher.get(url)

    assert (gone.status, gone.json["code"]) == (404, "unknown_transfer")
    assert publisher.get(f"{EXPORTS}/{done['id']}").json["files"] == []


@pytest.mark.parametrize("path", ["", "/files/1/pieces/1"])
def test_another_sites_export_is_unknown(
    publisher: Client, workers: Workers, client: Client, path: str
) -> None:
    done = exported(publisher, workers)
    admin = client.as_("admin", roles=["admin"])

    reply = admin.get(f"/sites/other/exports/{done['id']}{path}")

    assert (reply.status, reply.json["code"]) == (404, "unknown_transfer")


@pytest.mark.parametrize("part", ["files/2/pieces/1", "files/1/pieces/2"])
def test_a_piece_that_is_none_is_unknown(publisher: Client, workers: Workers, part: str) -> None:
    done = exported(publisher, workers)

    assert publisher.get(f"{EXPORTS}/{done['id']}/{part}").status == 404


def test_a_site_too_large_for_a_worker_is_told_of_the_command(
    publisher: Client, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_DISK_BYTES", 100)

    failed = exported(publisher, workers)

    assert (failed["state"], failed["failure"]["code"]) == ("failed", "too_large")
    assert "script/plaza" in failed["failure"]["detail"]


def test_an_export_is_given_up_after_some_runs(
    publisher: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = publisher.post(EXPORTS, format="plaza").json["id"]

    def break_down(*_given: Any) -> Any:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(exports, "_write_all", break_down)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            run(runtime, begun)
        clock.advance(minutes=5)
    run(runtime, begun)

    assert publisher.get(f"{EXPORTS}/{begun}").json["failure"]["code"] == "gave_up"


def test_a_file_is_read_as_far_as_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    whole = bytes(range(256)) * 10
    stream = files.UploadStream(lambda start, end: whole[start:end], len(whole))

    assert stream.read(5) == whole[:5]
    assert stream.read(250) == whole[5:255]
    assert stream.tell() == 255
    stream.seek(0)
    assert stream.read() == whole
    assert stream.read(1) == b""

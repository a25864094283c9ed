"""Moving a site's assets to another store: while they are read, and with an end at any write."""

import dataclasses
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import boto3
import pytest

from chalicelib.assets import catalogue, promotion, serving, uploads
from chalicelib.assets.blobs import BlobGone, store_of, write
from chalicelib.assets.blobs.gridfs import GridFsBlobs
from chalicelib.assets.blobs.s3 import S3Blobs
from chalicelib.assets.forms import NewAsset
from chalicelib.assets.jobs import run_due
from chalicelib.assets.ranges import ByteRange
from chalicelib.assets.shapes import ASSETS, CHUNKS, FILES, LIBRARIES, WASTE, StoreName, Version
from chalicelib.runtime import Runtime
from tests.assets.support.crashes import Crash, crash_at_write
from tests.assets.support.stores import BUCKET, make_bucket
from tests.assets.support.uploading import SITE, digest
from tests.support.clock import Clock
from tests.support.workers import Workers

CONTENT = bytes(range(256)) * 2_000


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime whose deployment has a bucket."""
    make_bucket()
    settings = runtime.settings.model_copy(update={"asset_bucket": BUCKET})
    return dataclasses.replace(runtime, settings=settings)


def uploaded(runtime: Runtime, content: bytes = CONTENT, asset_id: str = "") -> str:
    asked = NewAsset(name="A", type="text/csv", length=len(content), sha256=digest(content))
    upload = uploads.begin(runtime, SITE, asked, "eda", asset_id)
    uploads.put_part(runtime, SITE, upload["_id"], 0, content)
    return uploads.finish(runtime, SITE, upload["_id"])["_id"]


def read(runtime: Runtime, asset_id: str) -> bytes:
    asset = catalogue.find(runtime.database, asset_id)
    version = catalogue.version_of(asset, asset["current"])
    whole = ByteRange(0, version["length"])
    return serving.read(runtime, serving.Wanted(asset, version, whole), whole)


def versions(runtime: Runtime) -> Iterator[Version]:
    for asset in ASSETS.of(runtime.database).find():
        yield from asset["versions"]


def stored(runtime: Runtime) -> dict[str, set[str]]:
    """Return the blobs of each store."""
    database = runtime.database
    files = {*CHUNKS.of(database).distinct("files_id"), *FILES.of(database).distinct("_id")}
    bucket = boto3.resource("s3").Bucket(BUCKET)
    objects = {each.key for each in bucket.objects.all()}
    objects |= {each.object_key for each in bucket.multipart_uploads.all()}
    return {"gridfs": files, "s3": objects}


def is_clean(runtime: Runtime) -> bool:
    """Return whether the blobs that are stored are those of versions."""
    named: dict[str, set[str]] = {"gridfs": set(), "s3": set()}
    for version in versions(runtime):
        named[version["store"]].add(version["blob"])
    return stored(runtime) == named


def end_all(runtime: Runtime, clock: Clock) -> None:
    clock.advance(hours=25)
    run_due(runtime)
    clock.advance(minutes=15)
    run_due(runtime)


@pytest.mark.parametrize("store", ["s3", "gridfs"])
def test_every_version_moves_and_the_old_blobs_follow(
    runtime: Runtime, clock: Clock, store: StoreName
) -> None:
    asset_id = uploaded(runtime)
    uploaded(runtime, b"second", asset_id)
    if store == "gridfs":
        promotion.choose(runtime, SITE, "s3")
        promotion.move_pending(runtime, SITE)
        end_all(runtime, clock)
    before = stored(runtime)

    promotion.choose(runtime, SITE, store)
    promotion.move_pending(runtime, SITE)

    assert {version["store"] for version in versions(runtime)} == {store}
    assert read(runtime, asset_id) == b"second"
    assert catalogue.library_of(runtime.database, SITE)["due"] is None
    # Readers may be in the old blobs for 15 minutes.
    clock.advance(minutes=15, milliseconds=-1)
    run_due(runtime)
    after = stored(runtime)
    assert all(before[name] <= after[name] for name in before)
    clock.advance(milliseconds=1)
    run_due(runtime)
    assert is_clean(runtime)


def test_an_upload_that_begins_as_a_move_ends_moves_later(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = GridFsBlobs.begin

    def move_meanwhile(*arguments: Any) -> str:
        promotion.choose(runtime, SITE, "s3")
        promotion.move_pending(runtime, SITE)
        assert catalogue.library_of(runtime.database, SITE)["due"] is None
        return begin(*arguments)

    monkeypatch.setattr(GridFsBlobs, "begin", move_meanwhile)
    uploaded(runtime)
    run_due(runtime)
    promotion.move_pending(runtime, SITE)
    end_all(runtime, clock)

    assert [version["store"] for version in versions(runtime)] == ["s3"]
    assert catalogue.library_of(runtime.database, SITE)["due"] is None


def test_four_readers_read_the_same_bytes_while_assets_move(runtime: Runtime, clock: Clock) -> None:
    asset_id = uploaded(runtime)
    is_over = threading.Event()

    def keep_reading() -> set[bytes]:
        seen = set()
        while not is_over.is_set():
            seen.add(read(runtime, asset_id))
        seen.add(read(runtime, asset_id))
        return seen

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(keep_reading) for _ in range(4)]
        try:
            for store in ("s3", "gridfs", "s3"):
                promotion.choose(runtime, SITE, store)
                promotion.move_pending(runtime, SITE)
                clock.advance(minutes=15)
                run_due(runtime)
        finally:
            is_over.set()
        assert [reader.result(timeout=60) for reader in readers] == [{CONTENT}] * 4


def test_a_reader_who_found_a_version_before_it_moved_reads_it(
    runtime: Runtime, clock: Clock
) -> None:
    asset = catalogue.find(runtime.database, uploaded(runtime))
    (version,) = asset["versions"]
    promotion.choose(runtime, SITE, "s3")
    promotion.move_pending(runtime, SITE)
    clock.advance(minutes=15)
    run_due(runtime)
    with pytest.raises(BlobGone):
        store_of(runtime, "gridfs").read(version["blob"], 0, 1)
    span = ByteRange(3, 9)

    assert serving.read(runtime, serving.Wanted(asset, version, span), span) == CONTENT[3:9]


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("is_repeated", [False, True], ids=["abandoned", "repeated"])
def test_a_move_that_ends_at_any_write_leaves_nothing_over(
    runtime: Runtime, clock: Clock, *, is_after: bool, is_repeated: bool
) -> None:
    for number in range(30):
        asset_id = uploaded(runtime)
        with crash_at_write(number, is_after=is_after):
            try:
                promotion.choose(runtime, SITE, "s3")
                promotion.move_pending(runtime, SITE)
                ended = False
            except Crash:
                ended = True
        assert read(runtime, asset_id) == CONTENT, number
        if is_repeated:
            promotion.choose(runtime, SITE, "s3")
            promotion.move_pending(runtime, SITE)
            assert {version["store"] for version in versions(runtime)} == {"s3"}
        end_all(runtime, clock)
        assert is_clean(runtime), number
        assert WASTE.of(runtime.database).count_documents({}) == 0
        assert read(runtime, asset_id) == CONTENT, number
        if not ended:
            return
        _start_over(runtime)
    pytest.fail("the writes have no end")


def _start_over(runtime: Runtime) -> None:
    for collection in (ASSETS, CHUNKS, FILES, LIBRARIES, WASTE):
        collection.of(runtime.database).delete_many({})
    make_bucket()


def test_a_copy_that_is_different_is_not_switched_to(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset_id = uploaded(runtime)
    part = S3Blobs.part

    def spoiled(blobs: S3Blobs, blob: str, handle: str, number: int, data: bytes) -> None:
        part(blobs, blob, handle, number, b"x" + data[1:])

    monkeypatch.setattr(S3Blobs, "part", spoiled)
    promotion.choose(runtime, SITE, "s3")

    promotion.move_pending(runtime, SITE)

    assert {version["store"] for version in versions(runtime)} == {"gridfs"}
    assert read(runtime, asset_id) == CONTENT
    assert catalogue.library_of(runtime.database, SITE)["due"] is not None
    end_all(runtime, clock)
    assert is_clean(runtime)


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("fault", ["gone", "spoiled"])
def test_a_move_without_progress_is_tried_less_and_less_often(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    uploaded(runtime)
    if fault == "gone":
        runtime.database["asset.chunks"].delete_many({})
    else:
        monkeypatch.setattr(promotion, "hash_of", lambda _pieces: "of other bytes")
    promotion.choose(runtime, SITE, "s3")
    sent_after = list[int]()

    for minutes in range(60):
        clock.advance(minutes=1)
        before = catalogue.library_of(runtime.database, SITE).get("resends", 0)
        promotion.resend_pending(runtime)
        if catalogue.library_of(runtime.database, SITE).get("resends", 0) > before:
            sent_after.append(minutes)
            promotion.move_pending(runtime, SITE)

    pauses = [later - sooner for sooner, later in pairwise(sent_after)]
    assert len(pauses) >= 3
    assert pauses == sorted(set(pauses))


def test_what_is_deleted_while_it_moves_stays_deleted(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset_id = uploaded(runtime)

    def deleted_first(*arguments: object) -> None:
        write(*arguments)  # type: ignore[arg-type]
        catalogue.delete(runtime, SITE, asset_id)

    monkeypatch.setattr(promotion, "write", deleted_first)
    promotion.choose(runtime, SITE, "s3")
    promotion.move_pending(runtime, SITE)

    assert list(versions(runtime)) == []
    end_all(runtime, clock)
    assert is_clean(runtime)


def test_a_worker_of_a_former_choice_moves_nothing_more(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        uploaded(runtime)
    written: list[object] = []

    def corrected_first(*arguments: object) -> None:
        write(*arguments)  # type: ignore[arg-type]
        written.append(arguments)
        promotion.choose(runtime, SITE, "gridfs")
        promotion.move_pending(runtime, SITE)

    monkeypatch.setattr(promotion, "write", corrected_first)
    promotion.choose(runtime, SITE, "s3")
    promotion.move_pending(runtime, SITE)

    assert len(written) == 1
    assert {version["store"] for version in versions(runtime)} == {"gridfs"}
    library = catalogue.library_of(runtime.database, SITE)
    assert (library["store"], library["due"]) == ("gridfs", None)
    end_all(runtime, clock)
    assert is_clean(runtime)


def test_an_upload_that_was_begun_before_is_moved_when_it_is_finished(
    runtime: Runtime, clock: Clock
) -> None:
    asked = NewAsset(name="A", type="text/csv", length=5, sha256=digest(b"first"))
    upload_id = uploads.begin(runtime, SITE, asked, "eda")["_id"]
    promotion.choose(runtime, SITE, "s3")
    promotion.move_pending(runtime, SITE)
    assert catalogue.library_of(runtime.database, SITE)["due"] is not None
    uploads.put_part(runtime, SITE, upload_id, 0, b"first")
    uploads.finish(runtime, SITE, upload_id)

    clock.advance(minutes=1)
    promotion.move_pending(runtime, SITE)

    assert {version["store"] for version in versions(runtime)} == {"s3"}
    assert catalogue.library_of(runtime.database, SITE)["due"] is None


@pytest.mark.bounds(assets={"move_seconds": 0})
def test_a_worker_without_time_leaves_the_rest_to_the_schedule(
    runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    uploaded(runtime)
    promotion.choose(runtime, SITE, "s3")
    promotion.move_pending(runtime, SITE)
    assert {version["store"] for version in versions(runtime)} == {"gridfs"}
    assert catalogue.library_of(runtime.database, SITE)["due"] is not None
    workers.drain()

    clock.advance(milliseconds=runtime.settings.lease_ms)
    run_due(runtime)

    assert workers.drain() == 1


def test_a_move_is_a_message_to_a_worker(runtime: Runtime, workers: Workers) -> None:
    uploaded(runtime)
    promotion.choose(runtime, SITE, "gridfs")

    assert workers.drain() == 1
    assert catalogue.library_of(runtime.database, SITE)["due"] is None
    # Late, or a second time.
    promotion.move_pending(runtime, SITE)
    promotion.move_pending(runtime, "nobody")

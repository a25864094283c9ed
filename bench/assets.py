"""Cost of assets: ranges, copies that a reader holds, and a whole upload, beside the raw driver.

The floor of a range is the driver's read of the chunks that have it, after the asset's document;
the driver's own stream is measured as an operation of its own. That of an upload is the driver's
bucket, which reads no byte again, checks no hash and is not resumed.
"""

import hashlib
import itertools
import random
from collections.abc import Iterator
from typing import Any

import gridfs

from bench.calls import AppCalls, CallFailed
from bench.case import Case
from bench.stage import Stage
from chalicelib.assets import uploads
from chalicelib.assets.blobs.gridfs import CHUNK_BYTES, PART_BYTES
from chalicelib.assets.forms import NewAsset
from chalicelib.assets.shapes import ASSETS, CHUNKS, Asset
from chalicelib.runtime import Runtime

MEBIBYTE = 1024 * 1024
SITE = "bench"
# Reads of one MiB each, somewhere in a file of so many.
FILE_MIB, RANGE_MIB = 20, 1
UPLOADS = 10
_READING = "/assets/{asset}/{number}"
NOT_MODIFIED_AT_MOST = 1.5


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield reads of one file, and uploads of files of growing size."""
    yield list(_reads(stage.runtime))
    yield [_upload(stage.runtime, size) for size in stage.sizes(4, 16, 64)]


def _reads(runtime: Runtime) -> Iterator[Case]:
    asset = _uploaded(runtime, _content(FILE_MIB))
    readers = Readers(runtime, asset)
    shared: dict[str, Any] = {"size": FILE_MIB, "unit": "MiB", "samples_at_most": 200}
    yield Case("range of 1 MiB", readers.range, readers.raw_range, ratio_at_most=None, **shared)
    yield Case(
        "range of 1 MiB, by the driver's stream", readers.stream, readers.raw_range, **shared
    )
    yield Case(
        "304 of a version",
        readers.not_modified,
        readers.raw_asset,
        ratio_at_most=NOT_MODIFIED_AT_MOST,
        **shared,
    )


class Readers:
    """Readers of one asset."""

    def __init__(self, runtime: Runtime, asset: Asset) -> None:
        self._calls = AppCalls(runtime)
        self._database, self._asset = runtime.database, asset
        self._blob, self._tag = asset["versions"][0]["blob"], asset["versions"][0]["sha256"]
        self._bucket = gridfs.GridFSBucket(runtime.database, "asset", CHUNK_BYTES)
        rng = random.Random(1)  # noqa: S311 - the same ranges every time
        last = (FILE_MIB - RANGE_MIB) * MEBIBYTE
        self._starts = itertools.cycle([rng.randrange(last) for _ in range(50)])

    def _send(self, **headers: str) -> int:
        path = {"asset": self._asset["_id"], "number": "1"}
        event = self._calls.event("GET", _READING, path)
        event["headers"].update(headers)
        answer = self._calls.send(event)
        return int(answer["statusCode"])

    def range(self) -> None:
        """Ask for one MiB."""
        start = next(self._starts)
        if self._send(range=f"bytes={start}-{start + MEBIBYTE - 1}") != 206:  # noqa: PLR2004
            raise CallFailed("no range")

    def raw_range(self) -> None:
        """Read the asset, and the chunks that have one MiB."""
        self.raw_asset()
        start = next(self._starts)
        first, last = start // CHUNK_BYTES, (start + MEBIBYTE - 1) // CHUNK_BYTES
        where = {"files_id": self._blob, "n": {"$gte": first, "$lte": last}}
        found = CHUNKS.of(self._database).find(where, {"data": 1, "_id": 0}).sort("n", 1)
        b"".join(row["data"] for row in found)

    def stream(self) -> None:
        """Read one MiB by the driver's stream."""
        self.raw_asset()
        stream = self._bucket.open_download_stream(self._blob)
        stream.seek(next(self._starts))
        stream.read(MEBIBYTE)

    def not_modified(self) -> None:
        """Ask for a version that the reader holds."""
        if self._send(**{"if-none-match": f'"{self._tag}"'}) != 304:  # noqa: PLR2004
            raise CallFailed("not held")

    def raw_asset(self) -> None:
        """Read the asset."""
        ASSETS.of(self._database).find_one({"_id": self._asset["_id"]})


def _upload(runtime: Runtime, mebibytes: int) -> Case:
    content = _content(mebibytes)
    bucket = gridfs.GridFSBucket(runtime.database, "bench.raw", CHUNK_BYTES)
    return Case(
        "upload",
        lambda: _uploaded(runtime, content),
        lambda: bucket.upload_from_stream("A film", content),
        floor_is="the driver's bucket, unchecked",
        size=mebibytes,
        unit="MiB",
        door="function",
        samples_at_most=UPLOADS,
    )


def _content(mebibytes: int) -> bytes:
    return random.Random(mebibytes).randbytes(mebibytes * MEBIBYTE)  # noqa: S311 - data


def _uploaded(runtime: Runtime, content: bytes) -> Asset:
    """Upload a file in parts; return the asset."""
    digest = hashlib.sha256(content).hexdigest()
    asked = NewAsset(
        name="A film", type="application/octet-stream", length=len(content), sha256=digest
    )
    upload = uploads.begin(runtime, SITE, asked, "ann")["_id"]
    for number, start in enumerate(range(0, len(content), PART_BYTES)):
        part = content[start : start + PART_BYTES]
        uploads.put_part(runtime, SITE, upload, number, part)
    return uploads.finish(runtime, SITE, upload)

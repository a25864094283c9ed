"""Blobs in S3, by multipart upload; clients write to the bucket and read from it themselves.

Every part has its SHA-256, which the signed address includes. So S3 refuses other bytes, and a
repeat of a part changes nothing.
"""

import base64
import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from chalicelib import outgoing
from chalicelib.assets.blobs.protocol import BlobGone, PartAddress, part_count, part_length
from chalicelib.assets.shapes import StoreName
from chalicelib.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

Result = TypeVar("Result")
# S3's minimum is 5 MiB, except for the last part.
PART_BYTES = 8 * 1024 * 1024
MAX_BYTES = 5 * 1024**3
# The largest blob that the end of an upload reads once more and hashes: a second's work.
_CHECKED_BYTES = 64 * 1024 * 1024
# Readers get any length from the bucket; but the end of an upload has the picture in memory, a
# JPEG twice, in a function that has 512 MB.
MAX_PICTURE_BYTES = 64 * 1024 * 1024
_ADDRESS_SECONDS = 3_600
_OF_A_PART = ("PartNumber", "ETag", "ChecksumSHA256")
# For a call with its retry: it carries at most a part of 8 MiB.
SECONDS = 15.0
_CONNECT_SECONDS, _READ_SECONDS = 2.0, 6.0
_WAY = outgoing.Way()
_MISSING = frozenset({"NoSuchUpload", "NoSuchKey", "404", "NotFound", "InvalidRange"})


class _Missing(Exception):
    """S3 has no such object or bytes, or no such upload any more."""


class S3Blobs:
    """Blobs in one bucket; the id of a blob is the key of its object."""

    name: StoreName = "s3"
    part_bytes = PART_BYTES
    max_bytes = MAX_BYTES
    max_picture_bytes = MAX_PICTURE_BYTES
    needs_digests = True

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def begin(self, blob: str, media_type: str) -> str:
        """Begin a multipart upload; return S3's id of it."""
        begun = _call(
            lambda s3: s3.create_multipart_upload(
                Bucket=self._bucket, Key=blob, ContentType=media_type, ChecksumAlgorithm="SHA256"
            )
        )
        return begun["UploadId"]

    def addresses(self, blob: str, handle: str, digests: Sequence[str]) -> list[PartAddress]:
        """Return the address of each part, good for an hour, with its checksum as a header."""
        return [self._address(blob, handle, number, each) for number, each in enumerate(digests)]

    def _address(self, blob: str, handle: str, number: int, digest: str) -> PartAddress:
        checksum = _in_base64(bytes.fromhex(digest))
        asked = {**self._part(blob, handle, number), "ChecksumSHA256": checksum}
        url = _address_of("upload_part", asked)
        return PartAddress(url, {"x-amz-checksum-sha256": checksum})

    def _part(self, blob: str, handle: str, number: int) -> dict[str, Any]:
        return {**self._object(blob), "UploadId": handle, "PartNumber": number + 1}

    def _object(self, blob: str) -> dict[str, Any]:
        return {"Bucket": self._bucket, "Key": blob}

    def part(self, blob: str, handle: str, number: int, data: bytes) -> None:
        """Send a part of a blob that Plaza itself writes."""
        checksum = _in_base64(hashlib.sha256(data).digest())
        part = self._part(blob, handle, number)
        _call(lambda s3: s3.upload_part(**part, Body=data, ChecksumSHA256=checksum))

    def present(self, blob: str, handle: str, length: int) -> set[int]:
        """Return the numbers of the parts with their whole length; of a finished object, all."""
        try:
            parts = self._parts(blob, handle)
        except _Missing:
            is_there = self._has(blob, length)
            return set(range(part_count(self, length))) if is_there else set()
        sizes = {each["PartNumber"] - 1: each["Size"] for each in parts}
        return {number for number in sizes if sizes[number] == part_length(self, number, length)}

    def _parts(self, blob: str, handle: str) -> list[Any]:
        def list_parts(s3: "S3Client") -> list[Any]:
            pages = s3.get_paginator("list_parts").paginate(**self._object(blob), UploadId=handle)
            return [part for page in pages for part in page.get("Parts", ())]

        return _call(list_parts)

    def _has(self, blob: str, length: int) -> bool:
        try:
            found = _call(lambda s3: s3.head_object(**self._object(blob)))
        except _Missing:
            return False
        return found["ContentLength"] == length

    def finish(self, blob: str, handle: str, length: int) -> None:
        """Make the parts an object; raises BlobGone if one is missing."""
        if len(self.present(blob, handle, length)) < part_count(self, length):
            raise BlobGone(blob)
        try:
            parts: list[Any] = [
                {name: part[name] for name in _OF_A_PART if name in part}
                for part in self._parts(blob, handle)
            ]
            _call(
                lambda s3: s3.complete_multipart_upload(
                    **self._object(blob), UploadId=handle, MultipartUpload={"Parts": parts}
                )
            )
        except _Missing:
            # Without an upload, another call may have finished the blob.
            if not self._has(blob, length):
                raise BlobGone(blob) from None

    def read(self, blob: str, start: int, end: int) -> bytes:
        """Return bytes of an object; raises BlobGone."""
        try:
            content = _call(
                lambda s3: s3.get_object(**self._object(blob), Range=f"bytes={start}-{end - 1}")[
                    "Body"
                ].read()
            )
        except _Missing:
            raise BlobGone(blob) from None
        if len(content) < end - start:
            raise BlobGone(blob)
        return content

    def is_checked(self, length: int) -> bool:
        """Return whether reading a blob of this length again fits the time of a finish."""
        return length <= _CHECKED_BYTES

    def reading_address(self, blob: str, media_type: str, disposition: str) -> str | None:
        """Return the address of the object, good for an hour."""
        asked = {
            **self._object(blob),
            "ResponseContentType": media_type,
            "ResponseContentDisposition": disposition,
            "ResponseCacheControl": f"private, max-age={_ADDRESS_SECONDS}",
        }
        return _address_of("get_object", asked)

    def drop(self, blob: str) -> None:
        """Abort the uploads of a blob, and delete its object."""
        begun = _call(lambda s3: s3.list_multipart_uploads(Bucket=self._bucket, Prefix=blob))
        for upload in begun.get("Uploads", ()):
            with contextlib.suppress(_Missing):
                self._abort(blob, upload["UploadId"])
        _call(lambda s3: s3.delete_object(**self._object(blob)))

    def names(self) -> Iterator[str]:
        """Yield the keys of all objects; the bucket is for blobs alone."""
        after = ""
        while True:
            asked: Any = {"StartAfter": after} if after else {}
            page = _call(lambda s3: s3.list_objects_v2(Bucket=self._bucket, **asked))  # noqa: B023
            yield from (each["Key"] for each in page.get("Contents", ()))
            if not page["IsTruncated"]:
                return
            after = page["Contents"][-1]["Key"]

    def _abort(self, blob: str, handle: str) -> None:
        _call(lambda s3: s3.abort_multipart_upload(**self._object(blob), UploadId=handle))


def _in_base64(digest: bytes) -> str:
    return base64.b64encode(digest).decode("ascii")


def _call(work: "Callable[[S3Client], Result]") -> Result:
    """Return S3's answer; raises _Missing for missing objects and bytes, and Unavailable."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client = _client()
        return _WAY.call(SECONDS, lambda: work(client))
    except ClientError as error:
        response: Any = error.response
        if response.get("Error", {}).get("Code") in _MISSING:
            raise _Missing from error
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status < HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.TOO_MANY_REQUESTS:
            raise
        raise Unavailable from error
    except (BotoCoreError, TimeoutError) as error:
        raise Unavailable from error


def _address_of(operation: str, asked: dict[str, Any]) -> str:
    return _call(lambda s3: s3.generate_presigned_url(operation, asked, ExpiresIn=_ADDRESS_SECONDS))


@lru_cache(maxsize=1)
def _client() -> "S3Client":
    """Return the container's client; imported late, since most calls need none."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "virtual"},
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": 2},
        ),
    )

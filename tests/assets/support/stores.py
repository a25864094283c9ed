"""The stores of blobs, each for the contract suite; none can opt out of a test."""

from collections.abc import Callable

import boto3

from chalicelib.assets.blobs import Blobs
from chalicelib.assets.blobs.gridfs import GridFsBlobs
from chalicelib.assets.blobs.s3 import S3Blobs
from chalicelib.runtime import Runtime

BUCKET = "plaza-test-assets"


def in_gridfs(runtime: Runtime) -> Blobs:
    return GridFsBlobs(runtime.database, runtime.now)


def in_s3(runtime: Runtime) -> Blobs:
    del runtime
    make_bucket()
    return S3Blobs(BUCKET)


def make_bucket(name: str = BUCKET) -> None:
    """Make the bucket, empty, in the S3 of the tests."""
    s3 = boto3.resource("s3")
    bucket = s3.Bucket(name)
    if bucket.creation_date is None:
        bucket.create()
    bucket.objects.delete()
    for upload in bucket.multipart_uploads.all():
        upload.abort()


STORES: dict[str, Callable[[Runtime], Blobs]] = {"gridfs": in_gridfs, "s3": in_s3}

"""Blobs: bytes under an id, in GridFS or in S3, written in parts and never changed.

Public face: `gridfs`.
"""

from chalicelib.assets.blobs.gridfs import GridFsBlobs
from chalicelib.assets.blobs.protocol import (
    BlobGone,
    Blobs,
    PartAddress,
    check_digests,
    check_part,
    hash_of,
    most_bytes,
    part_count,
    part_length,
    pieces,
    write,
)
from chalicelib.assets.blobs.s3 import S3Blobs
from chalicelib.assets.errors import StoreUnavailable
from chalicelib.assets.shapes import StoreName
from chalicelib.runtime import Runtime

__all__ = [
    "BlobGone",
    "Blobs",
    "PartAddress",
    "check_digests",
    "check_part",
    "hash_of",
    "most_bytes",
    "part_count",
    "part_length",
    "pieces",
    "write",
]

# The stores of blobs that a deployment has.


def store_of(runtime: Runtime, name: StoreName) -> Blobs:
    """Return a store by its name; raises StoreUnavailable if the deployment lacks it."""
    if name == "gridfs":
        return GridFsBlobs(runtime.database, runtime.now)
    if not runtime.settings.asset_bucket:
        raise StoreUnavailable
    return S3Blobs(runtime.settings.asset_bucket)

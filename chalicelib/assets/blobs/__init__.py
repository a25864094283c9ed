"""Blobs: bytes under an id, in GridFS or in S3, written in parts and never changed.

Public face: `gridfs`, `stores`.
"""

from chalicelib.assets.blobs.protocol import (
    BlobGone,
    Blobs,
    PartAddress,
    hash_of,
    part_count,
    part_length,
    pieces,
    write,
)

__all__ = [
    "BlobGone",
    "Blobs",
    "PartAddress",
    "hash_of",
    "part_count",
    "part_length",
    "pieces",
    "write",
]

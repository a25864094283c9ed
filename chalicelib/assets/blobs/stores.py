"""The stores of blobs that a deployment has."""

from chalicelib.assets.blobs.gridfs import GridFsBlobs
from chalicelib.assets.blobs.protocol import Blobs
from chalicelib.assets.blobs.s3 import S3Blobs
from chalicelib.assets.errors import StoreUnavailable
from chalicelib.assets.shapes import StoreName
from chalicelib.runtime import Runtime


def store_of(runtime: Runtime, name: StoreName) -> Blobs:
    """Return a store by its name; raises StoreUnavailable for one that the deployment lacks."""
    if name == "gridfs":
        return GridFsBlobs(runtime.database, runtime.now)
    if not runtime.settings.asset_bucket:
        raise StoreUnavailable
    return S3Blobs(runtime.settings.asset_bucket)

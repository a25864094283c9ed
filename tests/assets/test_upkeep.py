"""The removal of uploads and blobs while a store fails."""

import dataclasses
from datetime import timedelta

import boto3
import pytest
from botocore.exceptions import ClientError

from chalicelib.assets import promotion, uploads
from chalicelib.assets.blobs.s3 import S3Blobs
from chalicelib.assets.errors import StoreUnavailable
from chalicelib.assets.forms import NewAsset
from chalicelib.assets.jobs import run_due
from chalicelib.assets.shapes import CHUNKS, UPLOADS, WASTE, StoreName
from chalicelib.runtime import Runtime
from tests.assets.support.stores import BUCKET, make_bucket
from tests.assets.support.uploading import SITE, digest
from tests.support.clock import Clock

FIRST = b"first"


def with_bucket(runtime: Runtime, bucket: str) -> Runtime:
    settings = runtime.settings.model_copy(update={"asset_bucket": bucket})
    return dataclasses.replace(runtime, settings=settings)


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime whose deployment has a bucket."""
    make_bucket()
    return with_bucket(runtime, BUCKET)


def begin(runtime: Runtime, store: StoreName) -> str:
    promotion.choose(runtime, SITE, store)
    known = {"length": len(FIRST), "sha256": digest(FIRST), "part_sha256": [digest(FIRST)]}
    asked = NewAsset.model_validate({"name": "A", "type": "text/csv", **known})
    return uploads.begin(runtime, SITE, asked, "eda")["_id"]


def uploads_in_bucket() -> int:
    return len(boto3.client("s3").list_multipart_uploads(Bucket=BUCKET).get("Uploads", []))


def refuse(_blobs: S3Blobs, _blob: str) -> None:
    answer = {"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}
    raise ClientError(answer, "DeleteObject")  # type: ignore[arg-type]


@pytest.mark.parametrize("is_refused", [False, True], ids=["no bucket", "403"])
@pytest.mark.bounds(assets={"swept_at_once": 1})
def test_a_store_that_fails_holds_up_no_other_blob(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, is_refused: bool
) -> None:
    lost = begin(runtime, "s3")
    clock.advance(minutes=1)
    uploads.put_part(runtime, SITE, begin(runtime, "gridfs"), 0, FIRST)
    clock.advance(days=2)

    with monkeypatch.context() as patch:
        patch.setattr(S3Blobs, "drop", refuse)
        failing = runtime if is_refused else with_bucket(runtime, "")
        with pytest.raises(ClientError if is_refused else StoreUnavailable):
            run_due(failing)
        # The run fails at the one blob, and the next run removes the other.
        assert run_due(failing)["blobs_removed"] == 1
    assert UPLOADS.of(runtime.database).count_documents({}) == 0
    assert CHUNKS.of(runtime.database).count_documents({}) == 0
    (row,) = WASTE.of(runtime.database).find()
    assert (row["_id"], row["due"]) == (lost, clock() + timedelta(hours=1))

    clock.advance(hours=1)
    assert run_due(runtime)["blobs_removed"] == 1
    assert uploads_in_bucket() == 0
    assert WASTE.of(runtime.database).count_documents({}) == 0

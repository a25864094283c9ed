"""Imports and exports of a deployment with a bucket: files go there and come from there."""

import dataclasses
import gzip
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
import requests
from chalice.local import LocalChalice

from app import create_app
from chalicelib.runtime import Runtime
from tests.assets.support.stores import BUCKET, make_bucket
from tests.assets.support.uploading import BYTES, digest
from tests.comments.support.importing import at_url
from tests.comments.transfers.support.files import URL, lines_file, run, sweep
from tests.support.clock import Clock
from tests.support.http_client import Client

IMPORTS = "/sites/blog/imports"
CONTENT = lines_file(3)


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime whose deployment has a bucket."""
    make_bucket()
    settings = runtime.settings.model_copy(update={"asset_bucket": BUCKET})
    return dataclasses.replace(runtime, settings=settings)


@pytest.fixture
def publisher(runtime: Runtime, token: Callable[..., str]) -> Client:
    client = Client(create_app(runtime, LocalChalice), token)
    return client.as_("paula", roles=["publisher"], sites=["blog"])


def keys() -> set[str]:
    return {each.key for each in boto3.resource("s3").Bucket(BUCKET).objects.all()}


def begin(publisher: Client, **wanted: Any) -> Any:
    told = {"length": len(CONTENT), "part_sha256": [digest(CONTENT)], **wanted}
    begun = publisher.post(IMPORTS, **told)
    assert begun.status == 201, begun.body
    return begun.json


def test_a_file_goes_to_the_bucket_and_an_export_comes_from_there(
    publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    begun = begin(publisher, dry_run=False)
    (part,) = begun["parts"]
    sent = requests.put(part["url"], data=CONTENT, headers=part["headers"], timeout=30)
    assert sent.status_code == 200

    assert publisher.post(f"{IMPORTS}/{begun['id']}/start").status == 202
    run(runtime, begun["id"])

    assert publisher.get(f"{IMPORTS}/{begun['id']}").json["state"] == "done"
    assert len(at_url(runtime, URL).walk()) == 3
    export = publisher.post("/sites/blog/exports", format="plaza").json["id"]
    run(runtime, export)
    (file,) = publisher.get(f"/sites/blog/exports/{export}").json["files"]
    assert file["is_signed"]
    found = requests.get(file["pieces"][0], timeout=30)
    assert found.headers["Content-Disposition"] == 'attachment; filename="blog.ndjson.gz"'
    assert gzip.decompress(found.content).count(b'"kind": "comment"') == 3
    clock.advance(days=8)
    sweep(runtime)
    assert keys() == set()


def test_the_bucket_takes_no_other_bytes_and_no_part_comes_through_the_api(
    publisher: Client,
) -> None:
    begun = begin(publisher)
    (part,) = begun["parts"]

    refused = publisher.request(
        "PUT", f"{IMPORTS}/{begun['id']}/parts/1", body=CONTENT, headers=BYTES
    )

    assert "x-amz-checksum-sha256" in part["headers"]
    assert (refused.status, refused.json["code"]) == (409, "other_store")


def test_the_console_may_send_files_to_the_bucket(publisher: Client) -> None:
    (part,) = begin(publisher)["parts"]

    policy = publisher.get("/console").headers["Content-Security-Policy"]

    host = urlsplit(part["url"]).hostname
    assert f"connect-src 'self' https://{host};" in policy


def test_each_part_needs_its_digest(publisher: Client) -> None:
    refused = publisher.post(IMPORTS, length=10)

    assert (refused.status, refused.json["errors"][0]["code"]) == (422, "wrong_number")


def test_a_file_that_was_discarded_leaves_the_bucket(
    publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    begun = begin(publisher)
    (part,) = begun["parts"]
    requests.put(part["url"], data=CONTENT, headers=part["headers"], timeout=30)
    publisher.request("DELETE", f"{IMPORTS}/{begun['id']}")
    clock.advance(minutes=16)
    sweep(runtime)

    uploads = boto3.client("s3").list_multipart_uploads(Bucket=BUCKET)
    assert uploads.get("Uploads", []) == []

"""Assets of a site that keeps them in S3: sent to the bucket, and read there."""

import dataclasses
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
import requests
from botocore.exceptions import ClientError, EndpointConnectionError
from chalice.local import LocalChalice

from app import create_app
from chalicelib.assets.blobs import s3 as s3_blobs
from chalicelib.assets.blobs.s3 import PART_BYTES, S3Blobs
from chalicelib.assets.forms import MOST_BYTES
from chalicelib.assets.jobs import run_due
from chalicelib.assets.jpeg import strip
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.web.console import origin_of, policy_of
from tests.assets.support.files import GPS, exif, jpeg, png
from tests.assets.support.stores import BUCKET, make_bucket
from tests.assets.support.uploading import SITE, Uploader, digest, editor_of
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime whose deployment has a bucket."""
    make_bucket()
    settings = runtime.settings.model_copy(update={"asset_bucket": BUCKET})
    return dataclasses.replace(runtime, settings=settings)


@pytest.fixture
def editor(runtime: Runtime, token: Callable[..., str]) -> Uploader:
    """An editor of a site that keeps its assets in S3."""
    client = Client(create_app(runtime, LocalChalice), token)
    owner = client.as_("paula", roles=["publisher"], sites=[SITE])
    assert owner.post(f"/content/{SITE}/assets/store", store="s3").status == 200
    return Uploader(editor_of(client))


@pytest.mark.usefixtures("sqs")
@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "eu-south-1", "cn-north-1"])
def test_an_address_names_the_region_of_its_bucket(
    monkeypatch: pytest.MonkeyPatch, region: str
) -> None:
    """The console's policy allows this origin; other regions' buckets have no global address."""
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    s3_blobs._client.cache_clear()
    try:
        address = S3Blobs(BUCKET).reading_address("blob", "image/png", "inline")
    finally:
        s3_blobs._client.cache_clear()

    assert address
    assert address.startswith(f"{origin_of(BUCKET)}/blob?")
    assert f" {origin_of(BUCKET)};" in policy_of(BUCKET)
    assert (region in address.partition("?")[0]) == (region != "us-east-1")


def digests(content: bytes) -> list[str]:
    starts = range(0, len(content), PART_BYTES)
    return [digest(content[start : start + PART_BYTES]) for start in starts]


def send(part: dict[str, Any], data: bytes) -> int:
    """Put a part where the upload says, as a client does; return S3's status."""
    return requests.put(part["url"], data=data, headers=part["headers"], timeout=30).status_code


def uploaded(editor: Uploader, content: bytes, kind: str) -> dict[str, Any]:
    begun = editor.begin(content, kind, part_sha256=digests(content)).json
    for part in begun["parts"]:
        start = (part["number"] - 1) * PART_BYTES
        assert send(part, content[start : start + PART_BYTES]) == 200
    reply = editor.finish(begun)
    assert reply.status == 200, reply.body
    asset: dict[str, Any] = reply.json
    return asset


def keys() -> set[str]:
    bucket = boto3.resource("s3").Bucket(BUCKET)
    return {each.key for each in bucket.objects.all()}


def test_parts_go_to_the_bucket_and_readers_too(editor: Uploader) -> None:
    content = png(64, 48) + bytes(PART_BYTES)

    asset = uploaded(editor, content, "image/png")

    reply = editor.client.get(asset["current"]["url"])
    assert (reply.status, reply.headers["Cache-Control"]) == (302, "private, no-store")
    anybody = Client(editor.client.app, editor.client.token)
    tag = {"If-None-Match": f'"{digest(content)}"'}
    for held in ({}, tag):
        # A cache that had a tag of the redirect would keep it for longer than its address holds.
        reply = anybody.request("GET", asset["current"]["url"], headers=held)
        assert (reply.status, reply.headers["Cache-Control"]) == (302, "public, max-age=60")
        assert "ETag" not in reply.headers
    address = reply.headers["Location"]
    found = requests.get(address, headers={"Range": "bytes=0-9"}, timeout=30)
    assert (found.status_code, found.content) == (206, content[:10])
    asked = parse_qs(urlsplit(address).query)
    assert asked["response-content-type"] == ["image/png"]
    assert asked["response-content-disposition"][0].startswith("inline; filename*=")
    head = anybody.request("HEAD", asset["current"]["url"])
    assert (head.status, head.headers["Content-Length"]) == (200, str(len(content)))


def test_an_address_takes_one_checksum_alone(editor: Uploader) -> None:
    begun = editor.begin(b"first", "text/csv", part_sha256=digests(b"first")).json

    (part,) = begun["parts"]

    signed = parse_qs(urlsplit(part["url"]).query)["X-Amz-SignedHeaders"]
    assert "x-amz-checksum-sha256" in signed[0].split(";")
    assert begun["part_bytes"] == PART_BYTES


def test_the_store_needs_the_checksum_of_each_part(editor: Uploader) -> None:
    for given in ([], [digest(b"first")] * 2):
        reply = editor.begin(b"first", "text/csv", part_sha256=given)
        assert reply.json["errors"][0]["code"] == "wrong_number"


def test_no_part_comes_through_the_api(editor: Uploader) -> None:
    begun = editor.begin(b"first", "text/csv", part_sha256=digests(b"first")).json

    reply = editor.put(f"/content/{SITE}/uploads/{begun['id']}/parts/1", b"first")

    assert (reply.status, reply.code) == (409, "other_store")


def test_a_second_finish_has_the_answer_of_the_first(editor: Uploader) -> None:
    begun = editor.begin(b"first", "text/csv", part_sha256=digests(b"first")).json
    assert editor.finish(begun).code == "parts_missing"
    send(begun["parts"][0], b"first")

    answers = [editor.finish(begun).json for _ in range(2)]

    assert answers[0] == answers[1]
    assert answers[0]["current"]["sha256"] == digest(b"first")


def test_other_bytes_than_were_announced_are_refused(editor: Uploader) -> None:
    begun = editor.begin(
        b"first", "text/csv", sha256=digest(b"other"), part_sha256=digests(b"first")
    ).json
    send(begun["parts"][0], b"first")

    assert editor.finish(begun).code == "wrong_content"


def test_a_picture_loses_where_it_was_taken(
    editor: Uploader, runtime: Runtime, clock: Clock
) -> None:
    picture = jpeg(before=[exif(6)])

    asset = uploaded(editor, picture, "image/jpeg")

    assert asset["current"]["sha256"] == digest(strip(picture))
    clock.advance(minutes=15)
    run_due(runtime)
    (key,) = keys()
    content = boto3.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read()
    assert content == strip(picture)
    assert GPS not in content


def test_nothing_is_left_of_what_was_not_finished(
    editor: Uploader, runtime: Runtime, clock: Clock
) -> None:
    begun = editor.begin(b"first", "text/csv", part_sha256=digests(b"first")).json
    send(begun["parts"][0], b"first")
    clock.advance(hours=24, minutes=15)

    assert run_due(runtime)["uploads_removed"] == 1

    left = boto3.client("s3").list_multipart_uploads(Bucket=BUCKET)
    assert left.get("Uploads", []) == []
    assert keys() == set()


def test_a_deployment_without_a_bucket_has_no_such_store(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    settings = runtime.settings.model_copy(update={"asset_bucket": ""})
    app = create_app(dataclasses.replace(runtime, settings=settings), LocalChalice)
    owner = Client(app, token).as_("paula", roles=["publisher"], sites=[SITE])

    reply = owner.post(f"/content/{SITE}/assets/store", store="s3")

    assert (reply.status, reply.code) == (409, "store_unavailable")
    kept = owner.get(f"/content/{SITE}/assets/store").json
    assert (kept["store"], kept["is_moving"]) == ("gridfs", False)


def test_the_largest_file_is_announced(editor: Uploader) -> None:
    parts = [digest(b"")] * (MOST_BYTES // PART_BYTES)

    reply = editor.begin(b"", "video/mp4", length=MOST_BYTES, part_sha256=parts)

    assert (reply.status, len(reply.json["parts"])) == (201, 640)


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="https://s3"),
        ClientError({"ResponseMetadata": {"HTTPStatusCode": 503}}, "GetObject"),  # type: ignore[typeddict-item]
    ],
)
def test_an_outage_of_s3_is_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def failing() -> Any:
        raise error

    monkeypatch.setattr(s3_blobs, "_client", failing)

    with pytest.raises(Unavailable):
        S3Blobs(BUCKET).read("blob", 0, 1)


def test_a_refusal_of_s3_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Any:
        told = {"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}
        raise ClientError(told, "GetObject")  # type: ignore[arg-type]

    monkeypatch.setattr(s3_blobs, "_client", failing)

    with pytest.raises(ClientError):
        S3Blobs(BUCKET).read("blob", 0, 1)

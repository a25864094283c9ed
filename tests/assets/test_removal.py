"""One version of an asset is taken down, such as a photo that should never have been shown."""

import re
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from chalicelib.assets import promotion
from chalicelib.assets.blobs import protocol
from chalicelib.assets.jobs import run_due
from chalicelib.assets.promotion import move_pending
from chalicelib.assets.serving import MAX_AGE_SECONDS
from chalicelib.assets.shapes import ASSETS, CHUNKS, WASTE
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.assets.support.files import gif, png
from tests.assets.support.stores import BUCKET, make_bucket
from tests.assets.support.uploading import SITE, Uploader, editor_of
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

PATHS = {f"/content/{SITE}": "pia", "/users/me": "eda"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"asset_bucket": BUCKET})


@pytest.fixture(params=PATHS)
def uploader(request: pytest.FixtureRequest, client: Client) -> Uploader:
    return Uploader(editor_of(client), request.param)


def remove(client: Client, uploader: Uploader, asset: Any, number: int) -> Reply:
    """Remove a version as the site's publisher, or as the person."""
    caller = client.as_(PATHS[uploader.folder], roles=["publisher"], sites=[SITE])
    return caller.delete(f"{uploader.folder}/assets/{asset['id']}/versions/{number}")


def add(uploader: Uploader, asset: Any, content: bytes, kind: str = "image/png") -> Any:
    return uploader.upload(content, kind, f"/assets/{asset['id']}/versions")


def test_a_removed_version_is_shown_no_more(client: Client, uploader: Uploader) -> None:
    asset = uploader.upload(png(1, 1), "image/png")
    url = asset["current"]["url"]
    etag = client.get(url).headers["ETag"]
    add(uploader, asset, png(2, 2))

    for _ in range(2):
        assert remove(client, uploader, asset, 1).status == 204

    # Also to a reader who has it, and asks whether it is still the same.
    for headers in ({}, {"If-None-Match": etag}, {"Range": "bytes=0-3"}):
        reply = client.request("GET", url, headers=headers)
        assert (reply.status, reply.code) == (404, "unknown_asset")
    assert client.get(asset["url"]).headers["Location"].endswith("/2")
    assert client.get(f"{asset['url']}/2").body == png(2, 2)
    whole = uploader.client.get(f"{uploader.folder}/assets/{asset['id']}").json
    assert ["removed_at" in each for each in whole["versions"]] == [True, False]


def test_caches_show_it_for_an_hour_at_most(client: Client, uploader: Uploader) -> None:
    asset = uploader.upload(png(), "image/png")

    kept = client.get(asset["current"]["url"]).headers["Cache-Control"]

    assert re.fullmatch(r"public, max-age=(\d+)", kept)
    assert MAX_AGE_SECONDS == 3_600 == int(kept.rpartition("=")[2])


def test_its_bytes_go_with_the_next_run(
    client: Client, uploader: Uploader, runtime: Runtime
) -> None:
    asset = uploader.upload(png() + b"secret", "image/png")
    add(uploader, asset, png(2, 2))

    remove(client, uploader, asset, 1)
    run_due(runtime)

    stored = [chunk["data"] for chunk in CHUNKS.of(runtime.database).find()]
    assert stored == [png(2, 2)]
    assert WASTE.of(runtime.database).count_documents({}) == 0


def test_the_newest_other_version_takes_the_place_of_the_current(
    client: Client, uploader: Uploader
) -> None:
    asset = uploader.upload(png(1, 1), "image/png")
    for size in (2, 3):
        add(uploader, asset, png(size, size))

    shown = []
    for number in (3, 1, 2):
        remove(client, uploader, asset, number)
        reply = client.get(asset["url"])
        shown.append(reply.headers["Location"][-1] if reply.status == 302 else reply.code)

    assert shown == ["2", "2", "unknown_asset"]
    again = add(uploader, asset, gif(), "image/gif")
    assert again["current"]["number"] == 4
    assert client.get(asset["url"]).headers["Location"].endswith("/4")


def test_a_version_of_another_kind_takes_no_place(
    client: Client, editor: Uploader, runtime: Runtime
) -> None:
    asset = editor.upload(png(), "image/png")
    add(editor, asset, png(2, 2))
    # A former release took any file as a version.
    first = {"$set": {"versions.0.type": "application/pdf"}}
    ASSETS.of(runtime.database).update_one({"_id": asset["id"]}, first)

    remove(client, editor, asset, 2)

    assert client.get(asset["url"]).code == "unknown_asset"


def test_what_things_show_can_be_taken_down_and_its_bytes_are_free(
    client: Client, uploader: Uploader, runtime: Runtime
) -> None:
    asset = uploader.upload(png(), "image/png")
    ASSETS.of(runtime.database).update_one({"_id": asset["id"]}, {"$set": {"used_by": 3}})

    assert remove(client, uploader, asset, 1).status == 204

    listed = uploader.client.get(f"{uploader.folder}/assets").json
    assert listed["storage"]["bytes"] == 0
    assert "removed_at" in listed["assets"][0]["current"]


def test_an_asset_with_a_removed_version_is_deleted_whole(
    client: Client, uploader: Uploader, runtime: Runtime, clock: Clock
) -> None:
    for count in (1, 2):
        asset = uploader.upload(png(), "image/png")
        if count == 2:
            add(uploader, asset, png(2, 2))
        remove(client, uploader, asset, 1)

        assert uploader.client.delete(f"{uploader.folder}/assets/{asset['id']}").status == 204

    clock.advance(minutes=15)
    run_due(runtime)
    assert CHUNKS.of(runtime.database).count_documents({}) == 0
    assert uploader.client.get(f"{uploader.folder}/assets").json["storage"]["bytes"] == 0


@pytest.mark.parametrize("number", [2, 50])
def test_a_version_that_is_not_there_is_unknown(
    client: Client, uploader: Uploader, number: int
) -> None:
    asset = uploader.upload(png(), "image/png")

    reply = remove(client, uploader, asset, number)

    assert (reply.status, reply.code) == (404, "unknown_asset")


def test_only_its_owner_takes_it_down(client: Client, editor: Uploader) -> None:
    asset = editor.upload(png(), "image/png")
    path = f"/content/{SITE}/assets/{asset['id']}/versions/1"
    other = client.as_("oz", roles=["publisher"], sites=["other"])

    assert editor.client.delete(path).status == 403
    assert other.delete(path).status == 403
    assert other.delete(path.replace(SITE, "other")).code == "unknown_asset"
    assert client.as_("oz").delete(f"/users/me/assets/{asset['id']}/versions/1").status == 404
    assert client.get(asset["current"]["url"]).status == 200


def test_a_removed_picture_is_shown_by_nothing_new(client: Client) -> None:
    ann = Uploader(client.as_("ann"), "/users/me")
    asset = ann.upload(png(), "image/png")
    ann.client.delete(f"/users/me/assets/{asset['id']}/versions/1")

    reply = ann.client.post(
        "/posts",
        circles=["*public*"],
        type="photo",
        detail={"url": f"asset:{asset['id']}"},
    )

    assert (reply.status, reply.code) == (404, "unknown_asset")


def test_a_move_brings_nothing_back(
    client: Client, editor: Uploader, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_bucket()
    asset = editor.upload(png(), "image/png")
    copied = protocol.hash_of

    def removed_meanwhile(content: Any) -> str:
        remove(client, editor, asset, 1)
        return copied(content)

    monkeypatch.setattr(promotion, "hash_of", removed_meanwhile)
    promotion.choose(runtime, SITE, "s3")
    move_pending(runtime, SITE)
    monkeypatch.undo()
    for _ in range(2):
        move_pending(runtime, SITE)

    (stored,) = ASSETS.of(runtime.database).find()
    assert stored["versions"][0]["store"] == "gridfs"
    assert client.get(asset["current"]["url"]).code == "unknown_asset"
    library = client.as_("pia", roles=["publisher"], sites=[SITE]).get(
        f"/content/{SITE}/assets/store"
    )
    assert library.json["is_moving"] is False


def test_a_move_leaves_a_removed_version(
    client: Client, editor: Uploader, runtime: Runtime
) -> None:
    make_bucket()
    asset = editor.upload(png(), "image/png")
    add(editor, asset, png(2, 2))
    remove(client, editor, asset, 1)
    run_due(runtime)
    (before,) = ASSETS.of(runtime.database).find()

    promotion.choose(runtime, SITE, "s3")
    move_pending(runtime, SITE)

    (moved,) = ASSETS.of(runtime.database).find()
    assert [each["store"] for each in moved["versions"]] == ["gridfs", "s3"]
    assert [each["_id"] for each in WASTE.of(runtime.database).find()] == [
        before["versions"][1]["blob"]
    ]


def test_in_a_bucket_its_object_goes_with_the_next_run(
    client: Client, editor: Uploader, runtime: Runtime
) -> None:
    make_bucket()
    asset = editor.upload(png(), "image/png")
    promotion.choose(runtime, SITE, "s3")
    move_pending(runtime, SITE)
    (stored,) = ASSETS.of(runtime.database).find()
    s3, blob = boto3.client("s3"), stored["versions"][0]["blob"]
    s3.head_object(Bucket=BUCKET, Key=blob)

    remove(client, editor, asset, 1)
    run_due(runtime)

    with pytest.raises(ClientError):
        s3.head_object(Bucket=BUCKET, Key=blob)

"""Uploads: parts in any order, twice, too long, too late; and what is refused at the end."""

from typing import Any

import pytest

from chalicelib.assets.blobs.gridfs import CHUNK_BYTES, MAX_BYTES, PART_BYTES
from chalicelib.assets.jpeg import strip
from chalicelib.assets.kinds import IMAGES
from chalicelib.assets.ranges import MOST_BYTES
from chalicelib.assets.shapes import ASSETS, CHUNKS, FILES, MAX_VERSIONS, UPLOADS
from chalicelib.assets.upkeep import sweep_uploads, sweep_waste
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.assets.support.files import GPS, JFIF, XMP, exif, gif, jpeg, png
from tests.assets.support.uploading import BYTES, SITE, Uploader, digest, orphans
from tests.support.clock import Clock
from tests.support.http_client import Client

TEXT = "text/csv"


def read(client: Client, url: str) -> bytes:
    reply = client.get(url)
    assert reply.status == 200, reply.body
    return reply.body


def test_a_picture_is_uploaded_and_read(editor: Uploader, client: Client) -> None:
    picture = png(64, 48)

    asset = editor.upload(picture, "image/png", name="Ferry, north.png")

    told = asset["current"]
    assert (told["type"], told["length"], told["sha256"]) == (
        "image/png",
        len(picture),
        digest(picture),
    )
    assert (told["width"], told["height"], told["made_by"]) == (64, 48, "eda")
    found = client.get(asset["url"])
    assert (found.status, found.headers["Location"]) == (302, told["url"])
    assert read(client, told["url"]) == picture


@pytest.mark.parametrize(
    "length",
    [1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, PART_BYTES - 1, PART_BYTES],
)
def test_one_part_is_as_long_as_the_file(editor: Uploader, client: Client, length: int) -> None:
    content = bytes(range(256)) * (length // 256 + 1)

    asset = editor.upload(content[:length], TEXT)

    assert read(client, asset["current"]["url"]) == content[:length]


def test_parts_come_in_any_order_and_twice(
    editor: Uploader, client: Client, runtime: Runtime
) -> None:
    content = bytes(range(256)) * (PART_BYTES // 256) + b"the last part"
    begun = editor.begin(content, TEXT).json
    assert [part["is_stored"] for part in begun["parts"]] == [False, False]

    for number in (2, 1, 2):
        editor.send(begun, content, [number])
    again = editor.client.get(f"/content/{SITE}/uploads/{begun['id']}").json
    asset = editor.finish(begun).json

    assert [part["is_stored"] for part in again["parts"]] == [True, True]
    assert again["asset_id"] == asset["id"]
    assert CHUNKS.of(runtime.database).count_documents({}) == 17
    (file,) = FILES.of(runtime.database).find()
    assert (file["length"], file["chunkSize"]) == (len(content), CHUNK_BYTES)
    last = client.request("GET", asset["current"]["url"], headers={"Range": "bytes=-13"})
    assert (last.status, last.body) == (206, b"the last part")


def test_a_part_that_is_stored_stays_as_it_is(editor: Uploader, client: Client) -> None:
    begun = editor.begin(b"first", TEXT).json
    editor.send(begun, b"first")
    editor.send(begun, b"other")

    asset = editor.finish(begun).json

    assert read(client, asset["current"]["url"]) == b"first"


@pytest.mark.parametrize(
    ("number", "data", "status", "code"),
    [
        (1, b"", 422, "wrong_length"),
        (1, b"four", 422, "wrong_length"),
        (1, b"sixsix", 422, "wrong_length"),
        (2, b"first", 422, "no_such_part"),
        (0, b"first", 422, "greater_than_equal"),
        (1_001, b"first", 422, "less_than_equal"),
    ],
)
def test_a_part_of_another_length_or_number_is_refused(
    editor: Uploader, number: int, data: bytes, status: int, code: str
) -> None:
    begun = editor.begin(b"first", TEXT).json
    url = begun["parts"][0]["url"].removesuffix("1") + str(number)

    reply = editor.put(url, data)

    assert (reply.status, reply.json["errors"][0]["code"]) == (status, code)


def test_a_part_has_four_mebibytes_at_most(editor: Uploader) -> None:
    begun = editor.begin(b"x" * (PART_BYTES + 1), TEXT).json

    reply = editor.put(begun["parts"][0]["url"], bytes(PART_BYTES + 1))

    assert (reply.status, reply.code) == (413, "body_too_large")
    assert editor.put(begun["parts"][0]["url"], bytes(PART_BYTES)).status == 204


def test_a_part_is_bytes(editor: Uploader) -> None:
    begun = editor.begin(b"first", TEXT).json
    url = begun["parts"][0]["url"]

    reply = editor.client.request("PUT", url, body=b"first", headers={"Content-Type": "text/csv"})

    assert (reply.status, reply.code) == (415, "unsupported_media_type")


def test_an_upload_is_finished_when_all_parts_are_there(editor: Uploader) -> None:
    content = bytes(PART_BYTES * 2 + 1)
    begun = editor.begin(content, TEXT).json
    editor.send(begun, content, [2])

    reply = editor.finish(begun)

    assert (reply.status, reply.code) == (409, "parts_missing")
    assert reply.json["detail"] == "2 are missing: 1, 3"


def test_a_second_finish_has_the_answer_of_the_first(editor: Uploader, runtime: Runtime) -> None:
    begun = editor.begin(b"first", TEXT).json
    editor.send(begun, b"first")

    answers = [editor.finish(begun) for _ in range(3)]

    assert [each.status for each in answers] == [200] * 3
    assert [each.json for each in answers] == [answers[0].json] * 3
    (asset,) = ASSETS.of(runtime.database).find()
    assert len(asset["versions"]) == 1
    late = editor.put(begun["parts"][0]["url"], b"first")
    assert (late.status, late.code) == (409, "upload_finished")


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (png(), "image/jpeg", 422, "wrong_content"),
        (png(), TEXT, 422, "wrong_content"),
        (b"<svg/>", "image/png", 422, "wrong_content"),
        (b"\xff\xd8\xff\xe0", "image/jpeg", 422, "unreadable_image"),
        (png(65_535, 65_535), "image/png", 422, "unreadable_image"),
    ],
)
def test_the_first_bytes_decide_what_a_file_is(
    editor: Uploader, content: bytes, kind: str, status: int, code: str
) -> None:
    begun = editor.begin(content, kind).json
    editor.send(begun, content)

    reply = editor.finish(begun)

    assert (reply.status, reply.code) == (status, code)
    assert editor.client.get(f"/content/{SITE}/assets").json["assets"] == []


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg"])
def test_other_bytes_than_were_announced_are_refused(editor: Uploader, kind: str) -> None:
    content = png() if kind == "image/png" else jpeg()
    begun = editor.begin(content, kind, sha256=digest(b"other")).json
    editor.send(begun, content)

    reply = editor.finish(begun)

    assert (reply.status, reply.code) == (422, "wrong_content")


def test_a_picture_comes_back_without_where_it_was_taken(
    editor: Uploader, client: Client, runtime: Runtime, clock: Clock
) -> None:
    picture = jpeg(640, 480, before=[JFIF, exif(6), XMP], after=GPS)

    asset = editor.upload(picture, "image/jpeg")

    clean = read(client, asset["current"]["url"])
    assert clean == strip(picture)
    assert GPS not in clean
    assert asset["current"]["sha256"] == digest(clean)
    # As it is shown: the orientation is still there.
    assert (asset["current"]["width"], asset["current"]["height"]) == (480, 640)
    clock.advance(minutes=15)
    sweep_waste(runtime)
    assert GPS not in b"".join(chunk["data"] for chunk in CHUNKS.of(runtime.database).find())
    assert read(client, asset["current"]["url"]) == clean


def test_a_picture_is_left_alone_where_that_is_asked_for(editor: Uploader, client: Client) -> None:
    picture = jpeg(before=[JFIF, exif(6), XMP])

    asset = editor.upload(picture, "image/jpeg", strip=False)

    assert read(client, asset["current"]["url"]) == picture


def test_a_new_version_leaves_the_old_one_as_it_is(editor: Uploader, client: Client) -> None:
    asset = editor.upload(b"first", TEXT)

    changed = editor.upload(b"second", TEXT, f"/assets/{asset['id']}/versions")

    assert (changed["id"], changed["current"]["number"]) == (asset["id"], 2)
    assert read(client, asset["current"]["url"]) == b"first"
    assert client.get(asset["url"]).headers["Location"].endswith("/2")
    whole = editor.client.get(f"/content/{SITE}/assets/{asset['id']}").json
    assert [each["length"] for each in whole["versions"]] == [5, 6]


def test_an_asset_has_fifty_versions(editor: Uploader, runtime: Runtime) -> None:
    asset = editor.upload(b"first", TEXT)
    ((version),) = [each["versions"][0] for each in ASSETS.of(runtime.database).find()]
    late = editor.begin(b"late", TEXT, f"/assets/{asset['id']}/versions").json
    versions = [{**version, "n": number} for number in range(1, MAX_VERSIONS + 1)]
    ASSETS.of(runtime.database).update_one({}, {"$set": {"versions": versions}})
    editor.send(late, b"late")

    for refused in (
        editor.begin(b"one more", TEXT, f"/assets/{asset['id']}/versions"),
        editor.finish(late),
    ):
        assert (refused.status, refused.code) == (409, "too_many_versions")


FILES_BY_KIND = {
    "image/png": png(),
    "image/gif": gif(),
    "application/pdf": b"%PDF-1.7",
    "video/mp4": b"\0\0\0\x14ftypisom\0\0\0\0isom",
    "text/csv": b"a,b",
    "text/plain": b"words",
}


@pytest.mark.parametrize("first", FILES_BY_KIND)
def test_an_asset_keeps_its_kind(editor: Uploader, first: str) -> None:
    asset = editor.upload(FILES_BY_KIND[first], first)
    kinds = [{"image/png", "image/gif"}, {"text/csv", "text/plain"}]
    same = next((each for each in kinds if first in each), {first})

    for kind, content in FILES_BY_KIND.items():
        reply = editor.begin(content, kind, f"/assets/{asset['id']}/versions")
        expected = (201, None) if kind in same else (409, "other_kind")
        assert (reply.status, reply.json.get("code")) == expected, kind


def test_an_upload_that_was_begun_before_changes_no_kind(
    editor: Uploader, runtime: Runtime
) -> None:
    picture = editor.upload(png(), "image/png")
    begun = editor.begin(b"%PDF-1.7", "application/pdf").json
    editor.send(begun, b"%PDF-1.7")
    late = {"$set": {"asset": picture["id"], "name": None}}
    UPLOADS.of(runtime.database).update_one({"_id": begun["id"]}, late)

    reply = editor.finish(begun)

    assert (reply.status, reply.code) == (409, "other_kind")
    whole = editor.client.get(f"/content/{SITE}/assets/{picture['id']}").json
    assert len(whole["versions"]) == 1


def test_what_is_deleted_gets_no_version(editor: Uploader) -> None:
    asset = editor.upload(b"first", TEXT)
    late = editor.begin(b"late", TEXT, f"/assets/{asset['id']}/versions").json
    editor.send(late, b"late")
    assert editor.client.delete(f"/content/{SITE}/assets/{asset['id']}").status == 204

    for refused in (
        editor.begin(b"one more", TEXT, f"/assets/{asset['id']}/versions"),
        editor.finish(late),
    ):
        assert (refused.status, refused.code) == (404, "unknown_asset")


def test_what_was_uploaded_and_deleted_is_not_finished_again(editor: Uploader) -> None:
    begun = editor.begin(b"first", TEXT).json
    editor.send(begun, b"first")
    asset = editor.finish(begun).json
    editor.client.delete(f"/content/{SITE}/assets/{asset['id']}")

    reply = editor.finish(begun)

    assert (reply.status, reply.code) == (404, "unknown_asset")


@pytest.mark.parametrize(
    "given",
    [
        {"length": 0},
        {"length": 5 * 1024**3 + 1},
        {"sha256": "A" * 64},
        {"type": "image"},
        {"type": "IMAGE/PNG"},
        {"type": "image/png; charset=x"},
        {"name": ""},
        {"name": "a\nb"},
        {"part_sha256": ["x"]},
    ],
)
def test_an_upload_is_announced_as_the_rules_say(editor: Uploader, given: Document) -> None:
    reply = editor.begin(b"first", "image/png", **given)

    assert (reply.status, reply.code) == (422, "invalid_request")


@pytest.mark.parametrize(
    ("kind", "most"), [("video/mp4", MAX_BYTES), *((each, MOST_BYTES) for each in IMAGES)]
)
def test_a_file_is_as_large_as_the_store_takes(editor: Uploader, kind: str, most: int) -> None:
    for strip_it in (False, True):
        reply = editor.begin(b"", kind, length=most + 1, strip=strip_it)
        assert (reply.status, reply.code) == (413, "asset_too_large")

        assert editor.begin(b"", kind, length=most, strip=strip_it).status == 201


def test_the_largest_picture_is_answered_whole(editor: Uploader, client: Client) -> None:
    picture = png() + bytes(MOST_BYTES - len(png()))

    asset = editor.upload(picture, "image/png")

    assert read(client, asset["current"]["url"]) == picture


def test_a_larger_picture_of_an_older_upload_is_refused(editor: Uploader, runtime: Runtime) -> None:
    picture = png() + bytes(MOST_BYTES - len(png()) + 1)
    begun = editor.begin(picture[:MOST_BYTES], "image/png").json
    told = {"length": len(picture), "sha256": digest(picture)}
    UPLOADS.of(runtime.database).update_one({"_id": begun["id"]}, {"$set": told})
    begun = editor.client.get(f"/content/{SITE}/uploads/{begun['id']}").json
    editor.send(begun, picture)

    reply = editor.finish(begun)

    assert (reply.status, reply.code) == (422, "unreadable_image")
    assert reply.json["detail"] == f"The limit is {MOST_BYTES} bytes"


@pytest.mark.bounds(assets={"unfinished_uploads": 2})
def test_an_owner_has_a_bounded_number_of_unfinished_uploads(
    editor: Uploader, clock: Clock
) -> None:
    editor.upload(b"done", TEXT)
    for _ in range(2):
        assert editor.begin(b"first", TEXT).status == 201

    reply = editor.begin(b"first", TEXT)

    assert (reply.status, reply.code) == (409, "too_many_uploads")
    clock.advance(hours=24)
    assert editor.begin(b"first", TEXT).status == 201


def test_an_upload_ends_after_a_day(editor: Uploader, clock: Clock) -> None:
    begun = editor.begin(b"first", TEXT).json
    clock.advance(hours=24, milliseconds=-1)
    editor.send(begun, b"first")

    clock.advance(milliseconds=1)

    upload = f"/content/{SITE}/uploads/{begun['id']}"
    late: list[Any] = [
        editor.put(begun["parts"][0]["url"], b"first"),
        editor.finish(begun),
        editor.client.get(upload),
    ]
    assert {(each.status, each.code) for each in late} == {(404, "unknown_upload")}


def test_an_upload_belongs_to_its_site(client: Client, editor: Uploader) -> None:
    begun = editor.begin(b"first", TEXT).json
    other = client.as_("oz", roles=["editor"], sites=["other"])
    foreign = begun["parts"][0]["url"].replace(f"/content/{SITE}/", "/content/other/")

    assert (
        other.request("PUT", begun["parts"][0]["url"], body=b"first", headers=BYTES).status == 403
    )
    assert other.request("PUT", foreign, body=b"first", headers=BYTES).code == "unknown_upload"
    assert other.get(f"/content/other/uploads/{begun['id']}").code == "unknown_upload"


def test_the_sweep_leaves_what_may_still_be_written(
    editor: Uploader, runtime: Runtime, clock: Clock
) -> None:
    content = jpeg(before=[exif(3)])
    finished = editor.upload(content, "image/jpeg")
    begun = editor.begin(content, "image/jpeg").json
    editor.send(begun, content)
    clock.advance(hours=24, minutes=15, milliseconds=-1)
    assert (sweep_uploads(runtime), sweep_waste(runtime)) == (0, 1)

    clock.advance(milliseconds=1)

    assert (sweep_uploads(runtime), sweep_waste(runtime)) == (2, 2)
    assert (sweep_uploads(runtime), sweep_waste(runtime)) == (0, 0)
    (file,) = FILES.of(runtime.database).find()
    assert set(CHUNKS.of(runtime.database).distinct("files_id")) == {file["_id"]}
    assert UPLOADS.of(runtime.database).count_documents({}) == 0
    assert read(editor.client, finished["current"]["url"]) == strip(content)


@pytest.mark.bounds(assets={"swept_at_once": 2})
def test_the_sweep_removes_a_bounded_number_at_a_time(
    editor: Uploader, runtime: Runtime, clock: Clock
) -> None:
    for _ in range(3):
        editor.send(editor.begin(b"first", TEXT).json, b"first")
    clock.advance(days=2)

    assert [sweep_uploads(runtime) for _ in range(3)] == [2, 1, 0]
    assert [sweep_waste(runtime) for _ in range(3)] == [2, 1, 0]
    assert orphans(runtime) == set()
    assert CHUNKS.of(runtime.database).count_documents({}) == 0

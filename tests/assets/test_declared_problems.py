"""Each problem of an upload, of a site's asset and of a person's own."""

import pytest

from chalicelib.assets.blobs.gridfs import MAX_BYTES
from chalicelib.assets.shapes import ASSETS, MAX_VERSIONS
from chalicelib.runtime import Runtime
from tests.assets.support.files import png
from tests.assets.support.uploading import SITE, Uploader, digest, editor_of
from tests.support.http_client import Client, Reply

FOLDERS = (f"/content/{SITE}", "/users/me")


@pytest.fixture(params=FOLDERS)
def uploader(request: pytest.FixtureRequest, client: Client) -> Uploader:
    return Uploader(editor_of(client), request.param)


def refusal(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.code


@pytest.mark.bounds(assets={"unfinished_uploads": 1})
def test_a_bounded_number_of_uploads_is_unfinished(uploader: Uploader) -> None:
    asset = uploader.upload(png(), "image/png")
    uploader.begin(png(), "image/png")

    for to in ("/assets", f"/assets/{asset['id']}/versions"):
        assert refusal(uploader.begin(png(), "image/png", to)) == (409, "too_many_uploads")


def test_a_version_is_as_large_as_a_new_asset(uploader: Uploader) -> None:
    asset = uploader.upload(png(), "image/png")

    reply = uploader.begin(
        png(), "image/png", f"/assets/{asset['id']}/versions", length=MAX_BYTES + 1
    )

    assert refusal(reply) == (413, "asset_too_large")


def test_what_is_shown_is_not_deleted(uploader: Uploader, runtime: Runtime) -> None:
    asset = uploader.upload(png(), "image/png")
    ASSETS.of(runtime.database).update_one({"_id": asset["id"]}, {"$set": {"used_by": 2}})

    reply = uploader.client.delete(f"{uploader.folder}/assets/{asset['id']}")

    assert refusal(reply) == (409, "asset_in_use")
    assert reply.json["detail"] == "Things that show it: 2"


def test_a_part_that_comes_after_the_end_is_refused(uploader: Uploader) -> None:
    begun = uploader.begin(png(), "image/png").json
    assert refusal(uploader.finish(begun)) == (409, "parts_missing")
    uploader.send(begun, png())
    uploader.finish(begun)

    assert refusal(uploader.put(begun["parts"][0]["url"], png())) == (409, "upload_finished")


def test_other_bytes_and_no_picture_are_refused(uploader: Uploader) -> None:
    answers = []
    for content, sha256 in ((png(), digest(b"")), (png(65_535, 65_535), "")):
        begun = uploader.begin(content, "image/png", sha256=sha256 or digest(content)).json
        uploader.send(begun, content)
        answers.append(refusal(uploader.finish(begun)))

    assert answers == [(422, "wrong_content"), (422, "unreadable_image")]


def test_a_late_version_of_what_is_full_or_gone_is_refused(
    uploader: Uploader, runtime: Runtime
) -> None:
    asset = uploader.upload(png(), "image/png")
    late = [
        uploader.begin(png(), "image/png", f"/assets/{asset['id']}/versions").json for _ in range(2)
    ]
    for begun in late:
        uploader.send(begun, png())
    stored = ASSETS.of(runtime.database).find_one({"_id": asset["id"]})
    assert stored is not None
    full = [{**stored["versions"][0], "n": number + 1} for number in range(MAX_VERSIONS)]
    ASSETS.of(runtime.database).update_one({"_id": asset["id"]}, {"$set": {"versions": full}})

    for reply in (
        uploader.finish(late[0]),
        uploader.begin(png(), "image/png", f"/assets/{asset['id']}/versions"),
    ):
        assert refusal(reply) == (409, "too_many_versions")
    ASSETS.of(runtime.database).delete_one({"_id": asset["id"]})
    assert refusal(uploader.finish(late[1])) == (404, "unknown_asset")

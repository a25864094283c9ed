"""A person's own pictures, and what an erasure leaves of them and of a site's."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.assets import catalogue, own
from chalicelib.assets.ranges import MOST_BYTES
from chalicelib.assets.shapes import ASSETS, CHUNKS, UPLOADS, WASTE
from chalicelib.assets.upkeep import sweep_waste
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader, digest
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.fixture
def ann(client: Client) -> Uploader:
    return Uploader(client.as_("ann"), "/users/me")


def test_a_person_uploads_a_picture_and_deletes_it(ann: Uploader, client: Client) -> None:
    asset = ann.upload(png(), "image/png")
    changed = ann.upload(png(5, 5), "image/png", f"/assets/{asset['id']}/versions")

    assert client.get(changed["current"]["url"]).body == png(5, 5)
    assert [each["id"] for each in ann.client.get("/users/me/assets").json["assets"]] == [
        asset["id"]
    ]
    assert len(ann.client.get(f"/users/me/assets/{asset['id']}").json["versions"]) == 2
    assert client.as_("bob").delete(f"/users/me/assets/{asset['id']}").code == "unknown_asset"
    assert ann.client.delete(f"/users/me/assets/{asset['id']}").status == 204
    assert client.get(asset["url"]).code == "unknown_asset"


def test_an_upload_goes_on_where_it_ended(ann: Uploader) -> None:
    begun = ann.begin(png(), "image/png").json
    path = f"/users/me/uploads/{begun['id']}"
    assert not ann.client.get(path).json["parts"][0]["is_stored"]

    ann.send(begun, png())

    assert ann.client.get(path).json["parts"][0]["is_stored"]
    assert ann.finish(begun).status == 200


@pytest.mark.parametrize(
    ("kind", "length", "status", "code"),
    [
        ("video/mp4", 1, 422, "invalid_request"),
        ("text/csv", 1, 422, "invalid_request"),
        ("image/png", MOST_BYTES + 1, 413, "asset_too_large"),
        ("image/png", MOST_BYTES, 201, None),
    ],
)
def test_a_person_has_pictures_of_four_mebibytes(
    ann: Uploader, kind: str, length: int, status: int, code: str | None
) -> None:
    asset = ann.upload(png(), "image/png")

    for to in ("/assets", f"/assets/{asset['id']}/versions"):
        reply = ann.begin(png(), kind, to, length=length)
        assert (reply.status, reply.json.get("code")) == (status, code)


@pytest.mark.bounds(assets={"of_person": 2})
def test_a_person_has_a_bounded_number_of_pictures(ann: Uploader, client: Client) -> None:
    for _ in range(2):
        ann.upload(png(), "image/png")

    reply = ann.begin(png(), "image/png")

    assert (reply.status, reply.code) == (409, "too_many_assets")
    assert Uploader(client.as_("bob"), "/users/me").begin(png(), "image/png").status == 201


@pytest.mark.bounds(assets={"of_person": 2})
def test_pictures_that_are_being_uploaded_count_too(ann: Uploader, clock: Clock) -> None:
    ann.upload(png(), "image/png")
    first = ann.begin(png(), "image/png")
    assert first.status == 201

    assert ann.begin(png(), "image/png").code == "too_many_assets"

    clock.advance(days=2)
    assert ann.begin(png(), "image/png").status == 201


@pytest.mark.parametrize("until", [timedelta(0), None])
@pytest.mark.bounds(assets={"erased_at_once": 1})
def test_an_erasure_takes_ones_own_and_leaves_the_sites(  # noqa: PLR0913, PLR0917 - fixtures
    ann: Uploader,
    editor: Uploader,
    client: Client,
    runtime: Runtime,
    clock: Clock,
    until: timedelta | None,
) -> None:
    sites = editor.upload(png(), "image/png")
    mine = Uploader(client.as_("eda"), "/users/me").upload(png(), "image/png")
    other = ann.upload(png(), "image/png")
    begun = Uploader(client.as_("eda"), "/users/me").begin(png(), "image/png").json
    Uploader(client.as_("eda"), "/users/me").send(begun, png())
    editor.begin(png(), "image/png")
    last = None if until is None else clock() + until
    steps = [own.erase(runtime, "eda", last)]
    while steps[-1] is Step.MORE:
        steps.append(own.erase(runtime, "eda", last))

    assert steps == [Step.MORE, Step.DONE]
    assert client.get(mine["url"]).status == 404
    assert client.get(sites["url"]).status == client.get(other["url"]).status == 302
    path = f"/content/blog/assets/{sites['id']}"
    assert editor.client.get(path).json["current"]["made_by"] is None
    assert "eda" not in str(list(UPLOADS.of(runtime.database).find()))
    assert "eda" not in str(list(ASSETS.of(runtime.database).find()))
    clock.advance(minutes=15)
    while sweep_waste(runtime):
        pass
    assert CHUNKS.of(runtime.database).count_documents({}) == 2


def test_an_erasure_takes_a_version_that_comes_while_it_runs(
    ann: Uploader, client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset = ann.upload(png(), "image/png")
    delete = own._delete

    def late(*given: Any) -> None:
        ann.upload(png(5, 5), "image/png", f"/assets/{asset['id']}/versions")
        delete(*given)

    monkeypatch.setattr(own, "_delete", late)

    assert own.erase(runtime, "ann") is Step.DONE

    assert client.get(asset["url"]).status == 404
    clock.advance(minutes=15)
    while sweep_waste(runtime):
        pass
    assert CHUNKS.of(runtime.database).count_documents({}) == 0


def test_a_late_erasure_leaves_what_was_made_since(
    runtime: Runtime, clock: Clock, client: Client
) -> None:
    eda = Uploader(client.as_("eda"), "/users/me")
    before = eda.upload(png(), "image/png")
    until = clock()
    clock.advance(milliseconds=1)
    since = eda.upload(png(), "image/png")
    eda.begin(png(), "image/png", sha256=digest(png()))

    own.erase(runtime, "eda", until)

    assert client.get(before["url"]).status == 404
    assert client.get(since["url"]).status == 302
    assert len(eda.client.get("/users/me/assets").json["assets"]) == 1
    assert UPLOADS.of(runtime.database).count_documents({"by": "eda"}) == 2


def test_an_erasure_takes_a_picture_whose_upload_finishes_while_it_runs(
    ann: Uploader, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = ann.begin(png(), "image/png").json
    ann.send(begun, png())
    delete = catalogue.delete_upload

    def delete_after_the_end(*given: Any) -> None:
        monkeypatch.setattr(catalogue, "delete_upload", delete)
        assert ann.finish(begun).status == 200
        delete(*given)

    monkeypatch.setattr(catalogue, "delete_upload", delete_after_the_end)

    assert own.erase(runtime, "ann") is Step.DONE
    assert ASSETS.of(runtime.database).count_documents({}) == 0
    assert WASTE.of(runtime.database).count_documents({}) == 1

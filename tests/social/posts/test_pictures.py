"""Pictures of posts and profiles that are assets: checked, counted while shown, and addressed."""

from typing import Any

import pytest

from chalicelib.assets import pictures
from chalicelib.assets.shapes import ASSETS
from chalicelib.runtime import Runtime
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader, editor_of
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


def picture(client: Client) -> dict[str, Any]:
    """Upload a picture of the caller's own."""
    return Uploader(client, "/users/me").upload(png(), "image/png")


def post(client: Client, url: str, kind: str = "photo", **given: str) -> Reply:
    detail = {"url": url} if kind == "photo" else {"place": "Here", "photo": url}
    return client.post("/posts", type=kind, detail={**detail, **given}, circles=["*public*"])


def used(runtime: Runtime, asset: dict[str, Any]) -> int:
    found = ASSETS.of(runtime.database).find_one({"_id": asset["id"]})
    assert found is not None
    return found["used_by"]


@pytest.mark.parametrize(("kind", "field"), [("photo", "url"), ("checkin", "photo")])
def test_a_post_shows_an_asset_until_it_is_deleted(
    ann: Client, runtime: Runtime, kind: str, field: str
) -> None:
    asset = picture(ann)

    made = post(ann, f"asset:{asset['id']}", kind)

    assert made.status == 201, made.body
    path = f"/posts/{made.json['id']}"
    assert made.json["detail"][field] == ann.get(path).json["detail"][field] == asset["url"]
    assert used(runtime, asset) == 1
    assert ann.delete(f"/users/me/assets/{asset['id']}").code == "asset_in_use"
    for _ in range(2):
        ann.delete(path)
    assert used(runtime, asset) == 0
    assert ann.delete(f"/users/me/assets/{asset['id']}").status == 204


def test_walls_and_news_show_the_address(ann: Client, client: Client, workers: Workers) -> None:
    bob = client.as_("bob")
    asset = picture(ann)
    ann.put("/users/me")
    bob.put("/users/me/circles/friends", name="Friends")
    bob.put("/users/me/circles/friends/members/ann")
    workers.drain()
    post(ann, f"asset:{asset['id']}")
    workers.drain()

    for path in ("/users/ann/wall", "/users/me/news"):
        (shown,) = bob.get(path).json["posts"]
        assert shown["detail"]["url"] == asset["url"]


def test_what_was_read_can_be_sent_back_and_a_change_releases(
    ann: Client, runtime: Runtime
) -> None:
    first, second = picture(ann), picture(ann)
    made = post(ann, f"asset:{first['id']}").json
    path = f"/posts/{made['id']}"

    ann.patch(path, detail={**made["detail"], "text": "Look"})
    assert (used(runtime, first), used(runtime, second)) == (1, 0)
    ann.patch(path, detail={"url": f"asset:{second['id']}"})
    assert (used(runtime, first), used(runtime, second)) == (0, 1)
    ann.patch(path, detail={"url": "https://elsewhere.example/x.png"})

    assert (used(runtime, first), used(runtime, second)) == (0, 0)
    assert ann.get(path).json["detail"] == {"url": "https://elsewhere.example/x.png"}


def test_only_ones_own_pictures_are_shown(ann: Client, client: Client, runtime: Runtime) -> None:
    mine = picture(ann)
    sites = Uploader(editor_of(client)).upload(png(), "image/png")
    sheet = Uploader(editor_of(client)).upload(b"a,b", "text/csv")
    made = post(ann, f"asset:{mine['id']}").json
    bob, eda = client.as_("bob"), editor_of(client)

    refused = [
        post(bob, f"asset:{mine['id']}"),
        post(ann, f"asset:{sites['id']}"),
        post(ann, "asset:aaneGAECAwQFBgcI"),
        post(eda, f"asset:{sheet['id']}"),
        ann.patch(f"/posts/{made['id']}", detail={"url": f"asset:{sites['id']}"}),
        bob.put("/users/me", profile={"picture": f"asset:{mine['id']}"}),
        # An admin writes for every site, and for no person.
        post(client.as_("root", roles=["admin"]), f"asset:{mine['id']}"),
    ]

    assert {(each.status, each.code) for each in refused} == {(404, "unknown_asset")}
    assert post(eda, f"asset:{sites['id']}").status == 201
    assert used(runtime, mine) == used(runtime, sites) == 1


@pytest.mark.parametrize("url", ["asset:", "asset:short", "javascript:alert(1)", "/assets/short"])
def test_other_forms_are_refused(ann: Client, url: str) -> None:
    assert post(ann, url).code == "invalid_request"


def test_a_text_that_looks_like_an_asset_is_a_text(ann: Client) -> None:
    text = "asset:aaneGAECAwQFBgcI"

    made = ann.post("/posts", type="status", detail={"text": text}, circles=["*public*"])

    assert (made.status, made.json["detail"]) == (201, {"text": text})


def test_a_profile_shows_a_picture_until_it_is_another(ann: Client, runtime: Runtime) -> None:
    first, second = picture(ann), picture(ann)

    told = ann.put("/users/me", profile={"picture": f"asset:{first['id']}", "location": "Here"})

    assert told.json["profile"] == {"picture": first["url"], "location": "Here"}
    assert ann.get("/users/me").json["profile"] == told.json["profile"]
    assert ann.put("/users/me", profile=told.json["profile"]).json == told.json
    assert used(runtime, first) == 1
    ann.put("/users/me", name="Ann")
    assert used(runtime, first) == 1
    ann.put("/users/me", profile={"picture": second["url"]})
    assert (used(runtime, first), used(runtime, second)) == (0, 1)
    ann.put("/users/me", profile={})
    assert used(runtime, second) == 0


def test_an_erasure_releases_the_pictures_of_sites(
    client: Client, runtime: Runtime, workers: Workers, clock: Clock
) -> None:
    eda = editor_of(client)
    asset = Uploader(eda).upload(png(), "image/png")
    post(eda, f"asset:{asset['id']}")
    eda.put("/users/me", profile={"picture": f"asset:{asset['id']}"})
    assert used(runtime, asset) == 2

    eda.delete("/users/me")
    clock.advance(minutes=1)
    workers.drain()

    assert used(runtime, asset) == 0


@pytest.mark.parametrize("base", ["", "https://plaza.example"])
def test_an_asset_is_a_reference_by_its_path_and_by_its_address(base: str) -> None:
    """Answers of before a deployment had a public address have the path alone."""
    fields, asset = frozenset({"url"}), "abcdefghijklmnop"

    for url in (f"/assets/{asset}", f"{base}/assets/{asset}"):
        assert pictures.to_references(fields, {"url": url}, base) == {"url": f"asset:{asset}"}
    other = {"url": f"https://other.example/assets/{asset}"}
    assert pictures.to_references(fields, other, base) == other

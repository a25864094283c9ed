"""Pictures of ad units that are assets: a version, counted while a campaign shows it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.assets.shapes import ASSETS
from chalicelib.runtime import Runtime
from tests.ads.support.factories import add_zones, campaign_body
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader
from tests.support.http_client import Client, Reply

BASE = "https://plaza.example/api"


@pytest.fixture
def base() -> str:
    return ""


@pytest.fixture
def anybody(runtime: Runtime, token: Callable[..., str], base: str) -> Client:
    settings = runtime.settings.model_copy(update={"public_url": base})
    return Client(create_app(dataclasses.replace(runtime, settings=settings), LocalChalice), token)


@pytest.fixture
def acme(anybody: Client, runtime: Runtime) -> Client:
    add_zones(runtime, "blog/banner")
    return anybody.as_("acme-ann", roles=["advertiser"], advertiser="acme")


def campaign(acme: Client, *urls: str) -> Reply:
    body = campaign_body("blog/banner")
    unit = body["ad_units"][0]
    image = {"type": "image", "landing_url": "https://acme.example/", "width": 468, "height": 60}
    body["ad_units"] = [
        {**unit, "id": f"unit-{number}", "creative": {**image, "alt": "A", "url": url}}
        for number, url in enumerate(urls)
    ]
    return acme.put("/campaigns/acme:spring", **body)


def picture(acme: Client, base: str, to: str = "/assets") -> dict[str, Any]:
    """Upload a picture of the advertiser's, at the addresses of the answers without the base."""
    mine = Uploader(acme, "/users/me")
    begun = mine.begin(png(), "image/png", to).json
    for part in begun["parts"]:
        assert mine.put(part["url"].removeprefix(base), png()).status == 204
    reply = acme.request("POST", begun["finish_url"].removeprefix(base))
    assert reply.status == 200
    asset: dict[str, Any] = reply.json
    return asset


def urls(reply: Reply) -> list[str]:
    assert reply.status in (200, 201), reply.body
    return [unit["creative"]["url"] for unit in reply.json["ad_units"]]


def used(runtime: Runtime) -> list[int]:
    return [asset["used_by"] for asset in ASSETS.of(runtime.database).find().sort("made")]


@pytest.mark.parametrize("base", ["", BASE])
def test_an_ad_shows_the_version_that_its_campaign_was_written_with(
    acme: Client, runtime: Runtime, base: str
) -> None:
    asset = picture(acme, base)
    name = f"asset:{asset['id']}"

    made = campaign(acme, name, "https://elsewhere.example/x.png")

    first = f"{base}/assets/{asset['id']}/1"
    assert urls(made) == [first, "https://elsewhere.example/x.png"]
    assert used(runtime) == [1]
    picture(acme, base, f"/assets/{asset['id']}/versions")
    assert urls(acme.get("/campaigns/acme:spring"))[0] == first
    # What was read is sent back, and stays; the asset's name stands for the version of today.
    assert urls(campaign(acme, first)) == [first]
    assert urls(campaign(acme, name)) == [f"{base}/assets/{asset['id']}/2"]
    assert used(runtime) == [1]


def test_an_asset_is_released_with_its_campaign(acme: Client, runtime: Runtime) -> None:
    first, second = picture(acme, ""), picture(acme, "")
    names = [f"asset:{asset['id']}" for asset in (first, second)]
    campaign(acme, *names, names[0])
    assert sorted(used(runtime)) == [1, 1]

    campaign(acme, names[1])
    assert sorted(used(runtime)) == [0, 1]
    acme.delete("/campaigns/acme:spring")

    assert used(runtime) == [0, 0]
    for asset in (first, second):
        assert acme.delete(f"/users/me/assets/{asset['id']}").status == 204


def test_only_pictures_that_the_caller_may_show(acme: Client, anybody: Client) -> None:
    asset = picture(acme, "")
    other = picture(anybody.as_("bob"), "")
    made = campaign(acme, f"asset:{asset['id']}")
    unknown = (
        f"asset:{other['id']}",
        "asset:aaneGAECAwQFBgcI",
        f"/assets/{asset['id']}/2",
        f"/assets/{asset['id']}/0",
    )

    refused = [campaign(acme, url) for url in unknown]

    assert {(each.status, each.code) for each in refused} == {(404, "unknown_asset")}
    colleague = anybody.as_("acme-cy", roles=["advertiser"], advertiser="acme")
    assert urls(campaign(colleague, f"/assets/{asset['id']}/1")) == urls(made)


@pytest.mark.parametrize("base", [BASE])
@pytest.mark.usefixtures("base")
def test_the_address_of_another_host_is_an_address(acme: Client) -> None:
    elsewhere = "https://other.example/assets/aaneGAECAwQFBgcI/1"

    assert urls(campaign(acme, elsewhere)) == [elsewhere]
    assert campaign(acme, "/assets/aaneGAECAwQFBgcI/1").code == "unknown_asset"
    assert campaign(acme, "http://other.example/x.png").code == "invalid_request"

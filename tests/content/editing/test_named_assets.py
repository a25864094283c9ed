"""Assets that pages name: checked when a draft is saved, and kept while a page has them."""

from typing import Any

import pytest

from chalicelib.assets.errors import UnknownAsset
from chalicelib.assets.shapes import ASSETS
from chalicelib.content import named_assets
from chalicelib.content.editing import drafts
from chalicelib.content.editing.forms import ContentEdit
from chalicelib.content.jobs import run_due
from chalicelib.content.nodes import NODES
from chalicelib.content.shapes import MAX_ASSETS
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader
from tests.content.support.factories import (
    NO_ASSET,
    SITE,
    editor,
    new,
    node,
    picture,
    publish,
    publisher,
    save,
    with_version,
    write,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply


def used(runtime: Runtime, *asset_ids: str) -> list[int]:
    """Return how often each asset is used."""
    found = {each["_id"]: each["used_by"] for each in ASSETS.of(runtime.database).find()}
    return [found[asset_id] for asset_id in asset_ids]


def shows(asset_id: str) -> dict[str, str]:
    """Return a detail whose text shows an asset."""
    return {"text": f"![The moon](asset:{asset_id})"}


def delete(client: Client, asset_id: str) -> Reply:
    return publisher(client).delete(f"/content/{SITE}/assets/{asset_id}")


def sheet(client: Client) -> str:
    """Upload what is no picture."""
    uploader = Uploader(editor(client), f"/content/{SITE}")
    return str(uploader.upload(b"a,b", "text/csv")["id"])


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        ("photo", {"asset": "{id}", "caption": "Dawn"}),
        ("blog", {"text": "x", "cover": "{id}"}),
        ("page", {"text": '![](asset:{id} "Dawn")'}),
        ("page", {"text": "![](/assets/{id})"}),
        ("page", {"text": "![](/assets/{id}/1)"}),
        ("page", {"text": "[More](asset:{id})"}),
        ("page", {"text": "![a][b]\n\n[b]: &#97;sset:{id}"}),
    ],
)
def test_an_asset_that_a_page_names_stays_until_the_page_is_deleted(
    site: Client, runtime: Runtime, kind: str, detail: dict[str, str]
) -> None:
    asset_id = picture(site)
    told = {name: text.replace("{id}", asset_id) for name, text in detail.items()}

    node_id = write(editor(site), type=kind, detail=told)

    assert used(runtime, asset_id) == [1]
    assert delete(site, asset_id).code == "asset_in_use"
    assert publisher(site).delete(node(node_id)).status == 204
    assert used(runtime, asset_id) == [0]
    assert delete(site, asset_id).status == 204


def test_an_asset_under_plazas_own_address_is_used(site: Client, runtime: Runtime) -> None:
    asset_id = picture(site)
    url = f"{runtime.settings.public_url}/assets/{asset_id}"

    write(editor(site), detail={"text": f"![]({url})"})

    assert used(runtime, asset_id) == [1]


@pytest.mark.parametrize("text", ["`![](asset:{id})`", "asset:{id}", "```\n![](asset:{id})\n```"])
def test_what_only_looks_like_an_asset_is_a_text(site: Client, runtime: Runtime, text: str) -> None:
    asset_id = picture(site)

    write(editor(site), detail={"text": text.replace("{id}", asset_id)})

    assert used(runtime, asset_id) == [0]


def test_a_page_counts_an_asset_once_for_draft_and_readers(site: Client, runtime: Runtime) -> None:
    first, second = picture(site), picture(site)
    text = f"{shows(first)['text']} {shows(first)['text']}"
    node_id = write(editor(site), detail={"text": text})
    assert publish(site, node_id).status == 200
    assert used(runtime, first, second) == [1, 0]

    assert save(editor(site), node_id, 1, detail=shows(second)).status == 200
    # Readers see the first, and editors the second.
    assert used(runtime, first, second) == [1, 1]
    assert delete(site, first).code == "asset_in_use"

    assert publish(site, node_id, 2).status == 200
    assert used(runtime, first, second) == [0, 1]
    assert delete(site, first).status == 204


def test_an_edition_to_come_holds_its_assets_and_lets_go_of_the_former_ones(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    first, second = picture(site), picture(site)
    node_id = write(editor(site), detail=shows(first))
    publish(site, node_id)
    save(editor(site), node_id, 1, detail=shows(second))
    publish(site, node_id, 2, at="2026-03-02T12:00:00Z")
    save(editor(site), node_id, 2, detail={"text": "None"})
    assert used(runtime, first, second) == [1, 1]

    clock.advance(days=2)
    run_due(runtime)

    assert used(runtime, first, second) == [0, 1]


def test_a_page_that_is_taken_back_holds_what_its_draft_names(
    site: Client, runtime: Runtime
) -> None:
    first, second = picture(site), picture(site)
    node_id = write(editor(site), detail=shows(first))
    publish(site, node_id)
    save(editor(site), node_id, 1, detail=shows(second))

    publisher(site).post(f"{node(node_id)}/unpublish")

    assert used(runtime, first, second) == [0, 1]


def test_a_page_that_ends_lets_go_of_what_only_its_readers_saw(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    asset_id = picture(site)
    node_id = write(editor(site), detail=shows(asset_id))
    publish(site, node_id, until="2026-03-02T12:00:00Z")
    save(editor(site), node_id, 1, detail={"text": "None"})

    clock.advance(days=2)
    run_due(runtime)

    assert used(runtime, asset_id) == [0]


def test_an_edit_of_the_title_counts_nothing(site: Client, runtime: Runtime) -> None:
    asset_id = picture(site)
    node_id = write(editor(site), detail=shows(asset_id))

    assert save(editor(site), node_id, 1, title="The moon").status == 200

    assert used(runtime, asset_id) == [1]


def test_a_refused_save_counts_nothing(site: Client, runtime: Runtime) -> None:
    asset_id = picture(site)
    node_id = write(editor(site))
    save(editor(site), node_id, 1, title="The moon")

    assert save(editor(site), node_id, 1, detail=shows(asset_id)).code == "edit_conflict"

    assert used(runtime, asset_id) == [0]


def test_a_revision_is_restored_with_its_assets_if_they_are_there(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    asset_id = picture(site)
    node_id = write(editor(site), detail=shows(asset_id))
    clock.advance(minutes=11)
    save(editor(site), node_id, 1, detail={"text": "None"})
    path = f"{node(node_id)}/revisions/1/restore"

    assert with_version(editor(site), "POST", path, '"2"', {}).status == 200
    assert used(runtime, asset_id) == [1]
    clock.advance(minutes=11)
    save(editor(site), node_id, 3, detail={"text": "None"})
    assert delete(site, asset_id).status == 204

    refused = with_version(editor(site), "POST", path, '"4"', {})
    assert (refused.status, refused.code) == (409, "assets_gone")
    assert refused.json["facts"] == {"assets": [asset_id]}
    assert used(runtime) == []


def test_a_revision_with_a_removed_picture_says_so(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    asset_id, other = picture(site), picture(site)
    text = f"![The moon](asset:{asset_id}) ![The sea](asset:{other})"
    node_id = write(editor(site), detail={"text": text})
    clock.advance(minutes=11)
    save(editor(site), node_id, 1, detail={"text": "None"})
    path = f"/content/{SITE}/assets/{asset_id}/versions/1"
    assert publisher(site).delete(path).status == 204

    refused = with_version(editor(site), "POST", f"{node(node_id)}/revisions/1/restore", '"2"', {})

    assert (refused.status, refused.code) == (409, "assets_gone")
    assert refused.json["facts"] == {"assets": [asset_id]}
    assert used(runtime, asset_id, other) == [0, 0]


def test_a_revision_with_anothers_asset_is_not_restored(site: Client, clock: Clock) -> None:
    asset_id = picture(site, "elsewhere")
    writer = site.as_("edda", roles=["editor"], sites=[SITE, "elsewhere"])
    node_id = write(writer, detail=shows(asset_id))
    clock.advance(minutes=11)
    save(writer, node_id, 1, detail={"text": "None"})

    path = f"{node(node_id)}/revisions/1/restore"
    refused = with_version(editor(site), "POST", path, '"2"', {})

    assert (refused.status, refused.code) == (404, "unknown_asset")
    assert with_version(writer, "POST", path, '"2"', {}).status == 200


def test_only_pictures_are_shown_and_any_asset_is_linked(site: Client, runtime: Runtime) -> None:
    asset_id = sheet(site)

    refused = [
        editor(site).post(f"/content/{SITE}/nodes", **new(detail=shows(asset_id))),
        editor(site).post(
            f"/content/{SITE}/nodes",
            **new(type="photo", detail={"asset": asset_id, "caption": "Dawn"}),
        ),
    ]

    assert {(each.status, each.code) for each in refused} == {(404, "unknown_asset")}
    write(editor(site), detail={"text": f"[Tides](asset:{asset_id})"})
    assert used(runtime, asset_id) == [1]


def test_only_assets_of_sites_that_one_writes_for_are_named(site: Client, runtime: Runtime) -> None:
    other = picture(site, "elsewhere")
    admin = site.as_("root", roles=["admin"])
    own = str(Uploader(admin, "/users/me").upload(png(), "image/png")["id"])
    node_id = write(editor(site))

    refused = [
        save(editor(site), node_id, 1, detail=shows(other)),
        save(editor(site), node_id, 1, detail=shows(NO_ASSET)),
        # The admin's own: an erasure deletes it, and the page stays.
        save(admin, node_id, 1, detail=shows(own)),
    ]

    assert {(each.status, each.code) for each in refused} == {(404, "unknown_asset")}
    both = site.as_("edda", roles=["editor"], sites=[SITE, "elsewhere"])
    assert save(both, node_id, 1, detail=shows(other)).status == 200
    # What the page shows already stays, whoever saves it.
    assert save(editor(site), node_id, 2, detail={**shows(other), "section": "sky"}).status == 200
    assert used(runtime, other) == [1]


def test_a_page_names_a_bounded_number_of_assets(site: Client) -> None:
    many = "\n\n".join(f"[a](asset:{number:016d})" for number in range(MAX_ASSETS + 1))

    refused = editor(site).post(f"/content/{SITE}/nodes", **new(detail={"text": many}))

    assert refused.code == "invalid_request"
    assert refused.json["errors"][0]["code"] == "too_many_assets"


def test_an_asset_that_is_deleted_while_a_draft_is_saved_is_not_named(
    site: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset_id = picture(site)
    node_id = write(editor(site))
    found = NODES.of(runtime.database).find_one({"_id": node_id})
    assert found is not None
    check = named_assets.check

    def check_and_lose_it(*arguments: Any) -> None:
        check(*arguments)
        assert delete(site, asset_id).status == 204

    monkeypatch.setattr(named_assets, "check", check_and_lose_it)
    change = ContentEdit(detail=shows(asset_id))
    caller = Principal("edda", "Edda", frozenset({"editor"}), sites=frozenset({SITE}))

    with pytest.raises(UnknownAsset):
        drafts.edit(runtime, found, 1, change, caller)

    assert publisher(site).get(node(node_id)).json["version"] == 1

"""The bytes of an owner's versions: counted with each change, and bounded."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.assets import catalogue, own, quotas
from chalicelib.assets.forms import NewAsset
from chalicelib.assets.shapes import ASSETS, LIBRARIES, UPLOADS
from chalicelib.assets.uploads import begin, find, finish, put_part
from chalicelib.errors import Problem
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.assets.support.crashes import Crash, crash_at_write
from tests.assets.support.files import exif, jpeg, png
from tests.assets.support.uploading import SITE, Uploader, digest, editor_of
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

MIB = 1024 * 1024
FOLDERS = (f"/content/{SITE}", "/users/me")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"person_assets_mib": 1, "site_assets_mib": 1})


@pytest.fixture(params=FOLDERS)
def uploader(request: pytest.FixtureRequest, client: Client) -> Uploader:
    return Uploader(editor_of(client), request.param)


def picture(length: int) -> bytes:
    return png() + bytes(length - len(png()))


def storage(uploader: Uploader) -> Any:
    return uploader.client.get(f"{uploader.folder}/assets").json["storage"]


def refusal(reply: Reply) -> tuple[int, str | None]:
    return reply.status, reply.json.get("code")


def library_bytes(runtime: Runtime) -> dict[str, int]:
    return {each["_id"]: each["bytes"] for each in LIBRARIES.of(runtime.database).find()}


def test_an_owner_is_told_how_many_bytes_are_in_use_and_how_many_may_be(
    uploader: Uploader,
) -> None:
    assert storage(uploader) == {"bytes": 0, "bytes_limit": MIB}

    asset = uploader.upload(picture(300), "image/png")
    uploader.upload(picture(500), "image/png", f"/assets/{asset['id']}/versions")
    other = uploader.upload(picture(7_000), "image/png")

    assert storage(uploader)["bytes"] == 7_800
    uploader.client.delete(f"{uploader.folder}/assets/{other['id']}")
    assert storage(uploader)["bytes"] == 800


def test_a_site_is_told_beside_its_store(client: Client, editor: Uploader) -> None:
    editor.upload(picture(300), "image/png")
    publisher = client.as_("pia", roles=["publisher"], sites=[SITE])

    read = publisher.get(f"/content/{SITE}/assets/store").json
    chosen = publisher.post(f"/content/{SITE}/assets/store", store="gridfs").json

    assert read["storage"] == chosen["storage"] == {"bytes": 300, "bytes_limit": MIB}
    assert storage(editor)["bytes"] == 300


def test_what_does_not_fit_is_refused_before_its_bytes_are_sent(uploader: Uploader) -> None:
    asset = uploader.upload(picture(MIB - 1_000), "image/png")

    for to in ("/assets", f"/assets/{asset['id']}/versions"):
        reply = uploader.begin(picture(1_001), "image/png", to)
        assert refusal(reply) == (409, "storage_full")
        assert reply.json["facts"] == {
            "bytes": MIB - 1_000,
            "bytes_limit": MIB,
            "bytes_more": 1_001,
        }
    uploader.upload(picture(1_000), "image/png")
    assert storage(uploader)["bytes"] == MIB
    assert refusal(uploader.begin(picture(100), "image/png")) == (409, "storage_full")


def test_unfinished_uploads_count_until_they_end(uploader: Uploader, clock: Clock) -> None:
    uploader.begin(picture(MIB // 2), "image/png")
    uploader.begin(picture(MIB // 2), "image/png")

    assert refusal(uploader.begin(picture(100), "image/png")) == (409, "storage_full")
    assert storage(uploader)["bytes"] == 0
    clock.advance(days=1)
    assert uploader.begin(picture(100), "image/png").status == 201


def test_an_end_that_does_not_fit_is_refused_and_fits_after_a_deletion(
    uploader: Uploader, runtime: Runtime
) -> None:
    begun = uploader.begin(picture(MIB // 2), "image/png").json
    uploader.send(begun, picture(MIB // 2))
    held = uploader.upload(picture(MIB // 2), "image/png")
    # A former release has finished another upload meanwhile.
    LIBRARIES.of(runtime.database).update_one({}, {"$inc": {"bytes": 1}})

    assert refusal(uploader.finish(begun)) == (409, "storage_full")
    assert refusal(uploader.finish(begun)) == (409, "storage_full")
    uploader.client.delete(f"{uploader.folder}/assets/{held['id']}")
    assert uploader.finish(begun).status == 200


def test_a_stripped_picture_counts_as_it_is_stored(uploader: Uploader) -> None:
    content = jpeg(before=[exif(6)], after=bytes(5_000))

    asset = uploader.upload(content, "image/jpeg")

    assert asset["current"]["length"] < 1_000
    assert storage(uploader)["bytes"] == asset["current"]["length"]


def test_a_repeated_end_counts_once(uploader: Uploader) -> None:
    begun = uploader.begin(picture(300), "image/png").json
    uploader.send(begun, picture(300))

    for _ in range(3):
        assert uploader.finish(begun).status == 200

    assert storage(uploader)["bytes"] == 300


def test_assets_of_a_former_release_count(uploader: Uploader, runtime: Runtime) -> None:
    first = uploader.upload(picture(300), "image/png")
    for count in ({"$unset": {"bytes": ""}}, None):
        if count is None:
            LIBRARIES.of(runtime.database).delete_many({})
        else:
            LIBRARIES.of(runtime.database).update_many({}, count)

        assert storage(uploader)["bytes"] == 300
        assert refusal(uploader.begin(picture(MIB - 299), "image/png")) == (409, "storage_full")
        other = uploader.upload(picture(400), "image/png")
        assert list(library_bytes(runtime).values()) == [700]
        LIBRARIES.of(runtime.database).update_many({}, {"$unset": {"bytes": ""}})
        uploader.client.delete(f"{uploader.folder}/assets/{other['id']}")
        assert list(library_bytes(runtime).values()) == [300]
    assert uploader.client.get(f"{uploader.folder}/assets").json["assets"][0]["id"] == first["id"]


def test_owners_do_not_share_their_room(client: Client) -> None:
    ann, bob = (Uploader(client.as_(name), "/users/me") for name in ("ann", "bob"))
    ann.upload(picture(MIB), "image/png")

    bob.upload(picture(MIB), "image/png")
    Uploader(editor_of(client)).upload(picture(MIB), "image/png")


def _send(runtime: Runtime, owner: str, length: int) -> str:
    """Send an upload; return its id."""
    content = picture(length)
    asked = NewAsset(name="x", type="image/png", length=length, sha256=digest(content))
    upload = begin(runtime, owner, asked, "ann")["_id"]
    put_part(runtime, owner, upload, 0, content)
    return upload


@pytest.mark.parametrize("is_counted", [True, False])
def test_two_ends_at_once_do_not_pass_the_limit(runtime: Runtime, *, is_counted: bool) -> None:
    if is_counted:
        finish(runtime, SITE, _send(runtime, SITE, 100))
    each = MIB // 5
    uploads = []
    for _ in range(8):
        uploads.append(_send(runtime, SITE, each))
        # So that the beginning of the next does not refuse it.
        UPLOADS.of(runtime.database).update_one(
            {"_id": uploads[-1]}, {"$set": {"owner": "elsewhere"}}
        )
    UPLOADS.of(runtime.database).update_many({"owner": "elsewhere"}, {"$set": {"owner": SITE}})

    def end(upload: str) -> str:
        try:
            finish(runtime, SITE, upload)
        except Problem as problem:
            return problem.code
        return "finished"

    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(end, uploads))

    room = 4 if is_counted else 5
    assert sorted(ends) == ["finished"] * room + ["storage_full"] * (8 - room)
    stored = [quotas.length_of(a["versions"]) for a in ASSETS.of(runtime.database).find()]
    assert library_bytes(runtime) == {SITE: sum(stored)}
    assert sum(stored) <= MIB


def test_an_end_and_deletions_at_once_count_right(runtime: Runtime, editor: Uploader) -> None:
    held = [editor.upload(picture(1_000 + n), "image/png")["id"] for n in range(6)]
    uploads = [_send(runtime, SITE, 2_000 + n) for n in range(6)]
    LIBRARIES.of(runtime.database).delete_many({})
    works: list[Callable[[], object]] = [
        *(lambda each=each: finish(runtime, SITE, each) for each in uploads),
        *(lambda each=each: catalogue.delete(runtime, SITE, each) for each in held),
    ]

    with ThreadPoolExecutor(12) as pool:
        for work in [pool.submit(each) for each in works]:
            work.result()

    assert library_bytes(runtime) == {SITE: sum(2_000 + n for n in range(6))}


@pytest.mark.parametrize("is_after", [False, True])
def test_a_crash_at_any_write_leaves_the_right_number(runtime: Runtime, *, is_after: bool) -> None:
    upload = _send(runtime, SITE, 1_000)
    for number in range(20):
        try:
            with crash_at_write(number, is_after=is_after) as reached:
                finish(runtime, SITE, upload)
        except Crash:
            pass
        stored = [quotas.length_of(a["versions"]) for a in ASSETS.of(runtime.database).find()]
        assert sum(library_bytes(runtime).values()) == sum(stored)
        if len(reached) <= number:
            break
    assert find(runtime, SITE, upload)["finished"] == 1
    assert library_bytes(runtime) == {SITE: 1_000}


def test_an_erasure_leaves_no_number(client: Client, runtime: Runtime) -> None:
    ann = Uploader(client.as_("ann"), "/users/me")
    ann.upload(picture(300), "image/png")
    assert library_bytes(runtime) == {"~ann": 300}
    assert any(each.rows.count_documents(each.where) for each in _libraries(runtime))

    assert own.erase(runtime, "ann") is Step.DONE

    assert library_bytes(runtime) == {}
    assert not any(each.rows.count_documents(each.where) for each in _libraries(runtime))
    ann.upload(picture(200), "image/png")
    assert library_bytes(runtime) == {"~ann": 200}


def _libraries(runtime: Runtime) -> list[Any]:
    traces = own.traces(runtime.database, "ann")
    return [each for each in traces if each.rows.name == "content.library"]

"""The process ended at each write, and two calls at once: nothing left over, nothing twice."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.assets import catalogue, uploads, uses
from chalicelib.assets.errors import AssetInUse, UnknownAsset
from chalicelib.assets.forms import NewAsset
from chalicelib.assets.jobs import run_due
from chalicelib.assets.shapes import ASSETS, CHUNKS, FILES, UPLOADS, WASTE, Asset
from chalicelib.database import in_transaction
from chalicelib.errors import Problem
from chalicelib.runtime import Runtime
from tests.assets.support.crashes import Crash, crash_at_write
from tests.assets.support.files import exif, jpeg
from tests.assets.support.uploading import SITE, digest
from tests.support.clock import Clock

PICTURE = jpeg(before=[exif(6)])
# More than the writes of any step here.
_MOST_WRITES = 30


def begin(runtime: Runtime) -> str:
    asked = NewAsset(name="A", type="image/jpeg", length=len(PICTURE), sha256=digest(PICTURE))
    return uploads.begin(runtime, SITE, asked, "eda")["_id"]


def sent(runtime: Runtime) -> str:
    upload_id = begin(runtime)
    uploads.put_part(runtime, SITE, upload_id, 0, PICTURE)
    return upload_id


def crashes(step: Callable[[], object]) -> bool:
    """Run a step; return whether the process ended in it."""
    try:
        step()
    except Crash:
        return True
    return False


def is_clean(runtime: Runtime) -> bool:
    """Return whether blobs are stored for the versions of assets, and for nothing else."""
    database = runtime.database
    blobs = {each["blob"] for asset in ASSETS.of(database).find() for each in asset["versions"]}
    stored = {*CHUNKS.of(database).distinct("files_id"), *FILES.of(database).distinct("_id")}
    return stored == blobs


def end_all(runtime: Runtime, clock: Clock) -> None:
    """Let all that is left over fall due, and sweep it."""
    clock.advance(days=1, minutes=15)
    run_due(runtime)
    clock.advance(minutes=15)
    run_due(runtime)


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("is_repeated", [False, True], ids=["abandoned", "repeated"])
def test_an_upload_that_ends_at_any_write_leaves_nothing_over(
    runtime: Runtime, clock: Clock, *, is_after: bool, is_repeated: bool
) -> None:
    for number in range(_MOST_WRITES):
        upload_id = begin(runtime)

        def send_and_finish(upload_id: str = upload_id) -> None:
            uploads.put_part(runtime, SITE, upload_id, 0, PICTURE)
            uploads.finish(runtime, SITE, upload_id)

        with crash_at_write(number, is_after=is_after) as reached:
            ended = crashes(send_and_finish)
        if is_repeated:
            if UPLOADS.of(runtime.database).find_one({"_id": upload_id, "finished": None}):
                uploads.put_part(runtime, SITE, upload_id, 0, PICTURE)
            assert len(uploads.finish(runtime, SITE, upload_id)["versions"]) == 1
        end_all(runtime, clock)

        assert is_clean(runtime), number
        assert UPLOADS.of(runtime.database).count_documents({}) == 0
        assert WASTE.of(runtime.database).count_documents({}) == 0
        if not ended:
            assert len(reached) > 5
            return
    pytest.fail("the writes have no end")


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
def test_a_sweep_and_a_deletion_that_end_at_any_write_are_repeated(
    runtime: Runtime, clock: Clock, *, is_after: bool
) -> None:
    for number in range(_MOST_WRITES):
        deleted = uploads.finish(runtime, SITE, sent(runtime))
        sent(runtime)

        def delete_and_sweep(asset_id: str = deleted["_id"]) -> None:
            catalogue.delete(runtime, SITE, asset_id)
            clock.advance(days=2)
            run_due(runtime)

        with crash_at_write(number, is_after=is_after):
            ended = crashes(delete_and_sweep)
        end_all(runtime, clock)

        assert is_clean(runtime), number
        ASSETS.of(runtime.database).delete_many({})
        CHUNKS.of(runtime.database).delete_many({})
        FILES.of(runtime.database).delete_many({})
        if not ended:
            return
    pytest.fail("the writes have no end")


def at_once(*calls: Callable[[], object]) -> list[object]:
    """Make calls at the same time; return what each returned, or the problem it ended with."""
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        start.wait(timeout=30)
        try:
            return call()
        except Problem as problem:
            return problem

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_two_who_finish_at_once_have_one_version(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id = sent(runtime)
    met = threading.Barrier(2)
    content_of = uploads.content_of

    def met_first(*arguments: object) -> uploads.Content:
        content = content_of(*arguments)  # type: ignore[arg-type]
        met.wait(timeout=30)
        return content

    monkeypatch.setattr(uploads, "content_of", met_first)

    def finish() -> Asset:
        return uploads.finish(runtime, SITE, upload_id)

    first, second = at_once(finish, finish)

    assert first == second
    (asset,) = ASSETS.of(runtime.database).find()
    assert len(asset["versions"]) == 1
    end_all(runtime, clock)
    assert is_clean(runtime)


def test_an_asset_is_used_or_deleted_and_never_both(runtime: Runtime) -> None:
    for _ in range(8):
        asset_id = uploads.finish(runtime, SITE, sent(runtime))["_id"]

        def use(asset_id: str = asset_id) -> None:
            in_transaction(
                runtime.database, lambda session: uses.use(runtime.database, session, [asset_id])
            )

        def delete(asset_id: str = asset_id) -> None:
            catalogue.delete(runtime, SITE, asset_id)

        used, deleted = at_once(use, delete)

        assert (type(used), deleted) == (UnknownAsset, None) or (
            used is None
            and isinstance(deleted, AssetInUse)
            and catalogue.find(runtime.database, asset_id)["used_by"] == 1
        )


def test_what_is_released_can_be_deleted(runtime: Runtime) -> None:
    asset_id = uploads.finish(runtime, SITE, sent(runtime))["_id"]
    database = runtime.database
    in_transaction(database, lambda session: uses.use(database, session, [asset_id, asset_id]))
    for _ in range(2):
        with pytest.raises(AssetInUse):
            catalogue.delete(runtime, SITE, asset_id)
        in_transaction(database, lambda session: uses.release(database, session, [asset_id]))

    catalogue.delete(runtime, SITE, asset_id)

    # Nothing is left to release, and a release that is repeated does no harm.
    in_transaction(database, lambda session: uses.release(database, session, [asset_id]))

"""The steps of a publisher: begin a transfer, send its parts, start, apply and stop it."""

from pymongo import DESCENDING, ReturnDocument
from pymongo.errors import DuplicateKeyError

from chalicelib.assets.blobs import (
    BlobGone,
    check_digests,
    check_part,
    store_of,
)
from chalicelib.assets.errors import PartsMissing
from chalicelib.comments.errors import (
    ExportRunning,
    FileTooLarge,
    ImportRunning,
    UnknownTransfer,
    WrongStep,
)
from chalicelib.comments.transfers import files
from chalicelib.comments.transfers.endings import end
from chalicelib.comments.transfers.forms import MOST_LISTED, ExportFormat, NewImport
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.comments.transfers.rows import (
    RUNNING,
    TRANSFERS,
    UPLOAD_KEPT,
    WITHOUT_LISTS,
    DiscussionTransfer,
    Kind,
    key_of,
)
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.jobs.resending import lease_end
from chalicelib.runtime import Runtime

_NAMED_PARTS = 20


def begin_import(runtime: Runtime, site: str, wanted: NewImport) -> DiscussionTransfer:
    """Begin the upload of a file for a site; raises FileTooLarge, ImportRunning, InvalidRequest."""
    blobs = store_of(runtime, files.store_name(runtime))
    if wanted.length > blobs.max_bytes:
        raise FileTooLarge(f"The limit is {blobs.max_bytes} bytes")
    check_digests(blobs, wanted.length, wanted.part_sha256)
    _check_free(runtime, site, "import")
    row = _new(runtime, site, "import")
    blob = new_id(runtime.now(), runtime.random)
    handle = blobs.begin(blob, files.MEDIA_TYPE)
    row["format"], row["is_dry_run"] = wanted.format, wanted.dry_run
    row["base"] = wanted.base
    row["moved"] = [{"old": each.old, "new": each.new} for each in wanted.url_map]
    row["digests"] = wanted.part_sha256
    row["files"] = [{"blob": blob, "handle": handle, "name": "", "length": wanted.length}]
    row["kept_until"] = runtime.now() + UPLOAD_KEPT
    try:
        _insert(runtime, row)
    except ImportRunning:
        blobs.drop(blob)
        raise
    return row


def put_part(runtime: Runtime, row: DiscussionTransfer, number: int, data: bytes) -> None:
    """Store a part, numbered from 1; a stored part stays as it is.

    Raises WrongStep, OtherStore, and InvalidRequest for a wrong number or length.
    """
    _check_state(row, "uploading")
    blobs, file = store_of(runtime, row["store"]), files.upload_of(row)
    check_part(blobs, number - 1, file["length"], data)
    blobs.part(file["blob"], file["handle"], number - 1, data)


def start(runtime: Runtime, row: DiscussionTransfer) -> DiscussionTransfer:
    """Queue an import after its complete upload; a repeated call changes nothing.

    Raises PartsMissing and WrongStep.
    """
    if row["state"] == "running":
        return row
    _check_state(row, "uploading")
    blobs, file = store_of(runtime, row["store"]), files.upload_of(row)
    if missing := files.missing_parts(blobs, file):
        named = ", ".join(map(str, missing[:_NAMED_PARTS]))
        raise PartsMissing(f"{len(missing)} are missing: {named}")
    try:
        blobs.finish(file["blob"], file["handle"], file["length"])
    except BlobGone:
        raise PartsMissing from None
    return _run(runtime, row, {})


def apply(runtime: Runtime, row: DiscussionTransfer) -> DiscussionTransfer:
    """Queue the import of a tried file; a repeated call changes nothing. Raises WrongStep."""
    if row["state"] == "running" and not row["is_dry_run"]:
        return row
    _check_state(row, "tried")
    return _run(runtime, row, {"is_dry_run": False, "counts": {}, "samples": [], "done": 0})


def stop(runtime: Runtime, row: DiscussionTransfer) -> DiscussionTransfer:
    """Stop an import: at once, or at the next step of its worker; return it."""
    # Another call or the worker may change its state meanwhile, a few times at most.
    while "ended" not in row:
        if row["state"] in {"uploading", "tried"}:
            is_done = end(runtime, row, "stopped")
        else:
            is_done = _ask_to_stop(runtime, row)
        row = find(runtime, row["site"], "import", row["_id"])
        if is_done:
            break
    return row


def _ask_to_stop(runtime: Runtime, row: DiscussionTransfer) -> bool:
    """Have the worker of an import stop it; return False if it is not running any more."""
    asked = {"$set": {"is_stopping": True}}
    of_run = {**key_of(row), **RUNNING}
    if not TRANSFERS.of(runtime.database).update_one(of_run, asked).matched_count:
        return False
    runtime.queues.send(RunTransfer(site=row["site"], transfer=row["_id"]))
    return True


def begin_export(runtime: Runtime, site: str, wanted: ExportFormat) -> DiscussionTransfer:
    """Have a worker write the discussions of a site; return the export. Raises ExportRunning."""
    row = _new(runtime, site, "export")
    row["format"], row["state"] = wanted, "running"
    row["due"] = lease_end(runtime)
    _insert(runtime, row)
    runtime.queues.send(RunTransfer(site=site, transfer=row["_id"]))
    return row


def find(runtime: Runtime, site: str, kind: Kind, transfer: str) -> DiscussionTransfer:
    """Return a transfer of a site; raises UnknownTransfer."""
    where: Document = {"_id": transfer, "site": site, "kind": kind}
    found = TRANSFERS.of(runtime.database).find_one(where)
    if found is None:
        raise UnknownTransfer
    return found


def newest(runtime: Runtime, site: str, kind: Kind) -> list[DiscussionTransfer]:
    """Return the 50 newest transfers of a kind at a site, without the fields of `WITHOUT_LISTS`."""
    where = {"site": site, "kind": kind}
    found = TRANSFERS.of(runtime.database).find(where, WITHOUT_LISTS)
    return list(found.sort("_id", DESCENDING).limit(MOST_LISTED))


def _new(runtime: Runtime, site: str, kind: Kind) -> DiscussionTransfer:
    now = runtime.now()
    return {
        "_id": new_id(now, runtime.random),
        "site": site,
        "kind": kind,
        "open": kind,
        "format": None,
        "is_dry_run": False,
        "base": None,
        "moved": [],
        "store": files.store_name(runtime),
        "digests": [],
        "files": [],
        "state": "uploading",
        "at": now,
        "done": 0,
        "counts": {},
        "samples": [],
        "tries": 0,
    }


def _check_free(runtime: Runtime, site: str, kind: Kind) -> None:
    """Raise ImportRunning or ExportRunning if the site has an open transfer of a kind."""
    running = TRANSFERS.of(runtime.database).find_one({"site": site, "open": kind}, {"_id": 1})
    if running is not None:
        problem = ImportRunning if kind == "import" else ExportRunning
        raise problem(facts={kind: running["_id"]})


def _insert(runtime: Runtime, row: DiscussionTransfer) -> None:
    """Insert an open transfer; raises ImportRunning or ExportRunning."""
    _check_free(runtime, row["site"], row["kind"])
    try:
        TRANSFERS.of(runtime.database).insert_one(row)
    except DuplicateKeyError:
        # Another call was faster.
        problem = ImportRunning if row["kind"] == "import" else ExportRunning
        raise problem from None


def _run(runtime: Runtime, row: DiscussionTransfer, fields: Document) -> DiscussionTransfer:
    """Set a transfer running if its state is still as in `row`, and queue it; return it.

    If another call has set it running, send its message again. Raises WrongStep in other states.
    """
    running: Document = {**fields, "state": "running", "due": lease_end(runtime), "tries": 0}
    found = TRANSFERS.of(runtime.database).find_one_and_update(
        {**key_of(row), "state": row["state"]},
        {"$set": running, "$unset": {"kept_until": "", "is_stopping": ""}},
        return_document=ReturnDocument.AFTER,
    )
    if found is None:
        # Another call has set it running, or stopped it.
        found = find(runtime, row["site"], row["kind"], row["_id"])
        _check_state(found, "running")
    runtime.queues.send(RunTransfer(site=row["site"], transfer=row["_id"]))
    return found


def _check_state(row: DiscussionTransfer, state: str) -> None:
    if row["state"] != state:
        raise WrongStep(facts={"state": row["state"]})

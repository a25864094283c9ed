"""Imports and exports as their publishers see them."""

from typing import Any, cast

from chalicelib.assets.blobs import Blobs, part_count, store_of
from chalicelib.assets.forms import PartAnswer
from chalicelib.comments.importing.rows import IMPORTS, THREADS, Import
from chalicelib.comments.transfers import files
from chalicelib.comments.transfers.forms import (
    PIECE_BYTES,
    DiscussionExportAnswer,
    DiscussionExportSummary,
    DiscussionFileAnswer,
    ImportAnswer,
    ImportProgressAnswer,
    ImportSummary,
)
from chalicelib.comments.transfers.rows import DiscussionTransfer, TransferFile
from chalicelib.runtime import Runtime


def import_summary(row: DiscussionTransfer) -> ImportSummary:
    """Return an import as a list shows it."""
    return {
        "id": row["_id"],
        "site": row["site"],
        "format": cast("Any", row["format"]),
        "dry_run": row["is_dry_run"],
        "state": row["state"],
        "begun_at": row["at"],
        "ended_at": row.get("ended"),
        "counts": row["counts"],
        "failure": row.get("failure"),
    }


def import_answer(runtime: Runtime, row: DiscussionTransfer) -> ImportAnswer:
    """Return an import with its report so far, and the addresses of its parts."""
    summary, samples = import_summary(row), row["samples"]
    progress: ImportProgressAnswer | None = None
    if row["state"] == "running":
        progress = {"part": "reading", "done": row["done"], "total": files.upload_of(row)["length"]}
        running = _running(runtime, row)
        if running is not None:
            summary["counts"], samples = running["counts"], running["samples"]
            progress = _progress(runtime, running) or progress
    blobs = store_of(runtime, row["store"])
    return {
        **summary,
        "progress": progress,
        "samples": [{"reason": each["reason"], "where": each["where"]} for each in samples],
        "part_bytes": blobs.part_bytes,
        "parts": _parts(runtime, row, blobs) if row["state"] == "uploading" else [],
    }


def _running(runtime: Runtime, row: DiscussionTransfer) -> Import | None:
    """Return the import that a worker has begun for a file; None: it has not begun."""
    same = {"digest": row["_id"], "is_dry_run": row["is_dry_run"]}
    return IMPORTS.of(runtime.database).find_one({"_id": row["site"], **same})


def _progress(runtime: Runtime, running: Import) -> ImportProgressAnswer | None:
    """Return the numbers of stored and of all discussions; None while the file is read."""
    if running["status"] == "staging":
        return None
    threads, of_run = THREADS.of(runtime.database), {"run": running["run"]}
    total = threads.count_documents(of_run)
    return {
        "part": "storing",
        "done": threads.count_documents({**of_run, "is_done": True}),
        "total": total,
    }


def _parts(runtime: Runtime, row: DiscussionTransfer, blobs: Blobs) -> list[PartAnswer]:
    file = files.upload_of(row)
    here = f"{runtime.settings.public_url}/sites/{row['site']}/imports/{row['_id']}/parts"
    given = blobs.addresses(file["blob"], file["handle"], row["digests"])
    missing = set(files.missing_parts(blobs, file))
    own = {"Content-Type": files.MEDIA_TYPE}
    return [
        {
            "number": number,
            "url": given[number - 1].url if given else f"{here}/{number}",
            "headers": dict(given[number - 1].headers) if given else own,
            "is_stored": number not in missing,
        }
        for number in range(1, part_count(blobs, file["length"]) + 1)
    ]


def export_summary(row: DiscussionTransfer) -> DiscussionExportSummary:
    """Return an export as a list shows it."""
    return {
        "id": row["_id"],
        "site": row["site"],
        "format": cast("Any", row["format"]),
        "state": row["state"],
        "begun_at": row["at"],
        "ended_at": row.get("ended"),
        "comments": row["counts"].get("comments", row["done"]),
        "failure": row.get("failure"),
    }


def export_answer(runtime: Runtime, row: DiscussionTransfer) -> DiscussionExportAnswer:
    """Return an export with the addresses of its files, once all of them are there."""
    shown = row["files"] if row["state"] == "done" else []
    return {
        **export_summary(row),
        "kept_until": row.get("kept_until"),
        "files": [_file(runtime, row, number, file) for number, file in enumerate(shown, 1)],
    }


def _file(
    runtime: Runtime, row: DiscussionTransfer, number: int, file: TransferFile
) -> DiscussionFileAnswer:
    disposition = f'attachment; filename="{file["name"]}"'
    blobs = store_of(runtime, row["store"])
    signed = blobs.reading_address(file["blob"], files.MEDIA_TYPE, disposition)
    here = f"{runtime.settings.public_url}/sites/{row['site']}/exports/{row['_id']}/files/{number}"
    count = -(-file["length"] // PIECE_BYTES)
    own = [f"{here}/pieces/{piece}" for piece in range(1, count + 1)]
    return {
        "name": file["name"],
        "length": file["length"],
        "is_signed": signed is not None,
        "pieces": [signed] if signed is not None else own,
    }

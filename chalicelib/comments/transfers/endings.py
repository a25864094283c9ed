"""The end of a transfer: it frees the site for the next transfer and sets when its files go."""

from collections.abc import Mapping
from typing import Any

from chalicelib.comments.transfers.rows import TRANSFERS, DiscussionTransfer, State, key_of
from chalicelib.database import Document
from chalicelib.jobs.work import WHILE_OWED
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime

_WHILE_OPEN = ("open", "is_stopping", *WHILE_OWED)


def end(
    runtime: Runtime, row: DiscussionTransfer, state: State, fields: Mapping[str, Any] = {}
) -> bool:
    """End a transfer if its state and worker are still as in `row`; return whether it ended.

    A sweep removes its files at `kept_until`; by default, once no present call can send parts.
    """
    now = runtime.now()
    as_read: Document = {**key_of(row), "state": row["state"], "is_dry_run": row["is_dry_run"]}
    if "taken_by" in row:
        as_read["taken_by"] = row["taken_by"]
    ended = {"state": state, "ended": now, "kept_until": now + LONGEST_RUN, **fields}
    gone = dict.fromkeys(_WHILE_OPEN, "")
    rows = TRANSFERS.of(runtime.database)
    return rows.update_one(as_read, {"$set": ended, "$unset": gone}).modified_count == 1


def fail(runtime: Runtime, row: DiscussionTransfer, code: str, detail: str) -> None:
    """End a transfer that cannot go on; its publisher reads the reason."""
    fields = {"site": row["site"], "transfer": row["_id"], "reason": code}
    log.warning("transfer failed", extra={"fields": fields})
    end(runtime, row, "failed", {"failure": {"code": code, "detail": detail}})

"""Runs of transfers: each message runs its import or its export."""

from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.comments.transfers.rows import TRANSFERS
from chalicelib.runtime import Runtime


def run(runtime: Runtime, message: RunTransfer) -> None:
    """Continue a transfer that is not over; raises Unavailable."""
    # Imported at the first run: their parsers would slow the cold start of every function.
    from chalicelib.comments.transfers import exports, imports

    key = {"_id": message.transfer, "site": message.site}
    row = TRANSFERS.of(runtime.database).find_one(key)
    if row is None:
        return
    if row["kind"] == "import":
        imports.run(runtime, row)
    else:
        exports.run(runtime, row)

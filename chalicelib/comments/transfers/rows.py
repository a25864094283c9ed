"""Stored rows of transfers: imports of a file into a site's discussions, exports into files."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.assets.shapes import StoreName
from chalicelib.comments.importing.rows import MAX_SAMPLES, ImportSample
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.jobs.work import Work

Kind = Literal["import", "export"]
# `tried`: a dry run is over, and the file waits to be applied.
State = Literal["uploading", "running", "tried", "done", "failed", "stopped"]
MAX_FILES = 50
MAX_MOVED = 1_000
# 128 parts of 8 MiB make a GiB.
MAX_PARTS = 128
# A file stays for this time before its import starts.
UPLOAD_KEPT = timedelta(days=1)
# A tried file and an export's files stay for this time.
FILE_KEPT = timedelta(days=7)
_ROW_KEPT_SECONDS = 90 * 86_400


class MovedPage(TypedDict):
    """A page's address in the file, and its address now."""

    old: str
    new: str


class TransferFile(TypedDict):
    """A stored file: its blob, the store's handle of its upload, and its length in bytes."""

    blob: str
    handle: str
    name: str
    length: int


class Failure(TypedDict):
    """The reason why a transfer ended, with a stable code."""

    code: str
    detail: str


class DiscussionTransfer(TypedDict):
    """An import or an export of a site.

    format: None until a worker has detected it.
    open: its kind, until it is over; a site has at most one open transfer of a kind.
    base, moved: present addresses of the file's pages. digests: SHA-256 of the parts of an upload.
    done: bytes read of the file, or comments written.
    tries: runs since the last progress. is_stopping: it ends at the next step.
    due: when its message is sent again. taken_by, leased_until: the worker of an export.
    kept_until: when its files go; absent while it runs, and once they are gone.
    """

    _id: str
    site: str
    kind: Kind
    open: NotRequired[Kind]
    format: str | None
    is_dry_run: bool
    base: str | None
    moved: Annotated[list[MovedPage], AtMost(MAX_MOVED)]
    store: StoreName
    digests: Annotated[list[str], AtMost(MAX_PARTS)]
    files: Annotated[list[TransferFile], AtMost(MAX_FILES)]
    state: State
    at: datetime
    done: int
    counts: dict[str, int]
    samples: Annotated[list[ImportSample], AtMost(MAX_SAMPLES)]
    failure: NotRequired[Failure]
    tries: int
    is_stopping: NotRequired[bool]
    due: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]
    taken_by: NotRequired[str]
    leased_until: NotRequired[datetime]
    kept_until: NotRequired[datetime]
    ended: NotRequired[datetime]


RUNNING: Document = {"state": "running"}
WITHOUT_LISTS = {"moved": 0, "digests": 0, "samples": 0}

TRANSFERS = Collection(
    "comments.transfer",
    DiscussionTransfer,
    indexes=(
        IndexModel(
            [("site", ASCENDING), ("open", ASCENDING)],
            unique=True,
            partialFilterExpression={"open": {"$exists": True}},
        ),
        IndexModel([("site", ASCENDING), ("kind", ASCENDING), ("_id", DESCENDING)]),
        IndexModel([("due", ASCENDING)], partialFilterExpression=RUNNING),
        IndexModel(
            [("kept_until", ASCENDING)],
            partialFilterExpression={"kept_until": {"$exists": True}},
        ),
        IndexModel("ended", expireAfterSeconds=_ROW_KEPT_SECONDS),
    ),
    shard_key={"site": 1},
)
WORK = Work(
    TRANSFERS,
    RUNNING,
    lambda row: RunTransfer(site=row["site"], transfer=row["_id"]),
    key=("_id", "site"),
    made_of="site",
)


def key_of(row: DiscussionTransfer) -> Document:
    """Return the filter of a transfer."""
    return {"_id": row["_id"], "site": row["site"]}

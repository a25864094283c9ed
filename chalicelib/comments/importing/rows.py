"""Stored rows of a running import: the import of a site, its threads, and their comments.

The threads and comments serve only the import and its progress; the import removes them at its end.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.comments.mentions import MAX_MENTIONS, Mention
from chalicelib.comments.shapes import MAX_REASONS, Author, Reason, Shadow, State
from chalicelib.database import Collection
from chalicelib.database.validators import AtMost
from chalicelib.marks.shapes import MAX_REACTIONS

MAX_SAMPLES = 200
# The TTL removes an import's rows this long after the import began, if it has not ended.
ROWS_KEPT = timedelta(days=7)
MAX_SAMPLES_OF_THREAD = 20
# An import stores the votes and reactions of at most this many people per comment. Further votes
# count without their voters; further reactions do not count.
MAX_BALLOTS = 1_000

# `staging`: reads the file into rows. `applying`: moves each thread into its node. `ending`: has
# the report, and removes the rows.
ImportStatus = Literal["staging", "applying", "ending", "done"]


class ImportSample(TypedDict):
    """A part of the file that the import left out or changed: its place, not its text."""

    reason: str
    where: str


class Import(TypedDict):
    """The last import of a site; `_id` is the site.

    run: the id of the import. digest: the digest of the file and the options.
    at: its beginning; no comment has a later time.
    position: the number of staged parts of the file.
    counts: the numbers of threads and comments by outcome.
    taken_by, leased_until: the id of the last lease, and its end.
    ended: its end; the TTL removes the import 90 days later.
    """

    _id: str
    run: str
    format: str
    digest: str
    is_dry_run: bool
    at: datetime
    status: ImportStatus
    position: int
    counts: dict[str, int]
    samples: Annotated[list[ImportSample], AtMost(MAX_SAMPLES)]
    taken_by: str
    leased_until: datetime
    ended: NotRequired[datetime]


class StagedThread(TypedDict):
    """A thread of an import; `_id` is `{run}/{thread}`.

    thread: the digest of its key in the file. number: its place in the file.
    node_id: the wanted id of its node, unless a node has its address.
    settings: the settings of the new node, if the thread makes it.
    counts, samples: the outcome of its comments, stored before readers see them.
    settled: the most comments of its node that a run has settled.
    expires: the time of its removal, if its import never ends.
    """

    _id: str
    run: str
    thread: str
    number: int
    node_id: str
    url: str
    title: str
    locked: bool
    settings: dict[str, Any]
    is_done: bool
    counts: dict[str, int]
    samples: Annotated[list[ImportSample], AtMost(MAX_SAMPLES_OF_THREAD)]
    settled: NotRequired[int]
    expires: datetime


class Ballot(TypedDict):
    """A person's vote, 0 for none, and reactions."""

    by: str
    vote: Literal[-1, 0, 1]
    reactions: Annotated[list[str], AtMost(MAX_REACTIONS)]


class StagedComment(TypedDict):
    """A comment of an import; `_id` is `{run}/{thread}/{id}`; staged again, it stays.

    parent: the id of the answered comment, which may be missing; root: the parent in that case.
    order: the sort key among comments of the same time.
    part: the number of its part of the file; a comment of another part with its id stays out.
    up, down: the numbers of votes without a named voter.
    lives: the node had the comment before the import; the import leaves its votes.
    email_key: the keyed hash of the author's mail address in the file.
    """

    _id: str
    run: str
    thread: str
    id: str
    parent: str | None
    posted: datetime
    order: str
    edited: datetime | None
    author: Author | None
    text: str | None
    state: State
    reasons: Annotated[list[Reason], AtMost(MAX_REASONS)]
    up: int
    down: int
    ballots: Annotated[list[Ballot], AtMost(MAX_BALLOTS)]
    featured: NotRequired[datetime]
    root: NotRequired[str]
    shadow: NotRequired[Shadow]
    mentions: NotRequired[Annotated[list[Mention], AtMost(MAX_MENTIONS)]]
    lives: NotRequired[bool]
    email_key: NotRequired[str]
    part: NotRequired[int]
    expires: datetime


IMPORTS = Collection(
    "comments.import",
    Import,
    indexes=(IndexModel("ended", expireAfterSeconds=90 * 86_400),),
)
THREADS = Collection(
    "comments.staged_thread",
    StagedThread,
    indexes=(
        IndexModel([("run", ASCENDING), ("is_done", ASCENDING), ("number", ASCENDING)]),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"run": 1, "_id": 1},
)
STAGED = Collection(
    "comments.staged",
    StagedComment,
    indexes=(
        IndexModel(
            [
                ("run", ASCENDING),
                ("thread", ASCENDING),
                ("posted", ASCENDING),
                ("order", ASCENDING),
            ]
        ),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"run": 1, "_id": 1},
)

"""Origins of comments under a spam check: the author's address and browser.

Plaza stores these nowhere else. A post writes the row before its comment, and a TTL index removes
the row a day later. The row also notes a worker's task: to ask the service about the comment, or
to send the service a moderator's correction.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.comments.shapes import Comment, Node, State
from chalicelib.database import Collection, Document
from chalicelib.jobs.resending import lease_end
from chalicelib.jobs.work import Work
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime


class CheckSpam(Message):
    """Do the task at the origin of a comment; `comment` is the origin's id, `{node}/{comment}`."""

    queue: ClassVar[str] = "moderation"
    type: Literal["check-spam"] = "check-spam"
    comment: str


KEPT = timedelta(days=1)
_MOST_CHARACTERS = 500
# `check`: ask about the comment; `spam`, `ham`: correct the service.
Task = Literal["check", "spam", "ham"]


class Sender(NamedTuple):
    """The sender of a call; never logged."""

    address: str
    agent: str

    def __repr__(self) -> str:
        """Return nothing personal, for logs and traces."""
        return "Sender(...)"


class Origin(TypedDict):
    """The origin of a comment; `_id` is `{node}/{id}` at the time of the post.

    With a `task`, `due` is the time to send its message again, `tries` the number of its leases,
    and `leased_until` the end of the lease of the worker `taken_by`. `answer` is the service's last
    answer, or the last correction sent to it.
    """

    _id: str
    node_id: str
    comment_id: str
    person: str
    address: str
    agent: str
    at: datetime
    expires: datetime
    tries: int
    answer: str | None
    task: NotRequired[Task]
    due: NotRequired[datetime]
    leased_until: NotRequired[datetime]
    taken_by: NotRequired[str]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


TO_DO: Document = {"task": {"$exists": True}}
ORIGINS = Collection(
    "comments.origin",
    Origin,
    indexes=(
        IndexModel([("due", ASCENDING)], partialFilterExpression=TO_DO),
        # Finds the rows of a person to erase.
        IndexModel("person"),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"_id": "hashed"},
)
WORK = Work(ORIGINS, TO_DO, lambda row: CheckSpam(comment=row["_id"]), fields=("task",))


def note(runtime: Runtime, node: Node, comment: Comment, sender: Sender) -> None:
    """Note the origin of a comment before it is stored, with the task to check it."""
    now, author = runtime.now(), comment["author"]
    made: Document = {
        "node_id": node["_id"],
        "comment_id": comment["id"],
        "person": author["id"] if author else "",
        "address": sender.address,
        "agent": sender.agent[:_MOST_CHARACTERS],
        "at": now,
        "expires": now + KEPT,
        **_to_do(runtime, "check"),
        "answer": None,
    }
    ORIGINS.of(runtime.database).replace_one({"_id": _id(node, comment["id"])}, made, upsert=True)


def check_again(runtime: Runtime, node: Node, comment_id: str) -> bool:
    """Note the task to check a comment again, before its text is edited.

    Returns False if its origin is gone, or if this deployment uses no service.
    """
    return _want(runtime, node, comment_id, "check", {})


def note_decision(runtime: Runtime, node: Node, comment_id: str, state: State) -> bool:
    """Note the task to correct the service, before a moderator's decision against its answer.

    `spam` corrects any other answer, and a missing one; `visible` corrects only `spam`. Returns
    False if it notes no task: for any other decision, without an origin, or without a service.
    """
    if state == "spam":
        return _want(runtime, node, comment_id, "spam", {"answer": {"$ne": "spam"}})
    if state == "visible":
        return _want(runtime, node, comment_id, "ham", {"answer": "spam"})
    return False


def send(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Send a message for the noted task; if it is lost, the schedule sends another."""
    runtime.queues.send(CheckSpam(comment=_id(node, comment_id)))


def remove(runtime: Runtime, origin: Origin) -> None:
    """Remove an origin that this worker has leased."""
    ORIGINS.of(runtime.database).delete_one(WORK.own(origin))


def _want(
    runtime: Runtime, node: Node, comment_id: str, task: Task, where: Mapping[str, Any]
) -> bool:
    if runtime.settings.akismet_key is None:
        return False
    free = {"$unset": {"taken_by": "", "leased_until": ""}}
    key = {"_id": _id(node, comment_id), **where}
    wanted = {"$set": _to_do(runtime, task), **free}
    return ORIGINS.of(runtime.database).update_one(key, wanted).matched_count == 1


def _to_do(runtime: Runtime, task: Task) -> Document:
    return {"task": task, "tries": 0, "due": lease_end(runtime), "resends": 0}


def _id(node: Node, comment_id: str) -> str:
    return f"{node['_id']}/{comment_id}"

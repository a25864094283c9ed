"""Origins of comments under a spam check: the author's address and browser.

Plaza stores these nowhere else. A row is made before its comment and ends by itself a day later.
It also notes a worker's task: to ask the service about the comment, or to send it a moderator's
correction.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument

from chalicelib.comments.shapes import Comment, Node, State
from chalicelib.database import Collection, Document
from chalicelib.ids import new_id
from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime


class CheckSpam(Message):
    """Do the task beside the origin of a comment: `{node}/{comment}`."""

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

    With a `task`, `due` is when its message is sent again, `tries` the number of leases so far,
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
RESENDING = Resending(at="due", where=TO_DO)
# Fields of a row only while it has a task.
_WHILE_TO_DO = ("task", "due", "leased_until", "taken_by", "resends", "resent_by")

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
    """Note before a moderator's decision whether to correct the service; return whether so."""
    if state == "spam":
        return _want(runtime, node, comment_id, "spam", {"answer": {"$ne": "spam"}})
    if state == "visible":
        return _want(runtime, node, comment_id, "ham", {"answer": "spam"})
    return False


def send(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Send a message for the noted task; if it is lost, the schedule sends another."""
    runtime.queues.send(CheckSpam(comment=_id(node, comment_id)))


def take(runtime: Runtime, origin_id: str) -> Origin | None:
    """Lease a row with a task to this worker; None: no task, or leased already."""
    now = runtime.now()
    free = {"$or": [{"leased_until": None}, {"leased_until": {"$lte": now}}]}
    until = now + timedelta(milliseconds=runtime.settings.lease_ms)
    taken = {"taken_by": new_id(now, runtime.random), "leased_until": until, "due": until}
    return ORIGINS.of(runtime.database).find_one_and_update(
        {"_id": origin_id, **TO_DO, **free},
        {"$set": {**taken, "resends": 0}, "$inc": {"tries": 1}},
        return_document=ReturnDocument.AFTER,
    )


def finish(runtime: Runtime, origin: Origin, answer: str | None) -> None:
    """Remove the task, unless a call noted another task meanwhile."""
    ended = {"$set": {"answer": answer}, "$unset": dict.fromkeys(_WHILE_TO_DO, "")}
    ORIGINS.of(runtime.database).update_one(_own(origin), ended)


def postpone(runtime: Runtime, origin: Origin) -> None:
    """Leave the task to the next message, which the schedule sends."""
    free = {"$unset": {"taken_by": "", "leased_until": ""}}
    ORIGINS.of(runtime.database).update_one(_own(origin), free)


def remove(runtime: Runtime, origin: Origin) -> None:
    """Remove a row that is no longer needed."""
    ORIGINS.of(runtime.database).delete_one(_own(origin))


def sweep(runtime: Runtime) -> None:
    """Send messages again for tasks that no worker has done."""
    resending.sweep(runtime, ORIGINS.of(runtime.database), RESENDING, _messages)


def _messages(rows: Iterable[Mapping[str, Any]]) -> Iterator[CheckSpam]:
    return (CheckSpam(comment=row["_id"]) for row in rows)


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
    # After a lease's time the noting call is over, and its message was sent.
    due = runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
    return {"task": task, "tries": 0, "due": due, "resends": 0}


def _own(origin: Origin) -> Document:
    return {"_id": origin["_id"], **TO_DO, "taken_by": origin.get("taken_by")}


def _id(node: Node, comment_id: str) -> str:
    return f"{node['_id']}/{comment_id}"

"""The start of a batch, and of another batch that undoes it."""

from chalicelib.comments.batches.forms import BatchComment, BatchStart
from chalicelib.comments.batches.running import RunBatch, entries_of_person
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import BatchRunning, UnknownBatch
from chalicelib.comments.log.rows import BATCHES, Batch, NamedComment
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.jobs.resending import lease_end
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator


def begin(runtime: Runtime, wanted: BatchStart, moderator: Principal) -> Batch:
    """Store a batch of decisions, send its message, and return it; raises Forbidden."""
    check_moderator(moderator, wanted.site)
    batch = _new(runtime, wanted.site, moderator)
    batch["wanted"] = wanted.state
    batch["reason"] = wanted.reason or ""
    batch["comments"] = [_named_comment(each) for each in wanted.comments or ()]
    batch["person"], batch["since"] = wanted.person, wanted.since
    if wanted.person is None:
        batch["total"] = len(batch["comments"])
    else:
        batch["total"] = ENTRIES.of(runtime.database).count_documents(entries_of_person(batch))
    return _start(runtime, batch)


def undo(runtime: Runtime, batch_id: str, moderator: Principal) -> Batch:
    """Store a batch that undoes another batch, send its message, and return it.

    Raises Forbidden, UnknownBatch, and BatchRunning while the other batch runs.
    """
    found = find(runtime, batch_id, moderator)
    if found["status"] == "running":
        raise BatchRunning
    batch = _new(runtime, found["site"], moderator)
    batch["undoes"], batch["total"] = found["_id"], found["changed"]
    return _start(runtime, batch)


def find(runtime: Runtime, batch_id: str, moderator: Principal) -> Batch:
    """Return a batch of a site of the moderator; raises Forbidden and UnknownBatch."""
    batch = BATCHES.of(runtime.database).find_one({"_id": batch_id})
    if batch is None:
        raise UnknownBatch
    check_moderator(moderator, batch["site"])
    return batch


def _named_comment(given: BatchComment) -> NamedComment:
    named: NamedComment = {"node_id": given.node_id, "comment_id": given.comment_id}
    if "edited_at" in given.model_fields_set:
        named["edited"] = given.edited_at
    if given.as_shown is not None:
        named["state"], named["edited"] = given.as_shown.state, given.as_shown.edited_at
    return named


def _new(runtime: Runtime, site: str, moderator: Principal) -> Batch:
    now = runtime.now()
    return {
        "_id": new_id(now, runtime.random),
        "site": site,
        "at": now,
        "by": moderator.id,
        "by_name": moderator.name,
        "wanted": None,
        "reason": "",
        "comments": [],
        "person": None,
        "since": None,
        "undoes": None,
        "status": "running",
        "total": 0,
        "changed": 0,
        "unchanged": 0,
        "left": 0,
        "after": {},
        "due": lease_end(runtime),
    }


def _start(runtime: Runtime, batch: Batch) -> Batch:
    BATCHES.of(runtime.database).insert_one(batch)
    runtime.queues.send(RunBatch(batch=batch["_id"]))
    return batch

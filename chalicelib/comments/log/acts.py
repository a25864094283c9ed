"""Noting what a moderator does: a row is open while it is done, and closed when it is over."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple

from chalicelib.comments.log.rows import LOG, Act, Action, key_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.errors import Problem
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime


class Actor(NamedTuple):
    """Who acts and why: what they say of it, the act that they undo, the batch it is part of."""

    who: Principal
    reason: str = ""
    undoes: str | None = None
    batch: str | None = None


class Change(NamedTuple):
    """The fields that an act changes; without `before`, whatever they were."""

    before: Mapping[str, Any] | None
    after: Mapping[str, Any]


class Thing(NamedTuple):
    """What an act is on: a comment, or a person at a site, with the last act on it."""

    site: str
    node_id: str | None
    comment_id: str | None
    person: str | None
    person_name: str | None
    follows: str | None


@dataclass
class Noted:
    """An act that is under way: its id, for its thing to name, and the fields that it changes."""

    id: str
    before: Mapping[str, Any] = field(default_factory=dict)


class NotDone(Exception):
    """What the act relies on is no longer so: nothing was changed."""


def comment_thing(node: Node, comment: Comment) -> Thing:
    """Return a comment as what an act is on."""
    author = comment["author"]
    return Thing(
        node["site"],
        node["_id"],
        comment["id"],
        author["id"] if author else None,
        author["name"] if author else None,
        comment.get("act"),
    )


@contextlib.contextmanager
def noted(
    runtime: Runtime, actor: Actor, action: Action, thing: Thing, change: Change
) -> Iterator[Noted]:
    """Note an act while it is done; one that is refused leaves no row.

    What ends otherwise leaves an open row, which the schedule closes or removes by what its thing
    says (`chalicelib.comments.acts.upkeep`).
    """
    row = _row(runtime, actor, action, thing, change)
    act = Noted(row["_id"], row["before"])
    rows = LOG.of(runtime.database)
    rows.insert_one(row)
    try:
        yield act
    except NotDone:
        rows.delete_one(key_of(act.id))
        raise
    except Problem as problem:
        if problem.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            rows.delete_one(key_of(act.id))
        raise
    rows.update_one(key_of(act.id), {"$set": {"before": dict(act.before)}, "$unset": {"open": ""}})


def _row(runtime: Runtime, actor: Actor, action: Action, thing: Thing, change: Change) -> Act:
    now = runtime.now()
    entry = f"{thing.node_id}/{thing.comment_id}" if thing.comment_id else None
    row: Act = {
        "_id": f"{thing.site}:{new_id(now, runtime.random)}",
        "site": thing.site,
        "at": now,
        "by": actor.who.id,
        "by_name": actor.who.name,
        "action": action,
        "node_id": thing.node_id,
        "comment_id": thing.comment_id,
        "entry": entry,
        "person": thing.person,
        "person_name": thing.person_name,
        "before": dict(change.before or {}),
        "after": dict(change.after),
        "reason": actor.reason,
        "follows": thing.follows,
        "open": now,
    }
    if actor.undoes is not None:
        row["undoes"] = actor.undoes
    if actor.batch is not None:
        row["batch"] = actor.batch
    return row

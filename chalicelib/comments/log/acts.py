"""Noting an act of a moderator: its row is open while it runs, and closed at its end."""

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
    """A moderator who acts, with the reason given, the act to undo and the batch."""

    who: Principal
    reason: str = ""
    undoes: str | None = None
    batch: str | None = None


class ActChange(NamedTuple):
    """The fields that an act changes. `before` None: whatever their values are."""

    before: Mapping[str, Any] | None
    after: Mapping[str, Any]


class ActSubject(NamedTuple):
    """The subject of an act: a comment or a person at a site, with the last act on it."""

    site: str
    node_id: str | None
    comment_id: str | None
    person: str | None
    person_name: str | None
    follows: str | None


@dataclass
class RunningAct:
    """A running act: its id, for its subject to store, and the former values of the fields."""

    id: str
    before: Mapping[str, Any] = field(default_factory=dict)


class NotDone(Exception):
    """A condition of the act no longer holds: nothing changed."""


def comment_thing(node: Node, comment: Comment) -> ActSubject:
    """Return a comment as the subject of an act."""
    author = comment["author"]
    return ActSubject(
        node["site"],
        node["_id"],
        comment["id"],
        author["id"] if author else None,
        author["name"] if author else None,
        comment.get("act"),
    )


@contextlib.contextmanager
def noting(
    runtime: Runtime, actor: Actor, action: Action, thing: ActSubject, change: ActChange
) -> Iterator[RunningAct]:
    """Note an act while it runs; a refused act leaves no row.

    A crash or a server error leaves an open row. The schedule closes the row if the act's subject
    proves the act, and otherwise removes the row (`chalicelib.comments.acts.upkeep`).
    """
    row = _row(runtime, actor, action, thing, change)
    act = RunningAct(row["_id"], row["before"])
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


def _row(
    runtime: Runtime, actor: Actor, action: Action, thing: ActSubject, change: ActChange
) -> Act:
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

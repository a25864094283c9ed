"""Blocks between people: one list a person, for all features and all sites.

A person's document has the blocks by the person and against the person. A block writes both
people's documents, and a feature that copies a person's blocks writes the document, too (`copy`).
So a block and a first copy conflict, and neither misses the other.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, NamedTuple, NotRequired, Protocol, TypedDict

from pydantic import Field
from pymongo import IndexModel, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from typing_extensions import TypedDict as AnswerDict

from chalicelib.bounds import BOUNDS
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import TooManyBlocked
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.people.ids import UserId
from chalicelib.runtime import Runtime

# Bounds the size of a document; people hardly ever reach it.
MAX_BLOCKED_BY = 100_000
# The longest list of a person, plus the longest list that an earlier release stored for a site.
MAX_SHOWN = BOUNDS.social.blocked + BOUNDS.people.blocked


class Blocks(TypedDict):
    """A person's blocks; `_id` is the person's id.

    `blocked` has more than `BOUNDS.people.blocked` ids only if an earlier release stored them.
    `since` is the time of the document's first write: a block by or against the person, or a
    feature's copy. `copied` is the time of the last copy by a feature.
    """

    _id: str
    blocked: Annotated[list[str], AtMost(BOUNDS.social.blocked)]
    blocked_by: Annotated[list[str], AtMost(MAX_BLOCKED_BY)]
    since: datetime
    copied: NotRequired[datetime]


BLOCKS = Collection(
    "people.blocks",
    Blocks,
    # For an erasure: finds the people who block the erased person.
    indexes=(IndexModel("blocked"),),
    shard_key={"_id": "hashed"},
)


class BlockedPersonAnswer(AnswerDict):
    """A person on a list of blocks."""

    id: UserId


class BlockedAnswer(AnswerDict):
    """A list of blocks."""

    people: Annotated[list[BlockedPersonAnswer], Field(max_length=MAX_SHOWN)]


class Apart(Protocol):
    """The feature that stores the blocks of all features; a block also ends its own ties."""

    def keep_apart(self, runtime: Runtime, owner_id: str, other_id: str) -> None:
        """Block a person, whether or not the two use the feature; raises TooManyBlocked."""
        ...

    def let_meet(self, runtime: Runtime, owner_id: str, other_id: str) -> None:
        """End a block; without one, nothing changes."""
        ...


class BothWays(NamedTuple):
    """The ids that a person blocks, and the ids that block the person."""

    blocked: list[str]
    blocked_by: list[str]


def answer(user_ids: Sequence[str]) -> BlockedAnswer:
    """Return blocked people as the API shows them."""
    return {"people": [{"id": each} for each in user_ids]}


def list_of(database: Database[Document], user_id: str) -> list[str]:
    """Return the ids that a person blocks, sorted."""
    found = BLOCKS.of(database).find_one({"_id": user_id}, {"blocked": 1})
    return sorted(found["blocked"]) if found else []


def find(database: Database[Document], user_id: str) -> BothWays:
    """Return the blocks of a person in both directions."""
    found = BLOCKS.of(database).find_one({"_id": user_id}, {"blocked": 1, "blocked_by": 1})
    return BothWays(found["blocked"], found["blocked_by"]) if found else BothWays([], [])


def add(runtime: Runtime, session: ClientSession, owner_id: str, other_id: str) -> None:
    """Add a block to both people's documents in a transaction; raises TooManyBlocked.

    A second call changes nothing.
    """
    rows = BLOCKS.of(runtime.database)
    sides = (
        (owner_id, "blocked", "blocked_by", other_id, runtime.bounds.people.blocked),
        (other_id, "blocked_by", "blocked", owner_id, MAX_BLOCKED_BY),
    )
    for user_id, field, empty, them, most in sides:
        is_full = {"_id": user_id, f"{field}.{most - 1}": {"$exists": True}, field: {"$ne": them}}
        if rows.find_one(is_full, {}, session=session):
            raise TooManyBlocked
        new = {empty: [], "since": runtime.now()}
        change = {"$addToSet": {field: them}, "$setOnInsert": new}
        rows.update_one({"_id": user_id}, change, upsert=True, session=session)


def remove(runtime: Runtime, session: ClientSession, owner_id: str, other_id: str) -> None:
    """Remove a block from both people's documents in a transaction; delete empty documents."""
    rows = BLOCKS.of(runtime.database)
    sides = ((owner_id, "blocked", other_id), (other_id, "blocked_by", owner_id))
    for user_id, field, them in sides:
        rows.update_one({"_id": user_id}, {"$pull": {field: them}}, session=session)
        alone: Document = {"_id": user_id, "blocked": [], "blocked_by": []}
        rows.delete_one(alone, session=session)


def copy(runtime: Runtime, session: ClientSession, user_id: str) -> BothWays:
    """Return a person's blocks for a copy that the same transaction makes.

    The call writes the document, so that a concurrent block conflicts.
    """
    now = runtime.now()
    new = {"blocked": [], "blocked_by": [], "since": now}
    found = BLOCKS.of(runtime.database).find_one_and_update(
        {"_id": user_id},
        {"$set": {"copied": now}, "$setOnInsert": new},
        upsert=True,
        return_document=ReturnDocument.AFTER,
        session=session,
    )
    assert found is not None  # noqa: S101 - an upsert always gives a document
    return BothWays(found["blocked"], found["blocked_by"])


def take_in(runtime: Runtime, session: ClientSession, user_id: str, blocked: Sequence[str]) -> None:
    """Add a person's blocks that a feature stored before all features shared a list.

    The blocked people's documents do not change: the feature has stored those blocks in its own
    copies all along.
    """
    had: Document = {"$ifNull": ["$blocked", []]}
    fields = {
        "blocked": {"$setUnion": [had, {"$literal": list(blocked)}]},
        "blocked_by": {"$ifNull": ["$blocked_by", []]},
        "since": {"$ifNull": ["$since", runtime.now()]},
    }
    rows = BLOCKS.of(runtime.database)
    rows.update_one({"_id": user_id}, [{"$set": fields}], upsert=True, session=session)


# Blocks as personal data: `chalicelib.people.features`.


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the traces of the blocks by a person, and of the blocks against the person."""

    def show(own: Blocks) -> list[ExportEntry]:
        return [entry("blocked_person", user_id=each) for each in own["blocked"]]

    rows = BLOCKS.of(database)
    by_others = {"$or": [{"_id": user_id, "blocked": []}, {"blocked": user_id}]}
    return [
        Trace("blocks", rows, {"_id": user_id, "blocked.0": {"$exists": True}}, show),
        Trace("blocks by others", rows, by_others, not_shown="who blocks is not told"),
    ]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Do nothing: blocks have ids of people, and no names."""
    del runtime, user_id, name


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Delete the blocks by a person and the blocks against the person.

    `until`: delete nothing if the person's document began later, since the person is back.
    """
    rows = BLOCKS.of(runtime.database)
    while True:
        own = rows.find_one({"_id": user_id})
        if until is not None and own is not None and own["since"] > until:
            return Step.DONE
        others = own["blocked"] if own else []
        rows.update_many({"_id": {"$in": others}}, {"$pull": {"blocked_by": user_id}})
        rows.update_many({"blocked": user_id}, {"$pull": {"blocked": user_id}})
        if own is None:
            return Step.DONE
        alone: Document = {"blocked": [], "blocked_by": []}
        rows.delete_many({"_id": {"$in": [*others, *own["blocked_by"]]}, **alone})
        # After a concurrent block the lists differ: the next round removes that block.
        unchanged = {"blocked": own["blocked"], "blocked_by": own["blocked_by"]}
        rows.delete_one({"_id": user_id, **unchanged})

"""Reads of a person's marks on things, and of the people who marked a thing."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.marks.shapes import (
    BY_FLAG,
    FLAGGED,
    MARKS,
    NOTHING,
    Kind,
    Mark,
    State,
    mark_id,
    marks_on,
    thing_of,
    wanted_of,
)


class ThingState(NamedTuple):
    """A person's state on a thing."""

    thing_id: str
    state: State


def mine(
    database: Database[Document], user_id: str | None, kind: Kind, thing_ids: Iterable[str]
) -> dict[str, State]:
    """Return the person's states by thing id, by one query; things without a mark are missing.

    Without a person, it returns {}.
    """
    ids = [mark_id(kind, each, user_id) for each in thing_ids] if user_id else []
    if not ids:
        return {}
    found = MARKS.of(database).find({"_id": {"$in": ids}}, _SAID)
    said = {thing_of(mark["_id"])[1]: wanted_of(mark) for mark in found}
    return {id_: state for id_, state in said.items() if state != NOTHING}


_SAID = {"vote": 1, "reactions": 1, "shadowed": 1, "flag.weight": 1, "flag.outcome": 1}


def find_reactions(
    database: Database[Document], kind: Kind, given: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], datetime]:
    """Return the time of each mark with a reaction, by (thing, person); no shadowed marks."""
    named = {mark_id(kind, *each): each for each in given}
    if not named:
        return {}
    found = MARKS.of(database).find({"_id": {"$in": list(named)}}, {**_SAID, "at": 1})
    said = [(mark, wanted_of(mark)) for mark in found]
    return {
        named[mark["_id"]]: mark["at"]
        for mark, state in said
        if state.reactions and not state.is_shadowed
    }


def with_mine(user_id: str, kind: Kind, thing_ids: Iterable[str]) -> Document:
    """Return the stage that appends a person's marks on things to the rows of an aggregation.

    `state_of_row` reads the appended rows.
    """
    ids = [mark_id(kind, each, user_id) for each in thing_ids]
    pipeline = [{"$match": {"_id": {"$in": ids}}}, {"$project": _SAID}]
    return {"$unionWith": {"coll": MARKS.name, "pipeline": pipeline}}


def state_of_row(row: Any) -> ThingState | None:
    """Return the state in a row of `with_mine`; None for a row of another collection."""
    if "@" not in row["_id"]:
        return None
    return ThingState(thing_of(row["_id"])[1], wanted_of(row))


class ReactionOn(NamedTuple):
    """A thing and the key of one reaction to it."""

    kind: Kind
    thing_id: str
    key: str


def list_reactors(
    database: Database[Document], reaction: ReactionOn, reader: str, after: str, limit: int
) -> list[str]:
    """Return up to `limit` ids of people with a reaction to a thing, sorted, after the id `after`.

    Of the shadowed reactions, it includes the reader's own alone.
    """
    on = marks_on(reaction.kind, reaction.thing_id, after)
    seen = {"$or": [{"shadowed": {"$ne": True}}, {"user_id": reader}]}
    where = {"reactions": reaction.key, "reactions.0": {"$exists": True}, **on, **seen}
    found = MARKS.of(database).find(where, {"user_id": 1}).sort("_id", 1).limit(limit)
    return [mark["user_id"] for mark in found]


def list_flags(
    database: Database[Document], thing: tuple[Kind, str], after: str, limit: int
) -> list[Mark]:
    """Return up to `limit` flagged marks on a thing, by person's id, after the id `after`.

    A mark has `_id`, `user_id` and `flag` alone; decided flags come too.
    """
    where = {**marks_on(*thing, after), **FLAGGED}
    found = MARKS.of(database).find(where, {"user_id": 1, "flag": 1}).sort("_id", 1)
    return list(found.hint(BY_FLAG).limit(limit))

"""What each process of the gardeners' swarm does: change one of three trees, and note what it did.

A change is noted in its own transaction, with the version of the tree that it made: played again in
that order, the notes give the tree, whoever was killed when.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import patch

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import PyMongoError

from chalicelib.bounds import BOUNDS
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.shop.categories import changes, copies, fence
from chalicelib.shop.categories.fence import Fenced
from chalicelib.shop.categories.rows import CATEGORIES, TREES
from chalicelib.shop.categories.stores import STORES, Rows
from tests.shop.support.buyers import NoQueues
from tests.shop.support.tree_model import Model, take_in_model
from tests.shop.support.trees import NAMES, Grove, take

NOTES = "test.gardeners_note"
CATEGORIES_OF_A_TREE = "abcdefgh"
# What a change of a tree that is broken already may end with.
_BROKEN = (LookupError, ValueError, PyMongoError)

NewMovement = Callable[[Fenced], Any]
Changing = Callable[[Database[Document], str, NewMovement], Any]


def site_of(store: str) -> str:
    """Return the shop whose tree is in a store at first."""
    return f"grove-{store}"


def garden(database: Database[Document], rng: random.Random) -> None:
    """Change a tree, one change after the other."""
    _change(database, rng, fence.change_fenced)


def garden_without_fence(database: Database[Document], rng: random.Random) -> None:
    """Change a tree in a transaction that does not raise its version."""
    with suppress(*_BROKEN):
        _change(database, rng, _unfenced)


def garden_without_transaction(database: Database[Document], rng: random.Random) -> None:
    """Change a tree, and raise its version, in writes of their own."""
    with suppress(*_BROKEN):
        _change(database, rng, _apart)


def _change(database: Database[Document], rng: random.Random, change_fenced: Changing) -> None:
    runtime = Runtime(database, NoQueues(), utc_now, rng, Settings(), BOUNDS)
    store = rng.choice(NAMES)
    step = _step(rng)

    def noted(of: Database[Document], site: str, change: NewMovement) -> Any:
        def work(fenced: Fenced) -> Any:
            result = change(fenced)
            note = {"site": site, "version": fenced.tree["version"], "step": step}
            of[NOTES].insert_one(note, session=fenced.session)
            return result

        return change_fenced(of, site, work)

    grove = Grove.standing(runtime, store, site_of(store))
    with (
        patch.object(changes, "change_fenced", noted),
        patch.object(copies, "change_fenced", noted),
    ):
        try:
            take(grove, step)
        except Problem:
            return


def _step(rng: random.Random) -> tuple[Any, ...]:
    name, other = rng.sample(CATEGORIES_OF_A_TREE, 2)
    parent = rng.choice([None, other, other])
    kind = rng.choice(("add", "add", "move", "move", "move", "remove", "store"))
    match kind:
        case "add":
            return (kind, name, parent)
        case "move":
            return (kind, name, parent, rng.choice([None, 0, 1]))
        case "remove":
            return (kind, name, rng.random() < 1 / 2)
    return (kind, rng.choice(NAMES))


def replayed(database: Database[Document], site: str) -> list[str]:
    """Return the tree that the noted changes give in the order of their versions."""
    model = Model()
    for note in database[NOTES].find({"site": site}).sort("version", ASCENDING):
        take_in_model(model, tuple(note["step"]))
    return model.lines()


def _fenced(database: Database[Document], site: str, session: ClientSession, tree: Any) -> Fenced:
    rows = Rows(CATEGORIES.of(database), site, session)
    return Fenced(tree, STORES[tree["store"]], rows, TREES.of(database))


def _unfenced(database: Database[Document], site: str, change: NewMovement) -> Any:
    def work(session: ClientSession) -> Any:
        tree = TREES.of(database).find_one({"_id": site}, session=session)
        return change(_fenced(database, site, session, tree))

    return in_transaction(database, work)


def _apart(database: Database[Document], site: str, change: NewMovement) -> Any:
    with database.client.start_session() as session:
        raised = {"$inc": {"version": 1}}
        tree = TREES.of(database).find_one_and_update({"_id": site}, raised, session=session)
        return change(_fenced(database, site, session, tree))

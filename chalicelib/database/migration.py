"""Bringing the database to what the code declares: collections, validators, indexes, shard keys.

Two versions run side by side while one is deployed, so a migration has two halves (M. Fowler,
"Parallel Change"): *expanding* allows and builds what this version needs and takes nothing from
the one before; *contracting*, once the other no longer runs, takes away what this one does not
declare. Both may run again at any time, twice at once, and while there is traffic.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import bson
import pymongo
from pymongo import IndexModel
from pymongo.database import Database
from pymongo.errors import OperationFailure

from chalicelib.database import Collection, Document, sharding
from chalicelib.database.validators import AtMost, Schema, schema_of

# By its name an index is known as Plaza's: no other is ever dropped.
INDEX_PREFIX = "plaza_"
# Below a Lambda function's longest time, which is 15 minutes.
BUILD_TIMEOUT_SECONDS = 840
# The server's largest: 68 years. A TTL cannot be taken from an index without dropping it.
NEVER_SECONDS = 2**31 - 1
_NAMESPACE_EXISTS = 48
_INDEX_NOT_FOUND = 27
# What makes two indexes on the same keys two indexes to the server.
_TELLING = ("unique", "sparse", "partialFilterExpression")
# `moderate`: a document that an older version left as it was can still be changed.
_STRICTNESS = {"validationLevel": "moderate", "validationAction": "error"}
_TRIES = 10
# This one, and the one before.
_VERSIONS = 2


class Validator(TypedDict):
    """The schemas that a collection accepts, the newest first."""

    _id: str
    accepted: Annotated[list[Document], AtMost(_VERSIONS)]


VALIDATORS = Collection("plaza.validator", Validator)


@dataclass(frozen=True)
class MigrationReport:
    """What a migration did, and what it left for the contracting one, a line each."""

    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def migrate(
    database: Database[Document], collections: Iterable[Collection[Any]], *, contract: bool = False
) -> MigrationReport:
    """Make the database hold what the collections declare; say what was done.

    Without `contract`, what only another version declares stays. Raises ShardedOtherwise where
    a collection is sharded by another key than its own.
    """
    report = MigrationReport()
    is_sharded = sharding.is_sharded(database)
    with pymongo.timeout(BUILD_TIMEOUT_SECONDS):
        existing = set(database.list_collection_names())
        for collection in (VALIDATORS, *collections):
            if collection.name not in existing and _create(database, collection):
                report.done.append(f"{collection.name}: created")
            _validate(database, collection, report, contract=contract)
            supporting = sharding.supporting_index(collection) if is_sharded else None
            declared = [*collection.indexes, *([supporting] if supporting else [])]
            _index(database, collection.name, declared, report, contract=contract)
            if is_sharded and sharding.shard(database, collection):
                report.done.append(f"{collection.name}: sharded by {dict(collection.shard_key)}")
    return report


def _create(database: Database[Document], collection: Collection[Any]) -> bool:
    """Create a collection; False where another process was quicker.

    One without an index too, since a transaction would otherwise have to create it, and two
    at once would then conflict.
    """
    try:
        database.create_collection(collection.name, check_exists=False)
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise
        return False
    return True


def _validate(
    database: Database[Document],
    collection: Collection[Any],
    report: MigrationReport,
    *,
    contract: bool,
) -> None:
    """Have the server accept this version's documents, and those of the version before.

    Another migration may set the validator at the same time, so what both have agreed on is
    looked at again after it was set.
    """
    accepted = _agree(database, collection, contract=contract)
    for _ in range(_TRIES):
        wanted = {"validator": _any_of(accepted), **_STRICTNESS}
        (found,) = database.list_collections(filter={"name": collection.name})
        if found["options"].items() >= wanted.items():
            break
        database.command({"collMod": collection.name, **wanted})
        report.done.append(f"{collection.name}: validator set")
        accepted = _agreed(database, collection.name)
    if len(accepted) > 1:
        report.left.append(f"{collection.name}: an older validator is accepted as well")


def _agree(
    database: Database[Document], collection: Collection[Any], *, contract: bool
) -> list[Schema]:
    """Write this version's schema down before those that are accepted, and return them all.

    The server has no way to change a validator only if it is as it was read; for a document
    it has.
    """
    own = {"$literal": schema_of(collection.shape)}
    others = {
        "$filter": {"input": {"$ifNull": ["$accepted", []]}, "cond": {"$ne": ["$$this", own]}}
    }
    accepted = [own] if contract else {"$slice": [{"$concatArrays": [[own], others]}, _VERSIONS]}
    VALIDATORS.of(database).update_one(
        {"_id": collection.name}, [{"$set": {"accepted": accepted}}], upsert=True
    )
    return _agreed(database, collection.name)


def _agreed(database: Database[Document], name: str) -> list[Schema]:
    found = VALIDATORS.of(database).find_one({"_id": name})
    assert found is not None  # noqa: S101 - it is written before it is read, and never deleted
    accepted: list[Schema] = found["accepted"]
    return accepted


def _any_of(schemas: list[Schema]) -> Document:
    validators = [{"$jsonSchema": schema} for schema in schemas]
    return validators[0] if len(validators) == 1 else {"$or": validators}


def _index(
    database: Database[Document],
    name: str,
    declared: Iterable[IndexModel],
    report: MigrationReport,
    *,
    contract: bool,
) -> None:
    """Build what is missing, then change what can be changed, then drop what is not declared."""
    rows = database[name]
    standing = {_identity(each): each for each in rows.list_indexes()}
    wanted = {_identity(each.document): each.document for each in declared}
    for identity, index in wanted.items():
        if identity not in standing:
            built = _named(index)
            rows.create_indexes([built])
            report.done.append(f"{name}: index {built.document['name']} built")
        elif _ttl(standing[identity]) != _ttl(index):
            change = {"name": standing[identity]["name"], "expireAfterSeconds": _ttl(index)}
            database.command("collMod", name, index=change)
            report.done.append(f"{name}: index {change['name']} expires after {_ttl(index)} s")
    surplus = [standing[identity]["name"] for identity in standing.keys() - wanted.keys()]
    for index_name in sorted(surplus):
        if not index_name.startswith(INDEX_PREFIX):
            continue
        if contract:
            _drop(database, name, index_name)
            report.done.append(f"{name}: index {index_name} dropped")
        else:
            report.left.append(f"{name}: index {index_name} is not declared")


def _identity(index: Mapping[str, Any]) -> tuple[Any, ...]:
    options = tuple(_encoded(index.get(option) or None) for option in _TELLING)
    return (*index["key"].items(), *options)


def _encoded(value: Any) -> bytes:
    # The server gives documents back in a class of their own, but the bytes are the same.
    return bson.encode({"": value})


def _ttl(index: Mapping[str, Any]) -> int:
    return int(index.get("expireAfterSeconds", NEVER_SECONDS))


def _named(index: Mapping[str, Any]) -> IndexModel:
    """Return the index under a name that says whose it is, which keys and which options it has."""
    keys = [f"{key}_{kind}" for key, kind in index["key"].items()]
    options = [option for option in _TELLING if index.get(option)]
    filtered = [_digest(index[option]) for option in options if index[option] is not True]
    name = INDEX_PREFIX + "_".join([*keys, *options, *filtered])
    rest = {each: value for each, value in index.items() if each not in ("key", "name")}
    return IndexModel(list(index["key"].items()), name=name, **rest)


def _digest(value: Any) -> str:
    return hashlib.sha256(_encoded(value)).hexdigest()[:8]


def _drop(database: Database[Document], name: str, index: str) -> None:
    """Drop an index unless another process was quicker."""
    try:
        database[name].drop_index(index)
    except OperationFailure as error:
        if error.code != _INDEX_NOT_FOUND:
            raise

"""Migration of the database to the code's declarations: validators, indexes, shard keys.

Two versions run side by side during a deployment, so a migration has two halves (M. Fowler,
"Parallel Change"). *Expanding* allows and builds the needs of this version, and removes nothing
that the old version needs. *Contracting*, once the old version no longer runs, removes everything
that this version does not declare. Both may run again at any time, twice at once, and under
traffic.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import bson
import pymongo
from pymongo import IndexModel, ReturnDocument
from pymongo.database import Database
from pymongo.errors import OperationFailure

from chalicelib.database import Collection, Document, Family
from chalicelib.database.sharding import has_shards, shard, supporting_index
from chalicelib.database.validators import AtMost, Schema, schema_of

# Marks an index as Plaza's; a migration drops no other index.
INDEX_PREFIX = "plaza_"
# Below a Lambda function's longest time of 15 minutes.
BUILD_TIMEOUT_SECONDS = 840
# The longest TTL, 68 years, stands for no TTL: only dropping an index would remove its TTL.
NEVER_SECONDS = 2**31 - 1
_NAMESPACE_EXISTS = 48
_INDEX_NOT_FOUND = 27
_INDEX_IS_BUILT = 12_587
# Options that distinguish two indexes on the same keys for the server.
_TELLING = ("unique", "sparse", "partialFilterExpression")
# `moderate`: an invalid document of an older version remains changeable.
_STRICTNESS = {"validationLevel": "moderate", "validationAction": "error"}
_TRIES = 10
# The pause doubles with each try; all pauses together take 25 s.
_FIRST_PAUSE_SECONDS = 0.05
_CAPPED_BLOCK = 256
# This version, and the version before.
_VERSIONS = 2


class Validator(TypedDict):
    """The schemas that a collection accepts, the newest first."""

    _id: str
    accepted: Annotated[list[Document], AtMost(_VERSIONS)]


VALIDATORS = Collection("plaza.validator", Validator)


@dataclass(frozen=True)
class MigrationReport:
    """Steps that a migration did, and steps that it left to the contracting call: a line each."""

    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def migrate(
    database: Database[Document],
    collections: Iterable[Collection[Any]],
    families: Iterable[Family[Any]] = (),
    *,
    contract: bool = False,
) -> MigrationReport:
    """Make the database match the declarations of collections; return a report.

    Of a family, it migrates the existing collections. Without `contract`, indexes and schemas of
    other versions stay. Raises ShardedOtherwise if a collection has another shard key than
    declared.
    """
    report = MigrationReport()
    is_sharded = has_shards(database)
    with pymongo.timeout(BUILD_TIMEOUT_SECONDS):
        existing = set(database.list_collection_names())
        dated = [each for family in families for each in family.collections(database)]
        for collection in (VALIDATORS, *collections, *dated):
            is_new = collection.name not in existing and _create(
                database, collection, contract=contract
            )
            if is_new:
                report.done.append(f"{collection.name}: created")
                _complete(database, collection, report, is_sharded=is_sharded)
            else:
                _bring(database, collection, report, is_sharded=is_sharded, contract=contract)
    return report


def ensure(database: Database[Document], collection: Collection[Any]) -> None:
    """Make sure that a collection exists as declared, such as the next day's of a family."""
    is_new = _create(database, collection, contract=False)
    is_sharded, report = has_shards(database), MigrationReport()
    if is_new:
        _complete(database, collection, report, is_sharded=is_sharded)
    else:
        _bring(database, collection, report, is_sharded=is_sharded, contract=False)


def _complete(
    database: Database[Document],
    collection: Collection[Any],
    report: MigrationReport,
    *,
    is_sharded: bool,
) -> None:
    """Build the indexes of a new collection, by one command, and shard it."""
    name = collection.name
    built = [_name_index(each.document) for each in _indexes_of(collection, is_sharded=is_sharded)]
    if built:
        database[name].create_indexes(built)
        report.done.extend(f"{name}: index {each.document['name']} built" for each in built)
    _shard(database, collection, report, is_sharded=is_sharded)


def _bring(
    database: Database[Document],
    collection: Collection[Any],
    report: MigrationReport,
    *,
    is_sharded: bool,
    contract: bool,
) -> None:
    """Make an existing collection match its declared size, validator, indexes and shard key."""
    if "capped" in collection.options:
        _resize(database, collection, report)
    if collection.is_validated:
        _validate(database, collection, report, contract=contract)
    declared = _indexes_of(collection, is_sharded=is_sharded)
    _index(database, collection.name, declared, report, contract=contract)
    _shard(database, collection, report, is_sharded=is_sharded)


def _indexes_of(collection: Collection[Any], *, is_sharded: bool) -> list[IndexModel]:
    """Return a collection's declared indexes, and the index that its shard key needs, if any."""
    has_key = is_sharded and bool(collection.shard_key)
    supporting = supporting_index(collection) if has_key else None
    return [*collection.indexes, *([supporting] if supporting else [])]


def _shard(
    database: Database[Document],
    collection: Collection[Any],
    report: MigrationReport,
    *,
    is_sharded: bool,
) -> None:
    if is_sharded and collection.shard_key and shard(database, collection):
        report.done.append(f"{collection.name}: sharded by {dict(collection.shard_key)}")


def _create(database: Database[Document], collection: Collection[Any], *, contract: bool) -> bool:
    """Create a collection with its validator; return False if the collection exists already.

    A collection that has no index needs this, too: otherwise a transaction would create it, and two
    such transactions at once would conflict. If another process records its schema after this one,
    that process finds the collection and sets the validator.
    """
    options = dict(collection.options)
    if collection.is_validated:
        accepted = _agree(database, collection, contract=contract)
        options |= {"validator": _any_of(accepted), **_STRICTNESS}
    try:
        database.create_collection(collection.name, check_exists=False, **options)
    except OperationFailure as error:
        if error.code != _NAMESPACE_EXISTS:
            raise
        return False
    return True


def _modify(database: Database[Document], name: str, **options: Any) -> None:
    """Change options of a collection; retry for up to 25 s while the server builds an index.

    The server refuses a change during a build. Another worker may have created the same day's
    collection, and builds its indexes while a third worker inserts rows.
    """
    for number in range(_TRIES):
        try:
            database.command("collMod", name, **options)
        except OperationFailure as error:
            if error.code != _INDEX_IS_BUILT or number == _TRIES - 1:
                raise
            time.sleep(_FIRST_PAUSE_SECONDS * 2**number)
        else:
            return


def _resize(
    database: Database[Document], collection: Collection[Any], report: MigrationReport
) -> None:
    """Give a capped collection its declared size; a smaller size drops the oldest documents."""
    (found,) = database.list_collections(filter={"name": collection.name})
    size = collection.options["size"]
    # The server rounds sizes up to whole blocks.
    if not 0 <= found["options"]["size"] - size < _CAPPED_BLOCK:
        _modify(database, collection.name, cappedSize=size)
        report.done.append(f"{collection.name}: capped at {size} bytes")


def _validate(
    database: Database[Document],
    collection: Collection[Any],
    report: MigrationReport,
    *,
    contract: bool,
) -> None:
    """Make the server accept documents of this version and, unless `contract`, the version before.

    Another migration may set the validator at the same time, so this call reads the agreed schemas
    again after each change.
    """
    accepted = _agree(database, collection, contract=contract)
    for _ in range(_TRIES):
        wanted = {"validator": _any_of(accepted), **_STRICTNESS}
        (found,) = database.list_collections(filter={"name": collection.name})
        if found["options"].items() >= wanted.items():
            break
        _modify(database, collection.name, **wanted)
        report.done.append(f"{collection.name}: validator set")
        accepted = _read_agreed(database, collection)
    if len(accepted) > 1:
        report.left.append(f"{collection.name}: an older validator is accepted as well")


def _agree(
    database: Database[Document], collection: Collection[Any], *, contract: bool
) -> list[Schema]:
    """Record this version's schema as the first accepted schema; return the accepted schemas.

    With `contract`, no older schema stays. A document records the schemas: unlike a validator, the
    server can update a document on the condition that it is unchanged.
    """
    own = {"$literal": schema_of(collection.shape)}
    others = {
        "$filter": {"input": {"$ifNull": ["$accepted", []]}, "cond": {"$ne": ["$$this", own]}}
    }
    accepted = [own] if contract else {"$slice": [{"$concatArrays": [[own], others]}, _VERSIONS]}
    agreed: Any = VALIDATORS.of(database).find_one_and_update(
        {"_id": _schema_id(collection)},
        [{"$set": {"accepted": accepted}}],
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    return list(agreed["accepted"])


def _schema_id(collection: Collection[Any]) -> str:
    return collection.family or collection.name


def _read_agreed(database: Database[Document], collection: Collection[Any]) -> list[Schema]:
    found = VALIDATORS.of(database).find_one({"_id": _schema_id(collection)})
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
    """Build indexes and set TTLs; with `contract`, drop undeclared indexes."""
    rows = database[name]
    standing = {_identity(each): each for each in rows.list_indexes()}
    wanted = {_identity(each.document): each.document for each in declared}
    for identity, index in wanted.items():
        if identity not in standing:
            built = _name_index(index)
            rows.create_indexes([built])
            report.done.append(f"{name}: index {built.document['name']} built")
        elif _ttl(standing[identity]) != _ttl(index):
            change = {"name": standing[identity]["name"], "expireAfterSeconds": _ttl(index)}
            _modify(database, name, index=change)
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
    options = tuple(_encode(index.get(option) or None) for option in _TELLING)
    return (*_keys(index), *options)


def _keys(index: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return an index's keys as declared: the server lists texts as `_fts`, with weights."""
    keys: list[tuple[str, Any]] = []
    for key, kind in index["key"].items():
        if key == "_fts":
            keys += [(name, kind) for name in index["weights"]]
        elif key != "_ftsx":
            keys.append((key, kind))
    return keys


def _encode(value: Any) -> bytes:
    # The driver returns documents in its own class; their bytes are comparable.
    return bson.encode({"": value})


def _ttl(index: Mapping[str, Any]) -> int:
    return int(index.get("expireAfterSeconds", NEVER_SECONDS))


def _name_index(index: Mapping[str, Any]) -> IndexModel:
    """Return the index, named by Plaza's prefix, its keys and its options."""
    keys = [f"{key}_{kind}" for key, kind in index["key"].items()]
    options = [option for option in _TELLING if index.get(option)]
    filtered = [_digest(index[option]) for option in options if index[option] is not True]
    name = INDEX_PREFIX + "_".join([*keys, *options, *filtered])
    rest = {each: value for each, value in index.items() if each not in ("key", "name")}
    return IndexModel(list(index["key"].items()), name=name, **rest)


def _digest(value: Any) -> str:
    return hashlib.sha256(_encode(value)).hexdigest()[:8]


def _drop(database: Database[Document], name: str, index: str) -> None:
    """Drop an index unless another process was quicker."""
    try:
        database[name].drop_index(index)
    except OperationFailure as error:
        if error.code != _INDEX_NOT_FOUND:
            raise

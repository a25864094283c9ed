"""The container's one MongoDB connection, and the indexes that its collections need."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from bson.codec_options import CodecOptions
from pymongo import IndexModel, MongoClient, WriteConcern
from pymongo.database import Database
from pymongo.read_concern import ReadConcern

from chalicelib.settings import Settings

Document = dict[str, Any]

# Below the functions' own time-out (30 s), so that a caller hears of an outage as an answer.
SERVER_SELECTION_TIMEOUT_MS = 5_000
CONNECT_TIMEOUT_MS = 5_000
SOCKET_TIMEOUT_MS = 20_000


@dataclass(frozen=True)
class Collection:
    """A collection's name with the indexes and the shard key that its queries rely on."""

    name: str
    indexes: tuple[IndexModel, ...] = ()
    shard_key: Mapping[str, int | str] = field(default_factory=lambda: {"_id": 1})


def connect(settings: Settings) -> Database[Document]:
    """Return the database of the settings; the connection itself is made at first use."""
    client: MongoClient[Document] = MongoClient(
        settings.mongodb_uri.get_secret_value(),
        connect=False,
        appname="plaza",
        serverSelectionTimeoutMS=SERVER_SELECTION_TIMEOUT_MS,
        connectTimeoutMS=CONNECT_TIMEOUT_MS,
        socketTimeoutMS=SOCKET_TIMEOUT_MS,
    )
    return open_database(client, settings.database)


def open_database(client: MongoClient[Document], name: str) -> Database[Document]:
    """Return a database whose dates are aware UTC and whose writes survive a failover."""
    return client.get_database(
        name,
        codec_options=CodecOptions(tz_aware=True, tzinfo=UTC),
        write_concern=WriteConcern("majority"),
        read_concern=ReadConcern("local"),
    )


def ensure_indexes(database: Database[Document], collections: Iterable[Collection]) -> None:
    """Create the collections and indexes that are missing; safe to run at any time.

    A collection is created even without an index of its own, since a transaction would
    otherwise have to create it, and two at once would then conflict.
    """
    existing = set(database.list_collection_names())
    for collection in collections:
        if collection.name not in existing:
            _create_collection(database, collection.name)
        if collection.indexes:
            database[collection.name].create_indexes(list(collection.indexes))


def _create_collection(database: Database[Document], name: str) -> None:
    """Create a collection unless another process was quicker."""
    from pymongo.errors import CollectionInvalid, OperationFailure

    namespace_exists = 48
    try:
        database.create_collection(name)
    except CollectionInvalid:
        return
    except OperationFailure as error:
        if error.code != namespace_exists:
            raise

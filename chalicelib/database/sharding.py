"""Shard keys of collections: sharding a collection, and the index that a key needs."""

from typing import Any

from pymongo import IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document


class ShardedOtherwise(Exception):
    """A collection has another shard key; only `reshardCollection`, by hand, changes that."""


def has_shards(database: Database[Document]) -> bool:
    """Return whether the server is the router of a sharded cluster."""
    return bool(database.client.admin.command("hello").get("msg") == "isdbgrid")


def supporting_index(collection: Collection[Any]) -> IndexModel | None:
    """Return the index that sharding needs beside the declared indexes, if any.

    The server requires an index that begins with the shard key and has every document.
    """
    key = list(collection.shard_key.items())
    if key == [("_id", 1)] or any(_begins_with(key, index) for index in collection.indexes):
        return None
    return IndexModel(key)


def _begins_with(key: list[tuple[str, int | str]], index: IndexModel) -> bool:
    document = index.document
    is_whole = not document.get("sparse") and "partialFilterExpression" not in document
    return is_whole and list(document["key"].items())[: len(key)] == key


def shard(database: Database[Document], collection: Collection[Any]) -> bool:
    """Shard a collection by its key; return False if it already is. Raises ShardedOtherwise."""
    client, namespace = database.client, f"{database.name}.{collection.name}"
    # A time series is a view: its buckets are sharded.
    buckets = f"{database.name}.system.buckets.{collection.name}"
    names = {"_id": {"$in": [namespace, buckets]}}
    known = client.get_database("config")["collections"].find_one(names, {"key": 1})
    if known is not None and known["_id"] == buckets:
        return False
    if known is None:
        key = dict(collection.shard_key)
        client.admin.command("shardCollection", namespace, key=key)
        return True
    if list(known["key"].items()) != list(collection.shard_key.items()):
        raise ShardedOtherwise(f"{namespace} is sharded by {known['key']}")
    return False

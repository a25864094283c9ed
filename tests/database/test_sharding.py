"""A migration of a sharded cluster: a config server and a shard, which are real."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pymongo import IndexModel, MongoClient
from pymongo.database import Database

from chalicelib.database import Collection, Document, open_database
from chalicelib.database.migration import VALIDATORS, migrate
from chalicelib.database.sharding import ShardedOtherwise, supporting_index
from chalicelib.wiring.schema import COLLECTIONS
from tests.support.sharded_cluster import running_cluster

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database[Document]]:
    folder = tmp_path_factory.mktemp("cluster")
    with running_cluster(folder, "plaza") as uri, MongoClient[Document](uri) as client:
        yield open_database(client, "plaza")
    shutil.rmtree(folder)


def sharded(database: Database[Document]) -> dict[str, Document]:
    found = database.client["config"]["collections"].find({"_id": {"$regex": "^plaza[.]"}})
    return {each["_id"].removeprefix("plaza."): each["key"] for each in found}


def test_every_collection_is_sharded_by_its_key(database: Database[Document]) -> None:
    report = migrate(database, COLLECTIONS)

    keys = {each.name: each.shard_key for each in (VALIDATORS, *COLLECTIONS)}
    assert keys.pop("hit.capped") == {}
    # What is sharded of a time series are its buckets, by their meta field.
    assert keys.pop("hit.series") == {"meta.site": 1}
    keys["system.buckets.hit.series"] = {"meta.site": 1}
    assert sharded(database) == keys
    assert "social.user: sharded by {'_id': 'hashed'}" in report.done


def test_what_is_sharded_stays_as_it_is(database: Database[Document]) -> None:
    migrate(database, COLLECTIONS)

    assert migrate(database, COLLECTIONS, contract=True).done == []


def test_a_collection_with_documents_is_sharded_too(database: Database[Document]) -> None:
    late = replace(VALIDATORS, name="late", shard_key={"_id": "hashed"})
    database["late"].insert_many({"_id": f"{number}", "accepted": []} for number in range(100))

    migrate(database, [late])

    assert sharded(database)["late"] == {"_id": "hashed"}
    assert database["late"].count_documents({}) == 100


def test_another_shard_key_is_not_put_in_the_place_of_one(database: Database[Document]) -> None:
    migrate(database, COLLECTIONS)
    users = next(each for each in COLLECTIONS if each.name == "social.user")

    with pytest.raises(ShardedOtherwise, match="_id"):
        migrate(database, [replace(users, shard_key={"name": 1})])

    assert sharded(database)["social.user"] == {"_id": "hashed"}


@pytest.mark.parametrize(
    ("options", "supports"),
    [({}, True), ({"sparse": True}, False), ({"partialFilterExpression": {"a": 1}}, False)],
)
def test_only_an_index_that_holds_every_document_supports_a_shard_key(
    options: dict[str, Any], *, supports: bool
) -> None:
    begins_with_it = IndexModel([("user_id", 1), ("a", 1)], **options)
    collection = Collection("things", dict, (begins_with_it,), {"user_id": 1})

    assert (supporting_index(collection) is None) is supports

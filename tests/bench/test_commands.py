from collections.abc import Iterator
from pathlib import Path

import pytest
from pymongo import MongoClient
from pymongo.collection import Collection

from bench.commands import observe
from chalicelib.database import Document
from local.mongod import running_mongod


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MongoClient[Document]]:
    """A server of its own, since a profiler sees what everybody does."""
    folder: Path = tmp_path_factory.mktemp("profiled")
    with running_mongod(folder) as uri, MongoClient[Document](uri) as client:
        yield client


@pytest.fixture
def posts(server: MongoClient[Document]) -> Collection[Document]:
    server.drop_database("plaza")
    return server["plaza"].create_collection("post")


def test_what_a_work_asks_is_seen_by_collection_and_shape_without_its_values(
    server: MongoClient[Document], posts: Collection[Document]
) -> None:
    def work() -> None:
        posts.insert_many([{"_id": 1, "by": "ann"}, {"_id": 2, "by": "bob"}])
        posts.update_one({"_id": 1}, {"$set": {"by": "eve"}})
        list(posts.find({"by": "secret"}, {"by": 1}).sort("_id", -1).limit(5))
        list(posts.aggregate([{"$match": {"by": "ann"}}, {"$sort": {"_id": 1}}]))
        posts.find_one_and_update({"_id": 2}, {"$set": {"by": "eve"}})
        posts.delete_many({"by": "eve"})

    asked = observe(server, work)

    assert asked.commands == {
        "insert 2 post": 1,
        "update post {_id} {$set}": 1,
        "find post {by} sort _id limit 5 fields 1": 1,
        "aggregate post $match $sort": 1,
        "findAndModify post {_id} {$set}": 1,
        "remove post {by}": 1,
    }
    assert asked.trips == len(asked.commands)


def test_what_was_asked_before_and_afterwards_is_not_seen(
    server: MongoClient[Document], posts: Collection[Document]
) -> None:
    def work() -> None:
        posts.find_one({"by": "ann"})

    work()
    first = observe(server, work)
    work()

    assert first == observe(server, work)
    assert first.commands == {"find post {by} limit 1": 1}

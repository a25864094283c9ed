"""The rules by which the suite finds what no router could target."""

from dataclasses import replace
from typing import Any

import pytest
from bson import ObjectId
from pymongo import MongoClient

from chalicelib.database import Collection, Document, open_database
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.messages import JOB
from chalicelib.wiring.schema import COLLECTIONS
from tests.support.shard_listener import ShardListener
from tests.support.targeting import bound, untargeted

PEOPLE = Collection("people", dict[str, Any], shard_key={"_id": "hashed"})
PAGES = Collection("pages", dict[str, Any], shard_key={"node": 1, "page": 1})
EDGES = Collection("edges", dict[str, Any], shard_key={"_id.owner": 1})
BY_NAME = {each.name: each for each in (PEOPLE, PAGES, EDGES)}


def faults(name: str, **command: Any) -> list[str]:
    return list(untargeted(BY_NAME, name, command))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"node": "a"}, "one"),
        ({"node": {"$eq": "a"}}, "one"),
        ({"node": ObjectId()}, "one"),
        ({"node": {"$in": ["a", "b"]}}, "some"),
        ({"node": {"$gt": "a"}}, None),
        ({"node": {"$ne": "a"}}, None),
        ({"node": {"$gt": "a", "$lt": "b"}}, None),
        ({"other": "a"}, None),
        ({}, None),
        ({"$and": [{"x": 1}, {"node": "a"}]}, "one"),
        ({"$or": [{"node": "a"}, {"node": "b"}]}, "some"),
        ({"$or": [{"node": "a"}, {"x": 1}]}, None),
        ({"$or": [{"x": 1}, {"x": 2}], "node": "a"}, "one"),
        ({"$nor": [{"node": "a"}]}, None),
    ],
)
def test_a_filter_binds_a_field(where: Document, expected: str | None) -> None:
    assert bound(where, "node") == expected


def test_a_whole_document_binds_its_fields_where_it_is_one() -> None:
    whole = {"owner": "ann", "member": "bob"}

    assert bound({"_id": whole}, "_id.owner") == "one"
    assert bound({"_id": {"$in": [whole]}}, "_id.owner") is None
    assert bound({"_id": {"member": "bob"}}, "_id.owner") is None


@pytest.mark.parametrize("where", [{"node": "a"}, {"node": {"$in": ["a"]}, "page": 3}])
def test_a_read_needs_the_beginning_of_the_key(where: Document) -> None:
    assert faults("find", find="pages", filter=where) == []
    assert faults("aggregate", aggregate="pages", pipeline=[{"$match": where}]) == []
    assert faults("count", count="pages", query=where) == []


@pytest.mark.parametrize("where", [{"page": 3}, {"node": {"$gt": ""}}, {}])
def test_a_read_without_it_asks_every_shard(where: Document) -> None:
    assert faults("find", find="pages", filter=where)
    assert faults("distinct", distinct="pages", query=where)
    assert faults("aggregate", aggregate="pages", pipeline=[{"$match": where}])


def test_a_match_behind_a_group_comes_too_late() -> None:
    stages = [{"$group": {"_id": "$node"}}, {"$match": {"node": "a"}}]

    assert faults("aggregate", aggregate="pages", pipeline=stages)


@pytest.mark.parametrize("where", [{"node": "a"}, {"node": "a", "page": {"$in": [1, 2]}}])
def test_a_write_of_one_document_needs_the_whole_key(where: Document) -> None:
    set_ = {"$set": {"x": 1}}

    assert faults("update", update="pages", updates=[{"q": where, "u": set_}])
    assert faults("delete", delete="pages", deletes=[{"q": where, "limit": 1}])
    assert faults("findAndModify", findAndModify="pages", query=where, update=set_)
    upsert = {"q": where, "u": set_, "multi": True, "upsert": True}
    assert faults("update", update="pages", updates=[upsert])


def test_a_write_of_many_documents_needs_its_beginning() -> None:
    where = {"node": "a"}
    set_ = {"$set": {"x": 1}}

    assert not faults("update", update="pages", updates=[{"q": where, "u": set_, "multi": True}])
    assert not faults("delete", delete="pages", deletes=[{"q": where, "limit": 0}])


@pytest.mark.parametrize(
    "change",
    [
        {"$set": {"page": 2}},
        {"$unset": {"node": ""}},
        {"$rename": {"page": "old"}},
        [{"$set": {"page": 2}}],
        [{"$unset": "page"}],
        [{"$replaceWith": {}}],
        {"node": "a", "x": 1},
    ],
)
def test_the_shard_key_is_not_changed(change: Any) -> None:
    where = {"node": "a", "page": 1}

    assert faults("update", update="pages", updates=[{"q": where, "u": change}])


@pytest.mark.parametrize(
    "change",
    [
        {"$set": {"pages": 2, "pager.x": 1}},
        {"$setOnInsert": {"page": 1}},
        [{"$set": {"x": 2}}],
        {"node": "a", "page": 1, "x": 1},
    ],
)
def test_other_fields_may_be_changed(change: Any) -> None:
    where = {"node": "a", "page": 1}

    assert faults("update", update="pages", updates=[{"q": where, "u": change}]) == []


def test_a_document_brings_its_shard_key_along() -> None:
    assert faults("insert", insert="pages", documents=[{"node": "a", "page": 1}]) == []
    assert faults("insert", insert="pages", documents=[{"node": "a"}])
    assert faults("insert", insert="edges", documents=[{"_id": {"owner": "a"}}]) == []
    assert faults("insert", insert="edges", documents=[{"_id": {"member": "a"}}])


@pytest.mark.parametrize(
    ("stage", "is_followed"),
    [
        ({"$merge": {"into": "pages"}}, True),
        ({"$merge": {"into": "pages", "on": ["node", "page"]}}, True),
        ({"$merge": {"into": "pages", "on": ["node"]}}, False),
        ({"$lookup": {"from": "people", "foreignField": "_id"}}, True),
        ({"$lookup": {"from": "people", "foreignField": "name"}}, False),
        ({"$lookup": {"from": "pages", "pipeline": [{"$match": {"node": "b"}}]}}, True),
        ({"$lookup": {"from": "pages", "pipeline": [{"$match": {"$expr": {}}}]}}, False),
        ({"$unionWith": {"coll": "pages", "pipeline": [{"$match": {"node": "b"}}]}}, True),
        ({"$unionWith": {"coll": "pages", "pipeline": []}}, False),
        ({"$out": "elsewhere"}, False),
    ],
)
def test_a_stage_names_the_shards_of_another_collection(
    stage: Document, *, is_followed: bool
) -> None:
    pipeline = [{"$match": {"node": "a"}}, stage]

    assert (faults("aggregate", aggregate="pages", pipeline=pipeline) == []) is is_followed


def test_distinct_is_refused_in_a_snapshot() -> None:
    read = {"distinct": "people", "query": {"_id": "a"}}

    assert faults("distinct", **read) == []
    assert faults("distinct", **read, autocommit=False)
    assert faults("distinct", **read, readConcern={"level": "snapshot"})


def test_what_plaza_asks_is_heard_and_what_a_test_asks_is_not(
    runtime: Runtime, mongodb_uri: str
) -> None:
    listener = ShardListener({each.name: each for each in COLLECTIONS}, {})
    with MongoClient[Document](mongodb_uri, event_listeners=[listener]) as client:
        database = open_database(client, runtime.database.name)
        list(database["social.errand"].find({}))
        assert listener.take() == []

        outbox.sweep(replace(runtime, database=database), JOB)

    assert listener.take() == ['"jobs.resending.sweep: find social.errand": nothing says which _id']
    assert listener.take() == []

"""What every collection of Plaza declares."""

import re
from pathlib import Path
from typing import Any

import pytest

from chalicelib.database import Collection
from chalicelib.database.sharding import supporting_index
from chalicelib.database.validators import schema_of
from chalicelib.wiring.schema import COLLECTIONS

every_collection = pytest.mark.parametrize("collection", COLLECTIONS, ids=lambda each: each.name)
# The server checks no time series, and shards no capped collection.
UNCHECKED, UNSHARDED = {"hit.series"}, {"hit.capped"}


@every_collection
def test_a_collection_has_the_shape_of_its_documents(collection: Collection[Any]) -> None:
    schema = schema_of(collection.shape)

    assert collection.is_validated is (collection.name not in UNCHECKED)
    assert "_id" in schema["required"] or not collection.is_validated
    assert schema["additionalProperties"] is False


@every_collection
def test_a_shard_key_is_of_fields_that_every_document_has(collection: Collection[Any]) -> None:
    assert bool(collection.shard_key) is (collection.name not in UNSHARDED)
    for path in collection.shard_key:
        schema = schema_of(collection.shape)
        for name in path.split("."):
            assert name in schema["required"]
            schema = schema["properties"][name]
        # One of a few words has no type beside them.
        assert "array" not in schema.get("bsonType", ())


@every_collection
def test_a_unique_index_begins_with_the_shard_key(collection: Collection[Any]) -> None:
    """Or two shards could each hold one of two that are to be one."""
    for index in collection.indexes:
        if index.document.get("unique"):
            keys = list(index.document["key"].items())
            assert keys[: len(collection.shard_key)] == list(collection.shard_key.items())


def test_the_page_on_operating_names_every_shard_key() -> None:
    page = (Path(__file__).parents[2] / "docs/operations/database.md").read_text()
    table = page.partition("| shard key |")[2].partition("| all others |")[0]
    told = {}
    for row in re.findall(r"^\| (`.*?) \| (.*?) \|", table, re.MULTILINE):
        # A family's days have the key of the whole.
        for name in re.findall(r"`([a-z._]*?)`", row[0]):
            told[name] = dict.fromkeys(
                re.findall(r"`(.*?)`", row[1]), "hashed" if row[1].endswith("hashed") else 1
            )

    assert told == {
        each.name: each.shard_key for each in COLLECTIONS if each.shard_key != {"_id": 1}
    }


def test_an_index_that_begins_with_the_shard_key_supports_it() -> None:
    named = {each.name: each for each in COLLECTIONS}

    assert supporting_index(named["ad.zone"]) is None
    assert supporting_index(named["comments.node"]) is None


def test_a_hashed_shard_key_needs_an_index_of_its_own() -> None:
    named = {each.name: each for each in COLLECTIONS}

    index = supporting_index(named["social.post"])

    assert index is not None
    assert index.document["key"] == {"_id": "hashed"}

"""A changed index is built before the old one goes, and nobody else's is touched."""

from dataclasses import replace
from typing import Any, NotRequired, TypedDict

import pytest
from pymongo import ASCENDING, IndexModel, MongoClient
from pymongo.database import Database

from chalicelib.database import Collection, Document, open_database
from chalicelib.database.migration import NEVER_SECONDS, migrate
from tests.database.migration.support.things import OLD, indexes
from tests.support.commands import Commands

DAY_SECONDS = 86_400


class Expiring(TypedDict):
    _id: int
    at: NotRequired[int]


def expiring(seconds: int | None) -> Collection[Any]:
    options = {} if seconds is None else {"expireAfterSeconds": seconds}
    return Collection("thing", Expiring, indexes=(IndexModel("at", **options),))


def test_a_changed_index_is_built_before_the_old_one_goes(mongodb_uri: str) -> None:
    commands = Commands()
    with MongoClient[Document](mongodb_uri, event_listeners=[commands]) as client:
        database = open_database(client, "plaza-migration")
        migrate(database, [OLD])
        commands.names.clear()

        unique = replace(OLD, indexes=(IndexModel([("name", ASCENDING)], unique=True),))
        migrate(database, [unique], contract=True)

        assert commands.names.index("createIndexes") < commands.names.index("dropIndexes")
        assert indexes(database) == {"plaza_name_1_unique"}
        client.drop_database("plaza-migration")


def test_an_index_of_the_version_before_stays_until_contracting(
    database: Database[Document],
) -> None:
    migrate(database, [OLD])
    without = replace(OLD, indexes=())

    report = migrate(database, [without])
    assert indexes(database) == {"plaza_name_1"}
    assert report.left == ["thing: index plaza_name_1 is not declared"]

    report = migrate(database, [without], contract=True)
    assert indexes(database) == set()
    assert report.done == ["thing: index plaza_name_1 dropped"]


def test_an_index_that_plaza_did_not_make_is_never_dropped(database: Database[Document]) -> None:
    migrate(database, [OLD])
    database["thing"].create_index("colour")

    migrate(database, [replace(OLD, indexes=())], contract=True)

    assert indexes(database) == {"colour_1"}


def test_an_index_that_was_built_by_hand_is_taken_as_it_is(database: Database[Document]) -> None:
    database["thing"].create_index("name", name="built-on-each-member-in-turn")

    migrate(database, [OLD], contract=True)

    assert indexes(database) == {"built-on-each-member-in-turn"}


def test_partial_indexes_on_the_same_keys_are_told_apart(database: Database[Document]) -> None:
    halves = tuple(
        IndexModel("name", partialFilterExpression={"colour": colour}) for colour in ("red", "blue")
    )

    migrate(database, [replace(OLD, indexes=halves)])

    assert len(indexes(database)) == len(halves)
    assert migrate(database, [replace(OLD, indexes=halves)], contract=True).done == []


@pytest.mark.parametrize(("before", "after"), [(60, DAY_SECONDS), (None, 60), (60, None)])
def test_a_ttl_is_changed_in_place(
    database: Database[Document], before: int | None, after: int | None
) -> None:
    migrate(database, [expiring(before)])

    report = migrate(database, [expiring(after)])

    (name,) = indexes(database)
    found = database["thing"].index_information()[name]
    assert found["expireAfterSeconds"] == (after or NEVER_SECONDS)
    assert report.done == [f"thing: index {name} expires after {after or NEVER_SECONDS} s"]
    assert migrate(database, [expiring(after)], contract=True).done == []

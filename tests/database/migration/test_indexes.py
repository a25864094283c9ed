"""A changed index is built before the old one goes, and nobody else's is touched."""

import threading
import time
from dataclasses import replace
from typing import Any, NotRequired, TypedDict

import pytest
from pymongo import ASCENDING, IndexModel, MongoClient, monitoring
from pymongo.database import Database
from pymongo.errors import WriteError

from chalicelib.database import Collection, Document, open_database
from chalicelib.database.migration import NEVER_SECONDS, ensure, migrate
from tests.database.migration.support.things import OLD, indexes
from tests.support.commands import Commands

DAY_SECONDS = 86_400
PATIENCE_SECONDS = 20


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


class BuildsMeanwhile(Commands):
    """Another process begins to build an index, just before the first change of options is sent."""

    def __init__(self, uri: str) -> None:
        super().__init__()
        self._client = MongoClient[Document](uri)
        self._things = self._client["plaza-migration"]["thing"]
        self.building = threading.Thread(target=self._things.create_index, args=("numbers",))

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        super().started(event)
        if self.names.count("collMod") == 1 and not self.building.ident:
            self.building.start()
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not self._is_building():
                assert time.monotonic() < deadline

    def _is_building(self) -> bool:
        states = self._things.aggregate([{"$indexStats": {}}])
        return any(each.get("building") for each in states)

    def end(self) -> None:
        self.building.join()
        self._client.close()


def test_a_change_waits_for_an_index_that_another_process_builds(
    database: Database[Document], mongodb_uri: str
) -> None:
    """A worker makes the day that another one makes, too, while a third one writes to it."""
    numbers = list(range(1_500))
    database["thing"].insert_many({"_id": n, "name": "a", "numbers": numbers} for n in range(300))
    meanwhile = BuildsMeanwhile(mongodb_uri)
    with MongoClient[Document](mongodb_uri, event_listeners=[meanwhile]) as client:
        ensure(open_database(client, "plaza-migration"), OLD)
    meanwhile.end()

    assert meanwhile.names.count("collMod") > 1
    assert indexes(database) == {"plaza_name_1", "numbers_1"}
    with pytest.raises(WriteError):
        database["thing"].insert_one({"_id": -1})

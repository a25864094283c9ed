"""A migration makes the database hold what the code declares, with the version before at work."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NotRequired, TypedDict

import pytest
from chalice.app import Chalice
from pymongo import ASCENDING, IndexModel, MongoClient, monitoring
from pymongo.database import Database
from pymongo.errors import WriteError

from chalicelib.database import Collection, Document, open_database
from chalicelib.migration import NEVER_SECONDS, migrate
from chalicelib.runtime import Runtime
from chalicelib.schema import COLLECTIONS

VALIDATION_FAILED = 121
DAY_SECONDS = 86_400


class Old(TypedDict):
    _id: int
    name: str


class New(Old):
    colour: str


class Newer(Old):
    size: int


BY_NAME = IndexModel([("name", ASCENDING)])
OLD = Collection("thing", Old, indexes=(BY_NAME,))
NEW = Collection("thing", New, indexes=(BY_NAME,))
NEWER = Collection("thing", Newer, indexes=(BY_NAME,))


class Commands(monitoring.CommandListener):
    """Notes the names of the commands that were sent."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.names.append(event.command_name)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Only the order matters."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Only the order matters."""


@pytest.fixture
def database(mongodb_uri: str) -> Iterator[Database[Document]]:
    with MongoClient[Document](mongodb_uri) as client:
        client.drop_database("plaza-migration")
        yield open_database(client, "plaza-migration")
        client.drop_database("plaza-migration")


def accepts(database: Database[Document], **fields: Any) -> bool:
    number = database["thing"].estimated_document_count()
    try:
        database["thing"].insert_one({"_id": number} | fields)
    except WriteError as error:
        return error.code != VALIDATION_FAILED
    return True


def indexes(database: Database[Document]) -> set[str]:
    return set(database["thing"].index_information()) - {"_id_"}


def test_an_empty_database_is_given_everything(database: Database[Document]) -> None:
    report = migrate(database, COLLECTIONS)

    names = {each.name for each in COLLECTIONS}
    assert set(database.list_collection_names()) == names | {"plaza.validator"}
    for collection in COLLECTIONS:
        standing = database[collection.name].index_information()
        assert len(standing) == len(collection.indexes) + 1
        assert f"{collection.name}: created" in report.done
    assert report.left == []


def test_what_is_there_is_left_alone(database: Database[Document]) -> None:
    migrate(database, COLLECTIONS)

    again = migrate(database, COLLECTIONS)
    contracted = migrate(database, COLLECTIONS, contract=True)

    assert again.done == contracted.done == []


def test_a_document_of_another_shape_is_refused(database: Database[Document]) -> None:
    migrate(database, [OLD])

    assert accepts(database, name="a")
    assert not accepts(database, name=1)
    assert not accepts(database)
    assert not accepts(database, name="a", **{"$stray": 1})
    assert not accepts(database, name="a", stray=1)


def test_a_new_field_does_not_stop_the_version_before(database: Database[Document]) -> None:
    migrate(database, [OLD])

    report = migrate(database, [NEW])

    assert report.left == ["thing: an older validator is accepted as well"]
    assert accepts(database, name="a")
    assert accepts(database, name="a", colour="red")
    assert not accepts(database, name="a", size=1)


def test_contracting_ends_the_version_before(database: Database[Document]) -> None:
    migrate(database, [OLD])
    migrate(database, [NEW])

    migrate(database, [NEW], contract=True)

    assert accepts(database, name="a", colour="red")
    assert not accepts(database, name="a")


def test_after_a_roll_back_both_versions_may_write(database: Database[Document]) -> None:
    migrate(database, [OLD])
    migrate(database, [NEW])

    migrate(database, [OLD])

    assert accepts(database, name="a")
    assert accepts(database, name="a", colour="red")


def test_only_the_version_before_is_remembered(database: Database[Document]) -> None:
    for version in (OLD, NEW, NEWER):
        migrate(database, [version])

    assert accepts(database, name="a", size=1)
    assert accepts(database, name="a", colour="red")
    assert not accepts(database, name="a")


def test_a_document_that_an_older_version_left_can_be_changed(
    database: Database[Document],
) -> None:
    migrate(database, [OLD])
    database["thing"].insert_one({"_id": 1, "name": "a"})
    migrate(database, [NEW])
    migrate(database, [NEW], contract=True)

    changed = database["thing"].update_one({"_id": 1}, {"$set": {"name": "b"}})

    assert changed.modified_count == 1


def test_two_versions_that_migrate_at_once_are_both_accepted(
    database: Database[Document],
) -> None:
    for _ in range(10):
        database.drop_collection("thing")
        migrate(database, [OLD])
        at_once(*(lambda version=version: migrate(database, [version]) for version in (NEW, NEWER)))

        assert accepts(database, name="a", colour="red")
        assert accepts(database, name="a", size=1)


def test_four_migrations_at_once_do_no_more_than_one(database: Database[Document]) -> None:
    at_once(*[lambda: migrate(database, COLLECTIONS, contract=True)] * 4)

    assert migrate(database, COLLECTIONS).done == []


def at_once(*works: Any) -> None:
    failures: list[Exception] = []
    start = threading.Barrier(len(works))

    def run(work: Any) -> None:
        start.wait()
        try:
            work()
        except Exception as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_writers_do_not_notice_a_migration(database: Database[Document]) -> None:
    migrate(database, [OLD])
    stop, written = threading.Event(), list[int]()

    def write() -> None:
        while not stop.is_set():
            database["thing"].insert_one({"_id": len(written), "name": f"{len(written)}"})
            written.append(1)

    def change() -> None:
        try:
            for version in (NEW, OLD, NEW):
                migrate(database, [replace(version, indexes=(IndexModel("name", unique=True),))])
                migrate(database, [version])
        finally:
            stop.set()

    at_once(write, change)

    assert database["thing"].count_documents({}) == len(written) > 0


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


def test_the_command_answers_with_what_it_did(app: Chalice, runtime: Runtime) -> None:
    init_db = app.handler_map["init_db"]
    # Tests share this database, and one may have left something to mend.
    init_db({"contract": True}, None)
    runtime.database.drop_collection("ad.site")

    assert init_db({"contract": True}, None) == {
        "done": ["ad.site: created", "ad.site: validator set"],
        "left": [],
    }
    assert init_db({}, None) == {"done": [], "left": []}


class Expiring(TypedDict):
    _id: int
    at: NotRequired[int]


def expiring(seconds: int | None) -> Collection:
    options = {} if seconds is None else {"expireAfterSeconds": seconds}
    return Collection("thing", Expiring, indexes=(IndexModel("at", **options),))

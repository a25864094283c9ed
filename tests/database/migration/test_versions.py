"""A migration makes the database hold what the code declares, with the version before at work."""

import threading
from dataclasses import replace
from typing import Any

from chalice.app import Chalice
from pymongo import IndexModel, MongoClient
from pymongo.database import Database
from pymongo.errors import WriteError

from chalicelib.database import Document, open_database
from chalicelib.database.migration import migrate
from chalicelib.runtime import Runtime
from chalicelib.wiring.schema import COLLECTIONS
from tests.database.migration.support.things import NEW, NEWER, OLD
from tests.support.commands import Commands

VALIDATION_FAILED = 121


def accepts(database: Database[Document], **fields: Any) -> bool:
    number = database["thing"].estimated_document_count()
    try:
        database["thing"].insert_one({"_id": number} | fields)
    except WriteError as error:
        return error.code != VALIDATION_FAILED
    return True


def test_an_empty_database_is_given_everything(database: Database[Document]) -> None:
    report = migrate(database, COLLECTIONS)

    names = {each.name for each in COLLECTIONS}
    # What the server makes beside a time series.
    buckets = {"system.buckets.hit.series", "system.views"}
    assert set(database.list_collection_names()) - buckets == names | {"plaza.validator"}
    for collection in COLLECTIONS:
        standing = database[collection.name].index_information()
        has_id = "timeseries" not in collection.options
        assert len(standing) == len(collection.indexes) + has_id
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


def test_a_new_collection_has_its_validator_with_the_first_command(
    database: Database[Document], mongodb_uri: str
) -> None:
    """A document that comes between two commands is checked as well."""
    migrate(database, [])
    indexed = replace(OLD, indexes=(IndexModel("name"), IndexModel("size")))
    commands = Commands()
    with MongoClient[Document](mongodb_uri, event_listeners=[commands]) as client:
        migrate(open_database(client, database.name), [indexed])

    making = {"create", "collMod", "createIndexes"}
    assert [each for each in commands.names if each in making] == ["create", "createIndexes"]
    assert not accepts(database, name=1)


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


def test_the_command_answers_with_what_it_did(app: Chalice, runtime: Runtime) -> None:
    command = app.handler_map["command"]
    contracting = {"command": "init_db", "contract": True}
    # Tests share this database, and one may have left something to repair.
    command(contracting, None)
    runtime.database.drop_collection("ad.site")

    assert command(contracting, None) == {"done": ["ad.site: created"], "left": []}
    assert command({"command": "init_db"}, None) == {"done": [], "left": []}

"""A write since the last test is found, however and by whichever client it was made."""

from collections.abc import Callable, Iterator

import pytest
from bson import Timestamp
from pymongo import MongoClient
from pymongo.database import Database

from chalicelib.analytics.logs.timeseries import SERIES
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.wiring.schema import FAMILIES
from tests.support.isolation import empty_collections
from tests.support.written import WriteLog

NAME = "social.post"


@pytest.fixture
def database(runtime: Runtime) -> Database[Document]:
    return runtime.database


@pytest.fixture
def log(database: Database[Document]) -> WriteLog:
    """A log that was read to its end."""
    log = WriteLog()
    assert log.read(database) is None
    return log


@pytest.fixture
def other(mongodb_uri: str, database: Database[Document]) -> Iterator[Database[Document]]:
    """The same database, by a client of its own."""
    with MongoClient[Document](mongodb_uri) as client:
        yield client[database.name]


def insert(database: Database[Document], name: str = NAME) -> None:
    left = {"_id": "left"}
    database[name].insert_one(left, bypass_document_validation=True)


def insert_in_transaction(database: Database[Document]) -> None:
    with database.client.start_session() as session, session.start_transaction():
        for name in (NAME, "shop.order"):
            database[name].insert_one(
                {"_id": "left"}, session=session, bypass_document_validation=True
            )


def upsert(database: Database[Document]) -> None:
    database[NAME].update_one(
        {"_id": "left"}, {"$set": {"a": 1}}, upsert=True, bypass_document_validation=True
    )


def merge(database: Database[Document]) -> None:
    insert(database, "elsewhere")
    database["elsewhere"].aggregate([{"$merge": NAME}], bypassDocumentValidation=True)
    database["elsewhere"].drop()


@pytest.mark.parametrize("write", [insert, insert_in_transaction, upsert, merge])
def test_a_write_by_another_client_is_found(
    log: WriteLog,
    database: Database[Document],
    other: Database[Document],
    write: Callable[[Database[Document]], None],
) -> None:
    write(other)

    assert NAME in (log.read(database) or ())


def test_a_write_is_found_once(log: WriteLog, database: Database[Document]) -> None:
    insert(database)

    assert log.read(database) == {NAME}
    assert log.read(database) == set()


def test_a_deletion_is_no_write(log: WriteLog, database: Database[Document]) -> None:
    insert(database)
    log.read(database)

    database[NAME].delete_many({})

    assert log.read(database) == set()


def test_a_write_to_another_database_is_no_write_to_this_one(
    log: WriteLog,
    database: Database[Document],
) -> None:
    insert(database.client[f"{database.name}-more"])

    assert log.read(database) == set()
    database.client.drop_database(f"{database.name}-more")


def test_documents_of_a_time_series_are_found_by_its_own_name(
    log: WriteLog, database: Database[Document], runtime: Runtime
) -> None:
    database[SERIES.name].insert_one({"_id": "left", "ts": runtime.now()})

    assert log.read(database) == {SERIES.name}


def test_a_collection_of_a_day_is_dropped(runtime: Runtime) -> None:
    (family,) = FAMILIES
    insert(runtime.database, family.of_day(runtime.now()).name)

    empty_collections(runtime.database)

    assert family.collections(runtime.database) == []


def test_after_a_rename_every_collection_may_have_documents(
    log: WriteLog, database: Database[Document], other: Database[Document]
) -> None:
    insert(other, "elsewhere")
    other["elsewhere"].rename("elsewhere_again")

    assert log.read(database) is None
    other["elsewhere_again"].drop()


def test_without_the_entry_of_the_last_time_every_collection_may_have_documents(
    log: WriteLog, database: Database[Document]
) -> None:
    assert log._read_until is not None
    log._read_until = Timestamp(log._read_until.time + 3_600, 1)

    assert log.read(database) is None
    assert log.read(database) == set()

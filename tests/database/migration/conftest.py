"""A database that does not exist yet."""

from collections.abc import Iterator

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from chalicelib.database import Document, open_database


@pytest.fixture
def database(mongodb_uri: str) -> Iterator[Database[Document]]:
    with MongoClient[Document](mongodb_uri) as client:
        client.drop_database("plaza-migration")
        yield open_database(client, "plaza-migration")
        client.drop_database("plaza-migration")

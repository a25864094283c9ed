"""A collection in three versions, and its state in the database."""

from typing import TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document


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


def indexes(database: Database[Document]) -> set[str]:
    return set(database["thing"].index_information()) - {"_id_"}

"""Reading and changing what a site's moderators know of a person."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from pymongo import ReturnDocument
from pymongo.database import Database

from chalicelib.comments.people.rows import PEOPLE, Person, defaults, new_person, person_id
from chalicelib.database import Document


class ChangedPerson(NamedTuple):
    """A person before and after a change."""

    before: Person
    after: Person


def find(database: Database[Document], site: str, user_id: str) -> Person:
    """Return a person at a site; somebody of whom nothing is stored is as new."""
    found = PEOPLE.of(database).find_one({"_id": person_id(site, user_id)})
    return found or new_person(site, user_id, user_id)


def change(
    database: Database[Document], site: str, user_id: str, fields: Mapping[str, Any]
) -> ChangedPerson:
    """Set fields of a person at a site, and return them before and after."""
    said = {name: {"$literal": value} for name, value in fields.items()}
    before = PEOPLE.of(database).find_one_and_update(
        {"_id": person_id(site, user_id)},
        [{"$set": {**defaults(site, user_id, user_id), **said}}],
        upsert=True,
        return_document=ReturnDocument.BEFORE,
    )
    was = before or new_person(site, user_id, user_id)
    return ChangedPerson(was, cast("Person", {**was, **fields}))

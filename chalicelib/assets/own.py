"""A person's own assets: their limits, their erasure and their export."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.assets import catalogue, kinds
from chalicelib.assets.errors import TooManyAssets
from chalicelib.assets.forms import NewVersion
from chalicelib.assets.shapes import (
    ASSETS,
    LIBRARIES,
    UPLOADS,
    WASTE,
    Asset,
    Upload,
    owner_of_person,
)
from chalicelib.database import Document, in_transaction
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.runtime import LONGEST_RUN, Runtime


def check(runtime: Runtime, user_id: str, asked: NewVersion) -> None:
    """Raise InvalidRequest unless the content is a picture, and TooManyAssets at the limit."""
    check_picture(asked)
    most = runtime.bounds.assets.of_person
    owner = owner_of_person(user_id)
    begun = {**catalogue.unfinished_filter(owner, runtime.now()), "name": {"$ne": None}}
    number = ASSETS.of(runtime.database).count_documents({"owner": owner}, limit=most)
    number += UPLOADS.of(runtime.database).count_documents(begun, limit=most)
    if number >= most:
        raise TooManyAssets


def check_picture(asked: NewVersion) -> None:
    """Raise InvalidRequest unless the content is a picture."""
    if asked.type not in kinds.IMAGES:
        detail = f"a picture of one of these types: {', '.join(kinds.IMAGES)}"
        raise InvalidRequest(errors=[FieldError("type", "no_picture", detail)])


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the traces of a user's assets and uploads, and of the user's versions for sites."""
    owner = owner_of_person(user_id)

    def show_asset(asset: Asset) -> Iterator[ExportEntry]:
        for version in asset["versions"]:
            if owner == asset["owner"] or version["by"] == user_id:
                yield entry(
                    "asset",
                    id=asset["_id"],
                    name=asset["name"],
                    version=version["n"],
                    type=version["type"],
                    length=version["length"],
                    made_at=version["at"],
                )

    def show_upload(upload: Upload) -> Iterator[ExportEntry]:
        yield entry("upload", id=upload["_id"], name=upload["name"], begun_at=upload["at"])

    assets = {"$or": [{"owner": owner}, {"versions.by": user_id}]}
    begun = {"$or": [{"owner": owner}, {"by": user_id}]}
    return [
        Trace("assets", ASSETS.of(database), assets, show_asset),
        Trace("uploads", UPLOADS.of(database), begun, show_upload),
        Trace(
            "asset_library",
            LIBRARIES.of(database),
            {"_id": owner},
            not_shown="the number of bytes of the assets, which are shown",
        ),
    ]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Do nothing: assets store the ids of people, not their names."""
    del runtime, user_id, name


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Delete a user's own assets and uploads, and the user's id on versions and uploads of sites.

    With `until`, only data written by then. A site's assets stay. Step.MORE: own assets may remain.
    """
    _forget(runtime.database, user_id, until)
    _end_uploads(runtime, user_id, until)
    written = {"made": {"$lte": until}} if until else {}
    owned = {"owner": owner_of_person(user_id), **written}
    most = runtime.bounds.assets.erased_at_once
    found = list(ASSETS.of(runtime.database).find(owned, {"_id": 1}).limit(most))
    for asset in found:
        _delete(runtime, asset["_id"])
    if len(found) == most:
        return Step.MORE
    # Without a library, the next upload counts all bytes anew.
    LIBRARIES.of(runtime.database).delete_one({"_id": owned["owner"]})
    return Step.DONE


def _forget(database: Database[Document], user_id: str, until: datetime | None) -> None:
    by = {"by": user_id, **({"at": {"$lte": until}} if until else {})}
    named: dict[str, Any] = {f"each.{field}": value for field, value in by.items()}
    ASSETS.of(database).update_many(
        {"versions": {"$elemMatch": by}},
        {"$set": {"versions.$[each].by": None}},
        array_filters=[named],
    )
    UPLOADS.of(database).update_many(by, {"$set": {"by": None}})


def _end_uploads(runtime: Runtime, user_id: str, until: datetime | None) -> None:
    """Delete a user's own uploads."""
    begun = {"owner": owner_of_person(user_id), **({"at": {"$lte": until}} if until else {})}
    due = runtime.now() + LONGEST_RUN
    for upload in UPLOADS.of(runtime.database).find(begun):
        catalogue.delete_upload(runtime.database, upload, due)


def _delete(runtime: Runtime, asset_id: str) -> None:
    """Delete an asset despite its uses; the erasure deletes the uses, too."""

    def remove(session: Any) -> None:
        # Read again: its owner may have uploaded a version since `erase` found it.
        removed = ASSETS.of(runtime.database).find_one_and_delete(
            {"_id": asset_id}, session=session
        )
        if removed is not None:
            due = runtime.now() + LONGEST_RUN
            if rows := catalogue.wastes(removed, due):
                WASTE.of(runtime.database).insert_many(rows, session=session)

    in_transaction(runtime.database, remove)

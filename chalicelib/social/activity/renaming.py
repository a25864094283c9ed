"""Renaming of users and things in every action that mentions them.

The application names its things; users name themselves. A thing and a user may have the same id: a
rename of the one leaves the other.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events, types
from chalicelib.social.activity.actions.types import USER
from chalicelib.social.activity.refs import REFS
from chalicelib.social.messages import RenameRef


def put_ref(runtime: Runtime, ref_id: str, name: str) -> None:
    """Rename a ref that is no user; a worker changes the name in actions."""
    rename_ref_ = RenameRef(ref_id=ref_id)

    def work(session: ClientSession) -> None:
        REFS.of(runtime.database).update_one(
            {"_id": ref_id}, {"$set": {"name": name}}, upsert=True, session=session
        )
        outbox.note(runtime, rename_ref_, session)

    in_transaction(runtime.database, work)
    runtime.queues.send(rename_ref_)


def rename_ref(runtime: Runtime, ref_id: str) -> None:
    """Write a ref's stored name to every copy in actions; an unknown ref changes nothing."""
    ref = REFS.of(runtime.database).find_one({"_id": ref_id})
    if ref is not None:
        things = types.named_things()
        _on_actions(runtime.database, ref_id, ref["name"], {"$ne": USER}, things)


def rename_user(database: Database[Document], user_id: str, name: str) -> None:
    """Write a user's name to every copy in the activity feed."""
    own = {"mentions": user_id, "actor.id": user_id, "actor.name": {"$ne": name}}
    actions.ACTIONS.of(database).update_many(own, {"$set": {"actor.name": name}})
    theirs = {"by.id": user_id, "by.name": {"$ne": name}}
    events.EVENTS.of(database).update_many(theirs, {"$set": {"by.name": name}})
    _on_actions(database, user_id, name, USER, types.named_users())
    set_unregistered(database, user_id, lambda _id_field, name_field: {name_field: name})


def set_unregistered(
    database: Database[Document],
    user_id: str,
    values: Callable[[str, str], Mapping[str, str]],
    where: Document | None = None,
) -> None:
    """Set the fields that name a user in actions of types without a registration.

    Without the type's model, a field with the user's id counts even if it names a thing. `values`
    receives an id field and its name field, and returns new values by field.
    """
    rows = actions.ACTIONS.of(database)
    gone = {"mentions": user_id, "descriptor.type": {"$nin": [*types.DESCRIPTORS]}, **(where or {})}
    for action in rows.find(gone, {"descriptor": 1}):
        named = types.fields_naming(user_id, action["descriptor"])
        changed = {
            f"descriptor.{field}": value
            for pair in named.items()
            for field, value in values(*pair).items()
            if action["descriptor"].get(field, value) != value
        }
        if changed:
            rows.update_one({"_id": action["_id"]}, {"$set": changed})


def _on_actions(
    database: Database[Document], id_: str, name: str, type_: Any, fields: Mapping[str, str]
) -> None:
    """Write the name of an id to refs whose type matches `type_`, and to descriptors.

    `fields`: the name fields of descriptors, by their id fields.
    """
    rows = actions.ACTIONS.of(database)
    other = {"id": id_, "type": type_, "name": {"$ne": name}}
    rows.update_many(
        {"mentions": id_, "refs": {"$elemMatch": other}},
        {"$set": {"refs.$[each].name": name}},
        array_filters=[{"each.id": id_, "each.type": type_}],
    )
    for id_field, name_field in fields.items():
        path = f"descriptor.{name_field}"
        is_old = {f"descriptor.{id_field}": id_, path: {"$exists": True, "$ne": name}}
        rows.update_many({"mentions": id_, **is_old}, {"$set": {path: name}})

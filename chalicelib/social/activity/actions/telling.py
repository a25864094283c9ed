"""The check of a new action: its reporter, the names in it, and its audience."""

from collections.abc import Mapping
from typing import Any

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.social.activity.actions import known, types
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.known import Known
from chalicelib.social.activity.actions.shapes import ActionFields, StoredRef
from chalicelib.social.activity.actions.types import USER
from chalicelib.social.activity.org.places import Org
from chalicelib.social.errors import NobodyToTell, SpeaksForOthers, UnknownPerson
from chalicelib.social.graph.users import By


def check(
    database: Database[Document], caller: Principal, actor: By, new: NewAction
) -> tuple[Org, ActionFields]:
    """Check a new action; return its actor's present place, and its content to store.

    Stored names of users and refs replace the sent names. The audience loses unknown people and
    people with a block; unless the caller is an application, also people without a tie to the
    actor. Raises SpeaksForOthers if a descriptor names another user and the caller is no
    application, UnknownPerson if the action names an unknown user, and NobodyToTell if the whole
    audience drops out.
    """
    descriptor = new.descriptor.model_dump(exclude_none=True)
    persons, things = types.persons(descriptor), types.things(descriptor)
    is_application = caller.has("application")
    if not is_application and any(descriptor[id_] != caller.id for id_ in persons):
        raise SpeaksForOthers
    refs: list[StoredRef] = [{"id": ref.id, "type": ref.type, "name": ref.name} for ref in new.refs]
    user_ids = {descriptor[id_] for id_ in persons} | _ref_ids(refs, of_users=True)
    ref_ids = {descriptor[id_] for id_ in things} | _ref_ids(refs, of_users=False)
    found = known.find(database, caller.id, user_ids - {caller.id}, ref_ids, new.audience)
    names = {**found.user_names, actor["id"]: actor["name"]}
    if not user_ids <= names.keys():
        raise UnknownPerson
    audience = _select_audience(new.audience, caller.id, found, needs_tie=not is_application)
    if new.audience and not audience:
        raise NobodyToTell
    return found.org, {
        "scope": new.scope,
        "audience": audience,
        "refs": [_rename(ref, names if ref["type"] == USER else found.ref_names) for ref in refs],
        "descriptor": {
            **descriptor,
            **_names_of(descriptor, persons, names),
            **_names_of(descriptor, things, found.ref_names),
        },
        "tags": descriptor["tags"],
        "mentions": types.mentions(caller.id, [ref["id"] for ref in refs], descriptor),
    }


def _ref_ids(refs: list[StoredRef], *, of_users: bool) -> set[str]:
    return {ref["id"] for ref in refs if (ref["type"] == USER) is of_users}


def _rename(ref: StoredRef, names: Mapping[str, str]) -> StoredRef:
    return {**ref, "name": names.get(ref["id"], ref["name"])}


def _names_of(
    descriptor: Mapping[str, Any], fields: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, str]:
    """Return a descriptor's name fields with the stored names; omit a field without one."""
    return {
        name: names[descriptor[id_]] for id_, name in fields.items() if descriptor[id_] in names
    }


def _select_audience(
    audience: list[str], actor_id: str, found: Known, *, needs_tie: bool
) -> list[str]:
    """Return the members of an audience who may receive the action; the actor always may."""
    may_receive = (found.tied if needs_tie else found.existing) - found.blocked
    return [each for each in audience if each == actor_id or each in may_receive]

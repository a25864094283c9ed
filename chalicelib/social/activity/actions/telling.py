"""Checking a new action: who reports it, the names in it, and who may be told."""

from collections.abc import Mapping
from typing import Any

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.social.activity.actions import known, types
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.known import Known
from chalicelib.social.activity.actions.shapes import StoredRef, Told
from chalicelib.social.activity.actions.types import USER
from chalicelib.social.activity.org.places import Org
from chalicelib.social.errors import NobodyToTell, SpeaksForOthers, UnknownPerson
from chalicelib.social.graph.users import By


def check(
    database: Database[Document], caller: Principal, actor: By, new: NewAction
) -> tuple[Org, Told]:
    """Return the actor's place today, and the fields of a new action that its actor gives.

    Users and refs get the names that are stored, whatever names were sent. An audience keeps
    those who exist, have no block with the actor, and have a tie to the actor; an application
    needs no tie. Raises SpeaksForOthers if a descriptor names a user other than the caller, who
    is no application; UnknownPerson if an action names a user who does not exist; and
    NobodyToTell if nobody is left of an audience.
    """
    descriptor = new.descriptor.model_dump(exclude_none=True)
    persons, things = types.persons(descriptor), types.things(descriptor)
    is_application = caller.has("application")
    if not is_application and any(descriptor[id_] != caller.id for id_ in persons):
        raise SpeaksForOthers
    refs: list[StoredRef] = [{"id": ref.id, "type": ref.type, "name": ref.name} for ref in new.refs]
    user_ids = {descriptor[id_] for id_ in persons}
    user_ids |= {ref["id"] for ref in refs if ref["type"] == USER}
    ref_ids = {descriptor[id_] for id_ in things}
    ref_ids |= {ref["id"] for ref in refs if ref["type"] != USER}
    found = known.find(database, caller.id, user_ids - {caller.id}, ref_ids, new.audience)
    names = {**found.user_names, actor["id"]: actor["name"]}
    if not user_ids <= names.keys():
        raise UnknownPerson
    audience = _who_may_be_told(new.audience, caller.id, found, consent=not is_application)
    if new.audience and not audience:
        raise NobodyToTell
    return found.org, {
        "scope": new.scope,
        "audience": audience,
        "refs": [_named(ref, names if ref["type"] == USER else found.ref_names) for ref in refs],
        "descriptor": {
            **descriptor,
            **_names_of(descriptor, persons, names),
            **_names_of(descriptor, things, found.ref_names),
        },
        "tags": descriptor["tags"],
        "mentions": types.mentions(caller.id, [ref["id"] for ref in refs], descriptor),
    }


def _named(ref: StoredRef, names: Mapping[str, str]) -> StoredRef:
    return {**ref, "name": names.get(ref["id"], ref["name"])}


def _names_of(
    descriptor: Mapping[str, Any], fields: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, str]:
    """Return the stored names for the fields of a descriptor, as far as there are any."""
    return {
        name: names[descriptor[id_]] for id_, name in fields.items() if descriptor[id_] in names
    }


def _who_may_be_told(
    audience: list[str], actor_id: str, found: Known, *, consent: bool
) -> list[str]:
    """Return the members of an audience who may be told; the actor always may."""
    welcome = (found.tied if consent else found.existing) - found.blocked
    return [each for each in audience if each == actor_id or each in welcome]

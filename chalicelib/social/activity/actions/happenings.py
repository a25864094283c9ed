"""Actions that Plaza itself tells of: a comment on a page, a post or a page that was published."""

import hashlib
from collections.abc import Callable, Iterator

from pydantic import TypeAdapter, ValidationError
from pymongo.errors import DuplicateKeyError

from chalicelib import signing
from chalicelib.happenings import Cause
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, types
from chalicelib.social.activity.actions.own_types import (
    CommentPosted,
    PagePublished,
    PostPublished,
)
from chalicelib.social.activity.actions.shapes import StoredAction, StoredRef
from chalicelib.social.activity.actions.types import Descriptor
from chalicelib.social.activity.org import people
from chalicelib.social.activity.refs import RefId
from chalicelib.social.delivery import state
from chalicelib.social.graph import users
from chalicelib.social.messages import Cascade, DeliverAction

_ID_BYTES = 18
_REF_ID: TypeAdapter[str] = TypeAdapter(RefId)
MAX_NAME = 200


def _comment_posted(cause: Cause) -> Descriptor:
    page_id = cause.page_id or ""
    return CommentPosted.model_construct(
        type="comment_posted",
        tags=[],
        comment_id=cause.thing_id,
        page_id=ref_of(page_id),
        page_name=(cause.page_name or page_id)[:MAX_NAME],
        url=cause.url,
    )


def _page_published(cause: Cause) -> Descriptor:
    page_id = cause.page_id or ""
    return PagePublished.model_construct(
        type="page_published",
        tags=[],
        content_id=cause.thing_id,
        page_id=ref_of(page_id),
        page_name=cause.page_name[:MAX_NAME],
        url=cause.url,
    )


def _post_published(cause: Cause) -> Descriptor:
    return PostPublished.model_construct(type="post_published", tags=[], post_id=cause.thing_id)


# What is told of a happening of each kind.
_TOLD: dict[str, Callable[[Cause], Descriptor]] = {
    "comment": _comment_posted,
    "page": _page_published,
    "post": _post_published,
}


def ref_of(page_id: str) -> str:
    """Return the ref of a page: its id, or a digest of one that no ref can have."""
    try:
        return _REF_ID.validate_python(page_id)
    except ValidationError:
        return f"page:{hashlib.sha256(page_id.encode()).hexdigest()[:32]}"


def id_of(kind: str, thing: str) -> str:
    """Return the id of the action of a thing, which there is once."""
    digest = hashlib.sha256(f"{kind}:{thing}".encode()).digest()
    return signing.encode(digest[:_ID_BYTES])


def settle(runtime: Runtime, kind: str, thing: str, cause: Cause | None) -> None:
    """Make the feed agree with a thing: tell of it once, or delete what was told of it.

    An action that was deleted, by whomever, is not told again. Somebody without a team, or a
    department, has nobody to tell.
    """
    action_id = id_of(kind, thing)
    if cause is None:
        if actions.bury(runtime, action_id):
            runtime.queues.send(Cascade(action_id=action_id))
        return
    action = _action(runtime, action_id, (kind, thing), cause)
    if action is None:
        return
    try:
        actions.ACTIONS.of(runtime.database).insert_one(action)
    except DuplicateKeyError:
        return
    runtime.queues.send(DeliverAction(action_id=action_id))


def told_of(runtime: Runtime, page_id: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of each thing on a page that was told of."""
    there = {"refs.id": ref_of(page_id), "cause": {"$exists": True}, "deleted": False}
    for action in actions.ACTIONS.of(runtime.database).find(there, {"cause": 1}):
        yield action["cause"]["kind"], action["cause"]["thing"]


def _action(
    runtime: Runtime, action_id: str, named: tuple[str, str], cause: Cause
) -> StoredAction | None:
    """Return the action of a happening; None if its author has nobody to tell."""
    kind, thing = named
    database, scope = runtime.database, runtime.settings.action_scope
    org = people.PEOPLE.of(database).find_one(
        {"_id": cause.author_id}, {"team": 1, "department": 1}
    )
    if org is None or org[scope] is None:
        return None
    descriptor = _TOLD[kind](cause).model_dump(exclude_none=True)
    refs: list[StoredRef] = []
    if cause.page_id:
        refs = [{"id": descriptor["page_id"], "type": "page", "name": descriptor["page_name"]}]
    name = users.name_of(database, cause.author_id) or cause.author_name
    return {
        "_id": action_id,
        "actor": {"id": cause.author_id, "name": name},
        # Of that time, so that an erasure of what was done by then has it.
        "conducted": cause.at,
        "team": org["team"],
        "department": org["department"],
        "scope": scope,
        "audience": [],
        "refs": refs,
        "descriptor": descriptor,
        "tags": [],
        "mentions": types.mentions(cause.author_id, [ref["id"] for ref in refs], descriptor),
        "cause": {"kind": kind, "thing": thing},
        **actions.UNTOUCHED,
        "fan_out": state.new(runtime),
    }

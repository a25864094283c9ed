"""Actions that Plaza itself reports: a new comment on a page, a new post, a new page."""

import hashlib
from collections.abc import Callable, Iterator
from typing import NotRequired, TypedDict

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
from chalicelib.social.activity.actions.shapes import ReportedThing, Scope, StoredAction, StoredRef
from chalicelib.social.activity.actions.types import Descriptor
from chalicelib.social.activity.org import people
from chalicelib.social.activity.refs import RefId
from chalicelib.social.delivery import state
from chalicelib.social.graph import users
from chalicelib.social.messages import Cascade, DeliverAction

_ID_BYTES = 18


class _ScopeFields(TypedDict):
    scope: Scope
    shown_scope: NotRequired[Scope]


_REF_ID: TypeAdapter[str] = TypeAdapter(RefId)
MAX_NAME = 200


def _describe_comment(cause: Cause) -> Descriptor:
    page_id = cause.page_id or ""
    return CommentPosted.model_construct(
        type="comment_posted",
        tags=[],
        comment_id=cause.thing_id,
        page_id=ref_of(page_id),
        page_name=(cause.page_name or page_id)[:MAX_NAME],
        url=cause.url,
    )


def _describe_page(cause: Cause) -> Descriptor:
    page_id = cause.page_id or ""
    return PagePublished.model_construct(
        type="page_published",
        tags=[],
        content_id=cause.thing_id,
        page_id=ref_of(page_id),
        page_name=cause.page_name[:MAX_NAME],
        url=cause.url,
    )


def _describe_post(cause: Cause) -> Descriptor:
    return PostPublished.model_construct(type="post_published", tags=[], post_id=cause.thing_id)


# The descriptor of a happening, by its kind.
_DESCRIBE: dict[str, Callable[[Cause], Descriptor]] = {
    "comment": _describe_comment,
    "page": _describe_page,
    "post": _describe_post,
}


def ref_of(page_id: str) -> str:
    """Return the ref id of a page: the page's id, or a digest if that is no valid ref id."""
    try:
        return _REF_ID.validate_python(page_id)
    except ValidationError:
        return f"page:{hashlib.sha256(page_id.encode()).hexdigest()[:32]}"


def id_of(kind: str, thing: str) -> str:
    """Return the id of the one action about a thing, the same at each call."""
    digest = hashlib.sha256(f"{kind}:{thing}".encode()).digest()
    return signing.encode(digest[:_ID_BYTES])


def settle(runtime: Runtime, kind: str, thing: str, cause: Cause | None) -> None:
    """Make the one action about a thing agree with the thing.

    `cause` None: delete the action, for good. Otherwise insert a missing action, and conceal or
    reveal an existing action to match the thing. An author without the unit of
    `settings.action_scope` gets no new action. The action of a concealed thing has the scope
    `restricted`: only its author sees it, and `shown_scope` shows the author the usual scope.
    """
    action_id = id_of(kind, thing)
    if cause is None:
        if actions.bury(runtime, action_id):
            runtime.queues.send(Cascade(action_id=action_id))
        return
    agree = actions.conceal if cause.is_concealed else actions.reveal
    action = _action(runtime, action_id, {"kind": kind, "thing": thing}, cause)
    if action is None:
        # The action may exist from before the author left the unit.
        agree(runtime, action_id)
        return
    try:
        actions.ACTIONS.of(runtime.database).insert_one(action)
    except DuplicateKeyError:
        agree(runtime, action_id)
        return
    runtime.queues.send(DeliverAction(action_id=action_id))


def reported_things(runtime: Runtime, page_id: str) -> Iterator[tuple[str, str]]:
    """Yield the `(kind, thing)` of Plaza's own actions about a page, without deleted actions."""
    there = {"refs.id": ref_of(page_id), "cause": {"$exists": True}, "deleted": False}
    for action in actions.ACTIONS.of(runtime.database).find(there, {"cause": 1}):
        yield action["cause"]["kind"], action["cause"]["thing"]


def _action(
    runtime: Runtime, action_id: str, thing: ReportedThing, cause: Cause
) -> StoredAction | None:
    """Return the action of a happening. None: its author has no unit of the scope."""
    database, scope = runtime.database, runtime.settings.action_scope
    org = people.PEOPLE.of(database).find_one(
        {"_id": cause.author_id}, {"team": 1, "department": 1}
    )
    if org is None or org[scope] is None:
        return None
    descriptor = _DESCRIBE[thing["kind"]](cause).model_dump(exclude_none=True)
    refs: list[StoredRef] = []
    if cause.page_id:
        refs = [{"id": descriptor["page_id"], "type": "page", "name": descriptor["page_name"]}]
    name = users.name_of(database, cause.author_id) or cause.author_name
    return {
        "_id": action_id,
        "actor": {"id": cause.author_id, "name": name},
        # The time of the happening, so that an erasure up to then includes it.
        "conducted": cause.at,
        "team": org["team"],
        "department": org["department"],
        "audience": [],
        "refs": refs,
        "descriptor": descriptor,
        "tags": [],
        "mentions": types.mentions(cause.author_id, [ref["id"] for ref in refs], descriptor),
        "cause": thing,
        **actions.UNTOUCHED,
        "fan_out": state.new(runtime),
        **_scope(scope, is_concealed=cause.is_concealed),
    }


def _scope(scope: Scope, *, is_concealed: bool) -> _ScopeFields:
    return {"scope": "restricted", "shown_scope": scope} if is_concealed else {"scope": scope}

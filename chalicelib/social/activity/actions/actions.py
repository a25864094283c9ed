"""Actions: the records that feeds show.

Plaza stores an action apart from the application's data, so the feed's code need not know that
data, as in the newsfeed of Entexis.
"""

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import Forbidden
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import telling
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.shapes import (
    ActionState,
    ReadAction,
    StoredAction,
    fields_for,
)
from chalicelib.social.activity.actions.visibility import may_see
from chalicelib.social.activity.org import people
from chalicelib.social.delivery import state
from chalicelib.social.errors import NoOrgUnit, UnknownAction
from chalicelib.social.graph import users
from chalicelib.social.messages import Cascade, DeliverAction

NEWEST_FIRST = [("conducted", DESCENDING), ("_id", DESCENDING)]


ACTIONS = Collection(
    "feed.action",
    StoredAction,
    indexes=(
        *state.INDEXES,
        IndexModel([("refs.id", ASCENDING), *NEWEST_FIRST]),
        IndexModel([("tags", ASCENDING), *NEWEST_FIRST]),
        IndexModel([("actor.id", ASCENDING), *NEWEST_FIRST]),
        IndexModel([("audience", ASCENDING), *NEWEST_FIRST]),
        *(
            IndexModel([(unit, ASCENDING), *NEWEST_FIRST], partialFilterExpression={"scope": unit})
            for unit in ("team", "department")
        ),
        IndexModel([("mentions", ASCENDING), ("_id", ASCENDING)]),
        IndexModel([("mentions", ASCENDING), ("descriptor.type", ASCENDING), *NEWEST_FIRST]),
    ),
    shard_key={"_id": "hashed"},
)

# The emptied fields of a deleted action.
_EMPTIED: Document = {
    "actor.name": "",
    "descriptor": {},
    "refs": [],
    "tags": [],
    "mentions": [],
    "audience": [],
}

# The initial state of a new action.
UNTOUCHED: ActionState = {
    "hidden": False,
    "hidden_version": 0,
    "deleted": False,
    "comment_count": 0,
    "reaction_count": 0,
    "event_count": 0,
}


def conduct(runtime: Runtime, caller: Principal, new: NewAction) -> StoredAction:
    """Store an action and its pending fan-out in one write; then send the fan-out's message.

    The scopes `team` and `department` mean the caller's present unit. Raises NoOrgUnit if the
    caller has no such unit, and the errors of `telling.check`.
    """
    actor = users.ensure(runtime, caller)
    org, fields = telling.check(runtime.database, caller, actor, new)
    unit = {"team": org.team, "department": org.department}
    if new.scope in unit and unit[new.scope] is None:
        raise NoOrgUnit
    now = runtime.now()
    action: StoredAction = {
        "_id": new_id(now, runtime.random),
        "actor": actor,
        "conducted": now,
        "team": org.team,
        "department": org.department,
        **fields,
        **UNTOUCHED,
        "fan_out": state.new(runtime),
    }
    ACTIONS.of(runtime.database).insert_one(action)
    runtime.queues.send(DeliverAction(action_id=action["_id"]))
    return action


def find(database: Database[Document], action_id: str) -> StoredAction:
    """Return an action without a permission check; raises UnknownAction, also for a tombstone."""
    action = ACTIONS.of(database).find_one({"_id": action_id, "deleted": False})
    if action is None:
        raise UnknownAction
    return action


def find_visible(database: Database[Document], action_id: str, reader: Principal) -> ReadAction:
    """Return an action; raises UnknownAction if the reader may not see it."""
    where = {"_id": action_id, "deleted": False}
    action = ACTIONS.of(database).find_one(where, fields_for(reader.id))
    if action is None:
        raise UnknownAction
    org, blocked = people.viewpoint(database, reader.id, [action["actor"]["id"]])
    if not may_see(action, reader.id, org, blocked):
        raise UnknownAction
    return action


def hide(runtime: Runtime, action_id: str, caller: Principal, *, hidden: bool) -> None:
    """Hide an action of the caller's from every feed, or show it again in its old place.

    Social moderators may hide or show any action; only they show an action that a moderator hid. A
    second call changes nothing. Raises UnknownAction and Forbidden.
    """
    _check_power(runtime.database, action_id, caller)
    is_moderator = caller.has("social_moderator")
    make = _hiding if hidden else _showing
    where, change = make(is_moderator=is_moderator)
    there = {"_id": action_id, "deleted": False, **where}
    if _change(runtime, there, {**change, "$inc": {"hidden_version": 1}}):
        runtime.queues.send(Cascade(action_id=action_id))
    elif not hidden and not is_moderator and find(runtime.database, action_id)["hidden"]:
        raise Forbidden("A moderator has hidden this action")


def _hiding(*, is_moderator: bool) -> tuple[Document, Document]:
    """Return the filter of an action that the caller can hide, and the change."""
    by = "moderator" if is_moderator else "actor"
    # A moderator's hiding replaces the actor's, and never the other way round.
    where = {"$or": [{"hidden": False}, {"hidden_by": {"$nin": [by, "moderator"]}}]}
    return where, {"$set": {"hidden": True, "hidden_by": by}}


def _showing(*, is_moderator: bool) -> tuple[Document, Document]:
    where: Document = {} if is_moderator else {"hidden_by": {"$ne": "moderator"}}
    return {**where, "hidden": True}, {"$set": {"hidden": False}, "$unset": {"hidden_by": ""}}


def delete(runtime: Runtime, action_id: str, caller: Principal) -> None:
    """Delete an action of the caller's, or any as a social moderator; workers delete its items.

    Raises UnknownAction and Forbidden.
    """
    _check_power(runtime.database, action_id, caller)
    if bury(runtime, action_id):
        runtime.queues.send(Cascade(action_id=action_id))


def bury(runtime: Runtime, action_id: str) -> bool:
    """Make an action a tombstone; return False if it is a tombstone already.

    The tombstone has no content and no name. A late or repeated delivery finds nothing to deliver.
    """
    # The fan-out still runs to its end; its repair then deletes items that a dead worker wrote.
    gone = {**_EMPTIED, "deleted": True}
    return _change(runtime, {"_id": action_id, "deleted": False}, {"$set": gone})


def conceal(runtime: Runtime, action_id: str) -> None:
    """Restrict an action to its actor, who still sees the old scope. Repeats change nothing."""
    change: list[Document] = [{"$set": {"shown_scope": "$scope", "scope": "restricted"}}]
    there: Document = {"_id": action_id, "deleted": False, "shown_scope": {"$exists": False}}
    if _change(runtime, there, change):
        runtime.queues.send(Cascade(action_id=action_id))


def reveal(runtime: Runtime, action_id: str) -> None:
    """Restore a concealed action's scope and deliver it again; a second call changes nothing."""
    there: Document = {"_id": action_id, "deleted": False, "shown_scope": {"$exists": True}}
    change: list[Document] = [
        {"$set": {"scope": "$shown_scope", "fan_out": {"$literal": state.new(runtime)}}},
        {"$unset": "shown_scope"},
    ]
    if ACTIONS.of(runtime.database).update_one(there, change).matched_count:
        runtime.queues.send(DeliverAction(action_id=action_id))


def deliver_again(runtime: Runtime, action_id: str) -> None:
    """Restart an action's fan-out, unless the action is concealed or deleted."""
    there: Document = {"_id": action_id, "deleted": False, "shown_scope": {"$exists": False}}
    change = {"$set": {"fan_out": state.new(runtime)}}
    if ACTIONS.of(runtime.database).update_one(there, change).matched_count:
        runtime.queues.send(DeliverAction(action_id=action_id))


def _check_power(database: Database[Document], action_id: str, caller: Principal) -> None:
    if caller.has("social_moderator"):
        find(database, action_id)
    elif find_visible(database, action_id, caller)["actor"]["id"] != caller.id:
        raise Forbidden("Only its actor can hide or delete an action")


def _change(runtime: Runtime, there: Document, change: Document | list[Document]) -> bool:
    """Change the action that matches `there`, and note its cascade, all or nothing.

    False: no action matches.
    """
    cascade = Cascade(action_id=there["_id"])

    def work(session: ClientSession) -> bool:
        rows = ACTIONS.of(runtime.database)
        changed = rows.update_one(there, change, session=session).matched_count == 1
        if changed:
            outbox.note(runtime, cascade, session)
        return changed

    return in_transaction(runtime.database, work)

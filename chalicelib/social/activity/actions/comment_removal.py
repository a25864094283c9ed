"""Deletion of a comment on an action, by its author, the actor or a moderator."""

from typing import Literal

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.errors import Forbidden, UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.graph import following
from chalicelib.social.posts.shapes import PostComment
from chalicelib.social.posts.visibility import may_see_comment

Remover = Literal["author", "actor", "moderator"]


def remove(runtime: Runtime, action_id: str, comment_id: str, caller: Principal) -> Remover:
    """Delete a comment as its author, the action's actor or a moderator; return that role.

    The action's rank in feeds stays. Raises UnknownAction, UnknownComment and Forbidden.
    """
    database = runtime.database
    action = actions.find(database, action_id)
    comment = _find(database, action_id, comment_id)
    remover: Remover
    if comment and comment["by"]["id"] == caller.id:
        remover = "author"
    elif action["actor"]["id"] == caller.id:
        remover = "actor"
    elif caller.has("social_moderator"):
        remover = "moderator"
    else:
        actions.find_visible(database, action_id, caller)
        _refuse(database, caller, comment)
    if not _delete(database, action_id, comment_id):
        raise UnknownComment
    return remover


def _find(database: Database[Document], action_id: str, comment_id: str) -> PostComment | None:
    try:
        return events.find_comment(database, action_id, comment_id)
    except UnknownComment:
        return None


def _refuse(database: Database[Document], caller: Principal, comment: PostComment | None) -> None:
    """Raise UnknownComment if the comment is missing or a block hides it, else Forbidden."""
    if comment is None:
        raise UnknownComment
    if not may_see_comment(following.reader(database, caller.id, [comment["by"]["id"]]), comment):
        raise UnknownComment
    raise Forbidden("A comment is deleted by its author, by the action's actor, or by moderators")


def _delete(database: Database[Document], action_id: str, comment_id: str) -> bool:
    """Delete a comment and lower the count, both or neither; return whether it existed."""
    key = {"_id": comment_id, "action_id": action_id, "type": "comment"}
    one_less = {"$inc": {"comment_count": -1}}

    def work(session: ClientSession) -> bool:
        if not events.EVENTS.of(database).delete_one(key, session=session).deleted_count:
            return False
        actions.ACTIONS.of(database).update_one({"_id": action_id}, one_less, session=session)
        return True

    return in_transaction(database, work)

"""Ranking an action anew for its subscribers, after each thing that happens to it."""

from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.feed import items, scoring
from chalicelib.social.messages import Rerank
from chalicelib.social.paging.id_range import IdRange

SUBSCRIBERS_AT_ONCE = 1_000
# What a worker does of one message before it notes the rest as another: about a second's work.
CHUNKS_A_MESSAGE = 20


def rank(runtime: Runtime, action_id: str, event_id: str, after: str) -> None:
    """Raise an action in the feeds of those whom an event concerns, from one id on.

    An item that comes while this is under way is scored with the event by whoever brings it.
    """
    event = events.find(runtime.database, action_id, event_id)
    action = actions.collection(runtime.database).find_one({"_id": action_id}, scoring.FIELDS)
    if event is None or action is None:
        return
    ids = IdRange(after, limit=SUBSCRIBERS_AT_ONCE)
    for _ in range(CHUNKS_A_MESSAGE):
        readers = items.subscribers(runtime.database, action_id, ids)
        items.lift(runtime, scoring.of_event(runtime, action, event, readers))
        if len(readers) < SUBSCRIBERS_AT_ONCE:
            return
        ids = ids._replace(after=readers[-1])
    rest = Rerank(action_id=action_id, event_id=event_id, after=ids.after)
    outbox.note(runtime, rest)
    runtime.queues.send(rest)

"""New ranks of an action for its subscribers, after each of its events."""

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions, events
from chalicelib.social.activity.feed import items, scoring
from chalicelib.social.messages import Rerank
from chalicelib.social.paging import IdRange


def rank(runtime: Runtime, action_id: str, event_id: str, after: str) -> None:
    """Raise an action by an event in the feeds of its subscribers whose ids follow `after`.

    After `rerank_chunks` chunks, the next message continues. A delivery of items meanwhile scores
    the event itself.
    """
    bounds = runtime.bounds.social
    event = events.find(runtime.database, action_id, event_id)
    action = actions.ACTIONS.of(runtime.database).find_one({"_id": action_id}, scoring.FIELDS)
    if event is None or action is None:
        return
    ids = IdRange(after, limit=bounds.rerank_subscribers)
    for _ in range(bounds.rerank_chunks):
        readers = items.subscribers(runtime.database, action_id, ids)
        items.lift(runtime, scoring.of_event(runtime, action, event, readers))
        if len(readers) < bounds.rerank_subscribers:
            return
        ids = ids._replace(after=readers[-1])
    rest = Rerank(action_id=action_id, event_id=event_id, after=ids.after)
    outbox.note(runtime, rest)
    runtime.queues.send(rest)

"""Bringing an action to the feeds of those whom it is for, by the same leases as posts."""

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions.actions import ACTIONS
from chalicelib.social.activity.feed import audience, cascade, items, refill
from chalicelib.social.delivery import engine
from chalicelib.social.delivery.engine import Deliverable
from chalicelib.social.messages import DeliverAction, DeliverActionChunk
from chalicelib.social.paging.id_range import IdRange


def _audience(runtime: Runtime, action: Document, ids: IdRange) -> list[str]:
    # A deleted one is for nobody; what a worker who died has brought of it, `_mend` removes.
    return [] if action["deleted"] else audience.of(runtime.database, action, ids)


def _bring(runtime: Runtime, action: Document, reader_ids: list[str], _is_first: bool) -> None:  # noqa: FBT001
    """Give readers the action, but not those who have muted its actor.

    Those who mute, move or are erased meanwhile may have had their feed put right before the
    item came. So it is asked once more for whom the action is, and the items of others go.
    """
    database = runtime.database
    brought = audience.unmuted(database, action["actor"]["id"], reader_ids)
    items.deliver(runtime, [action], brought)
    for reader_id in set(brought).difference(audience.still_eligible(database, action, brought)):
        refill.take_undue(database, reader_id, [action["_id"]])


def _unchanged(_action: Document) -> Document:
    # For all else `items.bring` has looked itself.
    return {"deleted": False}


def _mend(runtime: Runtime, action: Document) -> None:
    cascade.cascade(runtime, action["_id"])


def _message(action_id: str) -> DeliverAction:
    return DeliverAction(action_id=action_id)


def _chunk_message(action_id: str, number: int) -> DeliverActionChunk:
    return DeliverActionChunk(action_id=action_id, number=number)


OF_ACTIONS = Deliverable(
    collection=ACTIONS.name,
    fields={
        **items.ACTION_FIELDS,
        "scope": 1,
        "team": 1,
        "department": 1,
        "audience": 1,
        "fan_out": 1,
    },
    audience=_audience,
    bring=_bring,
    unchanged=_unchanged,
    mend=_mend,
    message=_message,
    chunk_message=_chunk_message,
)


def sweep(runtime: Runtime) -> None:
    """Send again for actions whose fan-out was forgotten."""
    engine.sweep(runtime, OF_ACTIONS)

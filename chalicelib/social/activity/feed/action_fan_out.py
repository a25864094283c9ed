"""Delivery of an action to the feeds of its readers, under the same leases as posts."""

from collections.abc import Mapping

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.actions import ACTIONS
from chalicelib.social.activity.actions.shapes import AddressedAction, StoredAction
from chalicelib.social.activity.feed import cascade, items, refill
from chalicelib.social.activity.org import people
from chalicelib.social.delivery.engine import Deliverable
from chalicelib.social.delivery.leases import DeliveryLease
from chalicelib.social.messages import DeliverAction, DeliverActionChunk
from chalicelib.social.paging import IdRange

# The readers of an action: its actor, and everyone in its scope today.


def readers_of(database: Database[Document], action: AddressedAction, ids: IdRange) -> list[str]:
    """Return the sorted ids of an action's readers in a range, muting readers included."""
    unit = action["scope"]
    if unit == "restricted":
        return ids.cut({action["actor"]["id"], *action["audience"]})
    where = {unit: action[unit], "_id": ids.bounds}
    rows = people.PEOPLE.of(database).find(where, {"_id": 1}).sort("_id", ASCENDING)
    members = [row["_id"] for row in rows.limit(ids.limit or 0)]
    return ids.cut({action["actor"]["id"], *members})


def count_readers(database: Database[Document], action: AddressedAction) -> int:
    """Return the number of an action's readers, muting readers included."""
    unit, actor_id = action["scope"], action["actor"]["id"]
    if unit == "restricted":
        return len({actor_id, *action["audience"]})
    others = {unit: action[unit], "_id": {"$ne": actor_id}}
    return 1 + people.PEOPLE.of(database).count_documents(others)


def select_eligible(
    database: Database[Document], action: AddressedAction, reader_ids: list[str]
) -> list[str]:
    """Return the readers still in the action's scope who do not mute its actor, in their order."""
    unit, actor_id = action["scope"], action["actor"]["id"]
    if unit == "restricted":
        today = actions.ACTIONS.of(database).find_one({"_id": action["_id"]}, {"audience": 1})
        members = set(today["audience"] if today else ())
    else:
        where = {unit: action[unit], "_id": {"$in": reader_ids}}
        members = {row["_id"] for row in people.PEOPLE.of(database).find(where, {"_id": 1})}
    still = [each for each in reader_ids if each in members or each == actor_id]
    return omit_muting(database, actor_id, still)


def omit_muting(database: Database[Document], actor_id: str, reader_ids: list[str]) -> list[str]:
    """Return the readers who have not muted an actor."""
    where = {"_id": {"$in": reader_ids}, "muted": actor_id}
    muting = {row["_id"] for row in people.PEOPLE.of(database).find(where, {"_id": 1})}
    return [reader_id for reader_id in reader_ids if reader_id not in muting]


class ActionDelivery(Deliverable[StoredAction]):
    """The delivery of actions, as items of their readers' feeds."""

    documents = ACTIONS
    fields: Mapping[str, object] = {
        **items.ACTION_FIELDS,
        "scope": 1,
        "team": 1,
        "department": 1,
        "audience": 1,
        "fan_out": 1,
    }

    def audience(self, runtime: Runtime, document: StoredAction, ids: IdRange) -> list[str]:
        """Return the ids of an action's readers; none for a deleted action.

        `repair` removes a deleted action's items that a dead worker left.
        """
        return [] if document["deleted"] else readers_of(runtime.database, document, ids)

    def deliver(
        self,
        runtime: Runtime,
        document: StoredAction,
        reader_ids: list[str],
        *,
        is_first: bool,  # noqa: ARG002 - for actions, all chunks are alike
    ) -> None:
        """Deliver an action to the readers who have not muted its actor.

        During the delivery, a reader may mute the actor, move or be erased, and the feed's refill
        or the erasure may end before the write of the item. So the delivery checks the readers once
        more after the write, and removes items that are not due.
        """
        database = runtime.database
        readers = omit_muting(database, document["actor"]["id"], reader_ids)
        items.deliver(runtime, [document], readers)
        for reader_id in set(readers).difference(select_eligible(database, document, readers)):
            refill.take_undue(database, reader_id, [document["_id"]])

    def unchanged_filter(self, document: StoredAction) -> Document:  # noqa: ARG002 - the same for all
        """Return the filter of an action that is neither deleted nor concealed.

        A concealed action never matches: a dead worker may have delivered it to all readers.
        `items.deliver` itself checks everything else.
        """
        return {"deleted": False, "shown_scope": {"$exists": False}}

    def repair(self, runtime: Runtime, document: StoredAction) -> None:
        """Bring the items of an action up to its state: hide, show, conceal or delete them."""
        cascade.cascade(runtime, document["_id"])

    def message(self, document_id: str) -> DeliverAction:
        """Return the message that asks for the delivery of an action."""
        return DeliverAction(action_id=document_id)

    def chunk_message(self, document_id: str, number: int) -> DeliverActionChunk:
        """Return the message that asks for the delivery of one chunk."""
        return DeliverActionChunk(action_id=document_id, number=number)

    def choose(
        self,
        document: StoredAction,  # noqa: ARG002 - every action is delivered
        lease: DeliveryLease[StoredAction],  # noqa: ARG002
        first: list[str],
    ) -> list[str]:
        """Return the first readers: workers deliver every action."""
        return first


OF_ACTIONS = ActionDelivery()

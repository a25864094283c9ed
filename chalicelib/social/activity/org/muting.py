"""Muting: a reader's feed omits an actor's actions, whatever their scope."""

from collections.abc import Callable

from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.forms import MAX_MUTED
from chalicelib.social.activity.org.people import StoredPerson
from chalicelib.social.errors import CannotMuteSelf, TooManyMuted
from chalicelib.social.messages import Refill


def mute(runtime: Runtime, reader_id: str, actor_id: str) -> None:
    """Omit an actor's actions from a reader's feed; a second call changes nothing.

    Reads of the feed omit the actions at once; a worker later removes the items. Raises
    CannotMuteSelf and TooManyMuted.
    """
    if actor_id == reader_id:
        raise CannotMuteSelf

    def add(person: StoredPerson) -> Document | None:
        if actor_id in person["muted"]:
            return None
        if len(person["muted"]) >= MAX_MUTED:
            raise TooManyMuted
        return {"$push": {"muted": actor_id}}

    _change(runtime, reader_id, add)


def unmute(runtime: Runtime, reader_id: str, actor_id: str) -> None:
    """Show an actor's actions in a reader's feed again, also the actions since the muting."""

    def remove(person: StoredPerson) -> Document | None:
        return {"$pull": {"muted": actor_id}} if actor_id in person["muted"] else None

    _change(runtime, reader_id, remove)


def _change(
    runtime: Runtime, reader_id: str, make_update: Callable[[StoredPerson], Document | None]
) -> None:
    """Apply the update of `make_update` for the stored reader, and refill the feed.

    `make_update` returns None: no change, and no refill.
    """
    refill = Refill(user_id=reader_id)

    def work(session: ClientSession) -> bool:
        change = make_update(people.find(runtime.database, reader_id, session))
        if change is not None:
            people.change(runtime.database, reader_id, change, session)
            outbox.note(runtime, refill, session)
        return change is not None

    if in_transaction(runtime.database, work):
        runtime.queues.send(refill)

"""Muting: leaving somebody's actions out of a reader's feed, whatever their scope."""

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
    """Keep somebody's actions from a reader's feed; doing so twice changes nothing.

    Actions in the feed are left out at once, and removed in the background. Raises
    CannotMuteSelf and TooManyMuted.
    """
    if actor_id == reader_id:
        raise CannotMuteSelf

    def wanted(person: StoredPerson) -> Document | None:
        if actor_id in person["muted"]:
            return None
        if len(person["muted"]) >= MAX_MUTED:
            raise TooManyMuted
        return {"$push": {"muted": actor_id}}

    _change(runtime, reader_id, wanted)


def unmute(runtime: Runtime, reader_id: str, actor_id: str) -> None:
    """Let somebody's actions into a reader's feed again, also those done in the meantime."""

    def wanted(person: StoredPerson) -> Document | None:
        return {"$pull": {"muted": actor_id}} if actor_id in person["muted"] else None

    _change(runtime, reader_id, wanted)


def _change(
    runtime: Runtime, reader_id: str, wanted: Callable[[StoredPerson], Document | None]
) -> None:
    """Make the update that `wanted` returns for the stored reader, and refill the feed."""
    refill = Refill(user_id=reader_id)

    def work(session: ClientSession) -> bool:
        change = wanted(people.find(runtime.database, reader_id, session))
        if change is not None:
            people.change(runtime.database, reader_id, change, session)
            outbox.note(runtime, refill, session)
        return change is not None

    if in_transaction(runtime.database, work):
        runtime.queues.send(refill)

"""Muting: it subtracts from a feed what somebody does, whatever the scope would bring."""

from collections.abc import Callable

from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.people import MAX_MUTED
from chalicelib.social.errors import CannotMuteSelf, TooManyMuted
from chalicelib.social.messages import Refill


def mute(runtime: Runtime, reader_id: str, actor_id: str) -> None:
    """Keep somebody's actions from a reader's feed; doing so twice changes nothing.

    What is there is passed over at once, and taken away in the background. Raises
    CannotMuteSelf and TooManyMuted.
    """
    if actor_id == reader_id:
        raise CannotMuteSelf

    def wanted(person: Document) -> Document | None:
        if actor_id in person["muted"]:
            return None
        if len(person["muted"]) >= MAX_MUTED:
            raise TooManyMuted
        return {"$push": {"muted": actor_id}}

    _change(runtime, reader_id, wanted)


def unmute(runtime: Runtime, reader_id: str, actor_id: str) -> None:
    """Let somebody's actions into a reader's feed again, those of the meantime as well."""

    def wanted(person: Document) -> Document | None:
        return {"$pull": {"muted": actor_id}} if actor_id in person["muted"] else None

    _change(runtime, reader_id, wanted)


def _change(
    runtime: Runtime, reader_id: str, wanted: Callable[[Document], Document | None]
) -> None:
    """Change a reader as `wanted` says of what is stored, and have the feed follow."""
    refill = Refill(user_id=reader_id)

    def work(session: ClientSession) -> bool:
        change = wanted(people.find(runtime.database, reader_id, session))
        if change is not None:
            people.change(runtime.database, reader_id, change, session)
            outbox.note(runtime, refill, session)
        return change is not None

    if in_transaction(runtime.database, work):
        runtime.queues.send(refill)

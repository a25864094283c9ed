"""Acts of the social feed that owe a notification, where a deployment has them switched on.

A job notes the act before it is stored, or in its transaction. A worker then compares notifications
with the stored acts, so that neither the order of two requests matters, nor a crash of either.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pymongo.client_session import ClientSession

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.messages import NotifyFeed, NotifyWatchers

_Act = NotifyFeed | NotifyWatchers


def note(runtime: Runtime, act: _Act, session: ClientSession | None = None) -> None:
    """Note an act; the caller sends it afterwards."""
    if runtime.settings.social_notifications:
        outbox.note(runtime, act, session)


def send(runtime: Runtime, *acts: _Act) -> None:
    """Send noted acts to the worker; if a message is lost, the sweep sends another."""
    if runtime.settings.social_notifications and acts:
        runtime.queues.send(*acts)


@contextmanager
def telling(runtime: Runtime, act: _Act) -> Iterator[None]:
    """Note an act before the block that stores it, and send it afterwards."""
    note(runtime, act)
    yield
    send(runtime, act)


def keys_of(post_id: str) -> str:
    """Return the beginning of the keys of all events of a post."""
    return f"post/{post_id}/"

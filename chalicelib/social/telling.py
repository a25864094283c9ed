"""Jobs for the notifications of social acts, if the deployment sends social notifications.

The outbox stores the job before the act, or in the act's transaction. A worker later makes the
notifications agree with the stored acts. So neither a crash nor the order of two requests matters.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pymongo.client_session import ClientSession

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.messages import NotifyFeed, NotifyWatchers

_Act = NotifyFeed | NotifyWatchers


def note(runtime: Runtime, act: _Act, session: ClientSession | None = None) -> None:
    """Store the job of an act in the outbox; the caller sends its message after the act."""
    if runtime.settings.social_notifications:
        outbox.note(runtime, act, session)


def send(runtime: Runtime, *acts: _Act) -> None:
    """Send the messages of noted acts; the sweep replaces a lost message."""
    if runtime.settings.social_notifications and acts:
        runtime.queues.send(*acts)


@contextmanager
def telling(runtime: Runtime, act: _Act) -> Iterator[None]:
    """Note an act, run the block that stores the act, and send the message.

    If the block raises, only the sweep sends the message.
    """
    note(runtime, act)
    yield
    send(runtime, act)


def keys_of(post_id: str) -> str:
    """Return the prefix of the keys of a post's notification events."""
    return f"post/{post_id}/"

"""Happenings of Plaza's own that become actions of the activity feed: a comment, a post, a page.

A site switches them on (`PLAZA_ACTION_SITES`). A feature notes a happening with `note` where it
stores, changes or deletes the thing, before it does so, in the same transaction if there is one,
and calls `send` afterwards. A worker then makes the feed agree with the thing: it looks for it,
makes the action if there is none, and deletes it if the thing has gone or is not for everybody.
The roof (`chalicelib/wiring/happenings.py`) knows where the things of each kind are found.

Another kind takes three steps: `note` and `send` in its
feature; a `Cause` of it in `CAUSES` on the roof; and a type of descriptors that is made of it in
`social/activity/actions/happenings.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.jobs import outbox
from chalicelib.jobs.outbox import Job
from chalicelib.runtime import Runtime


class Happened(Job):
    """Make the activity feed agree with something that a feature stores.

    It is run again when no request can be under way that had begun before, so that it does not
    matter in which order two requests about the same thing end, or whether one of them died.
    """

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["happened"] = "happened"
    kind: str
    thing: str


class Cause(NamedTuple):
    """A thing that everybody may see: who made it and when, and the page that it is on."""

    author_id: str
    author_name: str
    at: datetime
    thing_id: str
    page_id: str | None = None
    page_name: str = ""
    url: str | None = None


def note(  # noqa: PLR0913 - a happening, and when and with what it is noted
    runtime: Runtime,
    site: str,
    kind: str,
    thing: str,
    session: ClientSession | None = None,
    *,
    due: datetime | None = None,
) -> None:
    """Note that something happens to a thing of a site, if the site has this switched on.

    What is to happen at an instant is `due` then: the sweep has it looked at.
    """
    if site in runtime.settings.action_sites:
        outbox.note(runtime, Happened(kind=kind, thing=thing), session, due=due)


def send(runtime: Runtime, site: str, kind: str, thing: str) -> None:
    """Have the worker look at a thing, now that it is stored; the sweep would do so as well."""
    if site in runtime.settings.action_sites:
        runtime.queues.send(Happened(kind=kind, thing=thing))


@contextmanager
def telling(runtime: Runtime, site: str, kind: str, thing: str) -> Iterator[None]:
    """Note a happening before what is done within, and have the worker look at it afterwards."""
    note(runtime, site, kind, thing)
    yield
    send(runtime, site, kind, thing)

"""Plaza's own happenings that become actions of the activity feed: a comment, a post, a page.

A site switches them on (`PLAZA_ACTION_SITES`). Before a feature stores, changes or deletes a thing,
it calls `note`, in the same transaction if there is one, and afterwards `send`. A worker then makes
the feed agree with the thing: it finds the thing, makes the action if it is missing, and deletes it
if the thing is gone or not public. An action about a concealed thing is for its author alone.
`chalicelib/wiring/happenings.py` finds the things of each kind.

A new kind needs three steps: `note` and `send` in its feature; a finder of its `Cause` in `CAUSES`
of `chalicelib/wiring/happenings.py`; and a type of descriptors in
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
    """The job that makes the activity feed agree with a stored thing.

    It runs again after `OUTLIVES_ALL`, when no earlier request can be running. So the order of two
    requests about a thing does not matter, nor does a crash.
    """

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["happened"] = "happened"
    kind: str
    thing: str


class Cause(NamedTuple):
    """A thing that the feed may show: its author, its time, and the page that it is on.

    `is_concealed`: only the author sees the thing, and believes that it is public.
    """

    author_id: str
    author_name: str
    at: datetime
    thing_id: str
    page_id: str | None = None
    page_name: str = ""
    url: str | None = None
    is_concealed: bool = False


def note(  # noqa: PLR0913 - a happening, its time and its transaction
    runtime: Runtime,
    site: str,
    kind: str,
    thing: str,
    session: ClientSession | None = None,
    *,
    due: datetime | None = None,
) -> None:
    """Note a change of a site's thing, if the site has happenings switched on.

    `due`: the instant of a change that is still to come; the sweep sends the message then.
    """
    if site in runtime.settings.action_sites:
        outbox.note(runtime, Happened(kind=kind, thing=thing), session, due=due)


def send(runtime: Runtime, site: str, kind: str, thing: str) -> None:
    """Send the worker a message about a stored thing, if the site has happenings switched on.

    If the message gets lost, the sweep sends another.
    """
    if site in runtime.settings.action_sites:
        runtime.queues.send(Happened(kind=kind, thing=thing))


@contextmanager
def telling(runtime: Runtime, site: str, kind: str, thing: str) -> Iterator[None]:
    """Note a happening before the block; send its message after it, unless the block raises."""
    note(runtime, site, kind, thing)
    yield
    send(runtime, site, kind, thing)

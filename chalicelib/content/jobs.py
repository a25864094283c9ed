"""The queue worker and the schedule of content; both may run twice at once."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from chalicelib.content import tag_counts, terms
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import discussions as publishing_discussions
from chalicelib.content.publishing import new_addresses, notifications, tending
from chalicelib.content.publishing.discussions import Discussions, TellDiscussion
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.webhooks import due

_STEPS: Mapping[str, Step] = {
    "made_live": tending.make_live,
    "ended": tending.end,
    "dates_given": tending.give_date,
    "events_delivered": lambda run: due.deliver(
        run, NODES, notifications.notify, key=("site", "_id")
    ),
    "tags_counted": tag_counts.count_due,
    "tags_repaired": lambda run: len(tag_counts.repair(run)),
    "addresses_noted": new_addresses.note_updates,
    "discussions_left": publishing_discussions.tell_all,
    "discussions_told": publishing_discussions.sweep,
    "pages_indexed": terms.index_due,
}


def run_due(runtime: Runtime) -> dict[str, int]:
    """Run the schedule's steps for content; return the count of each step."""
    return run_steps(runtime, _STEPS)


def tell_discussions(
    discussions: Discussions, runtime: Runtime, event: dict[str, Any]
) -> dict[str, Any]:
    """Update the discussions of changed pages."""

    def handle(message: TellDiscussion) -> None:
        publishing_discussions.tell(runtime, discussions, message)

    return consume(event, TypeAdapter(TellDiscussion), handle)

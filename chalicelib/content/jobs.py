"""The queue worker and the schedule of content; both may run twice at once."""

from typing import Any

from pydantic import TypeAdapter

from chalicelib.content import tag_counts, terms
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import discussions as publishing_discussions
from chalicelib.content.publishing import notifications, tending
from chalicelib.content.publishing.discussions import Discussions, TellDiscussion
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.webhooks import due


def run_due(runtime: Runtime) -> dict[str, int]:
    """Tidy up after instants that have passed, and send messages again; return counts of pages."""
    done = {"made_live": tending.make_live(runtime), "ended": tending.end(runtime)}
    tending.give_date(runtime)
    due.deliver(runtime, NODES, notifications.notify, key=("site", "_id"))
    tag_counts.count_due(runtime)
    tag_counts.repair(runtime)
    publishing_discussions.sweep(runtime)
    terms.index_due(runtime)
    return done


def tell_discussions(
    discussions: Discussions, runtime: Runtime, event: dict[str, Any]
) -> dict[str, Any]:
    """Update the discussions of changed pages."""

    def handle(message: TellDiscussion) -> None:
        publishing_discussions.tell(runtime, discussions, message)

    return consume(event, TypeAdapter(TellDiscussion), handle)

"""The activity feed meets other features: each feature finds its own things for it."""

from collections.abc import Callable

from chalicelib.comments import happened as comments
from chalicelib.content import happened as content
from chalicelib.happenings import Cause, Happened
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import happenings
from chalicelib.social.posts import posts

# The finder of things of each kind; it returns None if the thing is gone or not public.
CAUSES: dict[str, Callable[[Runtime, str], Cause | None]] = {
    "comment": comments.find,
    "page": content.find,
    "post": posts.find_cause,
}
# A page with all its comments: each of them is looked up again.
DISCUSSION = "discussion"


def run(runtime: Runtime, job: Happened) -> None:
    """Run a job that is still noted; a failure leaves it for the sweep."""
    outbox.run(runtime, job, _run)


def _run(runtime: Runtime, job: Happened) -> None:
    if job.kind == DISCUSSION:
        for kind, thing in happenings.reported_things(runtime, job.thing):
            happenings.settle(runtime, kind, thing, CAUSES[kind](runtime, thing))
    elif job.kind in CAUSES:
        happenings.settle(runtime, job.kind, job.thing, CAUSES[job.kind](runtime, job.thing))

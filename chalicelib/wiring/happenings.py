"""The activity feed meets other features: each feature finds its own things for it."""

from collections.abc import Callable

from pymongo import ASCENDING

from chalicelib.comments import happened as comments
from chalicelib.comments.node_ids import site_of
from chalicelib.content import happened as content
from chalicelib.database import Document
from chalicelib.happenings import Cause, Happened
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.social.activity.actions import happenings
from chalicelib.social.activity.actions.actions import ACTIONS
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


def settle_again(runtime: Runtime, after: str = "", most_actions: int = 1_000) -> Document:
    """Make Plaza's own actions agree with their things, in the order of their ids.

    Actions of sites that are not listed any more go, and do not come back. Returns `{settled,
    next}`: the number of actions, and the action to continue after, or null.
    """
    there = {"_id": {"$gt": after}, "cause": {"$exists": True}, "deleted": False}
    found = ACTIONS.of(runtime.database).find(there, {"cause": 1}).sort("_id", ASCENDING)
    rows = list(found.limit(most_actions))
    for row in rows:
        _settle(runtime, row["cause"]["kind"], row["cause"]["thing"])
    following = rows[-1]["_id"] if len(rows) == most_actions else None
    return {"settled": len(rows), "next": following}


def _run(runtime: Runtime, job: Happened) -> None:
    if job.kind == DISCUSSION:
        for kind, thing in happenings.reported_things(runtime, job.thing):
            _settle(runtime, kind, thing)
    elif job.kind in CAUSES:
        _settle(runtime, job.kind, job.thing)


def _settle(runtime: Runtime, kind: str, thing: str) -> None:
    """Make the feed agree with a thing; a site that is not listed any more has no actions."""
    site = DEFAULT_SITE if kind == "post" else site_of(thing)
    is_listed = site in runtime.settings.action_sites
    cause = CAUSES[kind](runtime, thing) if is_listed else None
    happenings.settle(runtime, kind, thing, cause)

"""The activity feed's adapters to other features, which find the things behind Plaza's actions."""

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
# The kind of a job for a page with all its comments; the job settles each of them.
DISCUSSION = "discussion"


def run(runtime: Runtime, job: Happened) -> None:
    """Run a job that is still noted; a failure leaves it for the sweep."""
    outbox.run(runtime, job, _run)


def settle_again(runtime: Runtime, after: str = "", most_actions: int = 1_000) -> Document:
    """Make Plaza's own actions agree with their things, in the order of the actions' ids.

    Reads up to `most_actions` actions. Deletes actions of sites that `action_sites` no longer
    lists; they never return. Returns `{settled, next}`: the number of Plaza's own actions, and the
    id to continue after; null at the end.
    """
    fields = {"cause": 1, "deleted": 1}
    found = ACTIONS.of(runtime.database).find({"_id": {"$gt": after}}, fields)
    rows = list(found.sort("_id", ASCENDING).limit(most_actions))
    own = [row["cause"] for row in rows if "cause" in row and not row["deleted"]]
    for thing in own:
        kind, name = thing["kind"], thing["thing"]
        cause = CAUSES[kind](runtime, name)
        is_listed = cause is not None and _is_of_listed_site(runtime, cause)
        happenings.settle(runtime, kind, name, cause if is_listed else None)
    following = rows[-1]["_id"] if len(rows) == most_actions else None
    return {"settled": len(own), "next": following}


def _run(runtime: Runtime, job: Happened) -> None:
    if job.kind == DISCUSSION:
        for kind, thing in happenings.reported_things(runtime, job.thing):
            _settle(runtime, kind, thing)
    elif job.kind in CAUSES:
        _settle(runtime, job.kind, job.thing)


def _settle(runtime: Runtime, kind: str, thing: str) -> None:
    """Make the feed agree with a thing; for a thing of an unlisted site, nothing changes.

    A worker may still have former settings, so the list is no reason to delete an action.
    """
    cause = CAUSES[kind](runtime, thing)
    if cause is None or _is_of_listed_site(runtime, cause):
        happenings.settle(runtime, kind, thing, cause)


def _is_of_listed_site(runtime: Runtime, cause: Cause) -> bool:
    """Return whether a thing is now at a site of `action_sites`; its page may have moved there."""
    site = site_of(cause.page_id) if cause.page_id else None
    return (site or DEFAULT_SITE) in runtime.settings.action_sites

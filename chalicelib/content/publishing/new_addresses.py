"""New base URLs of sites: the schedule updates the discussions of their pages, in steps.

A step notes updates for the next pages' discussions, then stores its progress. A step is
idempotent: after a crash in between, the schedule repeats it.
"""

from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import discussions
from chalicelib.content.settings import SITES
from chalicelib.content.shapes import ContentSite, NewAddress, Telling
from chalicelib.database import Document
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import Runtime

_MOVED = Sweep(SITES, "new_address.due", fields={"new_address": 1})
# The most sites of a run; each has a step.
_MOST_SITES = 20


def note_updates(runtime: Runtime) -> int:
    """Note updates of discussions for sites with a new address; return the number of pages."""
    return sum(_step(runtime, site) for site in _MOVED.find(runtime, _MOST_SITES))


def _step(runtime: Runtime, site: ContentSite) -> int:
    """Note updates for a site's next pages and store the progress; return the number of updates."""
    most, noted = runtime.bounds.content.moved_at_once, site["new_address"]
    rows, site_id = NODES.of(runtime.database), site["_id"]
    behind = {"site": site_id, "_id": {"$gt": noted["after"]}}
    ids = [each["_id"] for each in rows.find(behind, {"_id": 1}).sort("_id").limit(most)]
    # Due at once: a step sends no messages, the sweep does.
    telling: Telling = {**discussions.note(runtime), "due": runtime.now()}
    pages = {"site": site_id, "_id": {"$in": ids}, "discussion": {"$ne": None}}
    changed = rows.update_many(pages, {"$set": {"telling": telling}})
    progress: Document = {"$unset": {"new_address": ""}}
    if len(ids) == most:
        following: NewAddress = {"after": ids[-1], "due": runtime.now()}
        progress = {"$set": {"new_address": following}}
    # If the site's address has changed again since the read, this changes nothing: the updates
    # begin again at the first page.
    as_read = {"new_address.after": noted["after"], "new_address.due": noted["due"]}
    SITES.of(runtime.database).update_one({"_id": site_id, **as_read}, progress)
    return changed.matched_count

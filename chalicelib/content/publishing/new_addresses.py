"""New addresses of whole sites: the discussions of their pages follow, in steps of the schedule.

A step notes an update of some pages' discussions, and then its progress. A crash in between repeats
the step, which does no harm.
"""

from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import discussions
from chalicelib.content.settings import SITES
from chalicelib.content.shapes import ContentSite, NewAddress, Telling
from chalicelib.database import Document
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import Runtime

_MOVED = Sweep(SITES, "new_address.due", fields={"new_address": 1})
# Sites of a run, a step each.
_MOST_SITES = 20


def note_updates(runtime: Runtime) -> int:
    """Note updates of discussions for sites with a new address; return the number of pages."""
    return sum(_step(runtime, site) for site in _MOVED.find(runtime, _MOST_SITES))


def _step(runtime: Runtime, site: ContentSite) -> int:
    """Note updates for the next pages of a site, and the progress; return their number."""
    most, noted = runtime.bounds.content.moved_at_once, site["new_address"]
    rows, site_id = NODES.of(runtime.database), site["_id"]
    behind = {"site": site_id, "_id": {"$gt": noted["after"]}}
    ids = [each["_id"] for each in rows.find(behind, {"_id": 1}).sort("_id").limit(most)]
    # No message is on its way: the sweep sends it.
    telling: Telling = {**discussions.note(runtime), "due": runtime.now()}
    pages = {"site": site_id, "_id": {"$in": ids}, "discussion": {"$ne": None}}
    changed = rows.update_many(pages, {"$set": {"telling": telling}})
    progress: Document = {"$unset": {"new_address": ""}}
    if len(ids) == most:
        following: NewAddress = {"after": ids[-1], "due": runtime.now()}
        progress = {"$set": {"new_address": following}}
    # Another address since then begins from the first page.
    as_read = {"new_address.after": noted["after"], "new_address.due": noted["due"]}
    SITES.of(runtime.database).update_one({"_id": site_id, **as_read}, progress)
    return changed.matched_count

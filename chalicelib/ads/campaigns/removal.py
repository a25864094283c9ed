"""Deletion of campaigns: out of the zones at once, finished after the last charge.

    any status --delete--> deleting --finish, after the grace and the last lease--> deleted

`delete` changes the status, the rows and the creatives in one transaction. A `deleting` campaign
still pays its promises like a paused campaign: impressions from open leases, and clicks. `finish`
is idempotent: it takes back the available money, and empties the targets and ad units. The campaign
document, ledger, reports, events and settlements stay for good as the record of its money. They
contain the campaign's id, so no later campaign may have this id. Only a draft that was never active
has no such record, and leaves no trace.
"""

from datetime import datetime, timedelta

import pymongo
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import balances
from chalicelib.ads.budgets.leases import LEASES
from chalicelib.ads.inventory import campaigns, creatives, former, placing
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem
from chalicelib.observability.logs import log

# Deletions that one run finishes, and the longest time of a deletion.
MAX_FINISHED = 500
FINISH_TIMEOUT_SECONDS = 2


def delete(database: Database[Document], campaign_id: str, now: datetime) -> None:
    """Delete a campaign; a deleted or missing campaign is no error."""
    this = {"_id": campaign_id}

    def work(session: ClientSession) -> None:
        before = CAMPAIGNS.of(database).find_one(this, session=session)
        if before is None or before["status"] in campaigns.GONE:
            return
        if before["status"] == "draft" and "balance" not in before:
            CAMPAIGNS.of(database).delete_one(this, session=session)
        else:
            mark = {
                "$set": {"status": "deleting", "deleted_at": now},
                "$unset": {"by": "", "made": "", "notes": ""},
            }
            CAMPAIGNS.of(database).update_one(this, mark, session=session)
            placing.clear(database, session, campaign_id)
        creatives.follow(database, session, before, {"_id": campaign_id, "ad_units": []})
        former.keep(database, session, before, (), now)

    in_transaction(database, work)


def finish(database: Database[Document], grace: timedelta, now: datetime) -> int:
    """Finish the deletions older than `grace` without open leases; return the number finished.

    A late run does no harm, and two runs at once finish each deletion once.
    """
    due = {"status": "deleting", "deleted_at": {"$lte": now - grace}}
    found = CAMPAIGNS.of(database).find(due, {"_id": 1}).limit(MAX_FINISHED)
    return sum(_finish(database, campaign["_id"], now) for campaign in list(found))


def _finish(database: Database[Document], campaign_id: str, now: datetime) -> bool:
    def work(session: ClientSession) -> bool:
        this = {"_id": campaign_id, "status": "deleting"}
        campaign = CAMPAIGNS.of(database).find_one(this, session=session)
        opened = {"campaign_id": campaign_id, "state": "open"}
        if campaign is None or LEASES.of(database).find_one(opened, session=session):
            return False
        emptied = {"status": "deleted", "targets": [], "ad_units": []}
        CAMPAIGNS.of(database).update_one(this, {"$set": emptied}, session=session)
        campaign["status"] = "deleted"
        balances.bring_up_to_date(database, session, campaign, now)
        return True

    try:
        with pymongo.timeout(FINISH_TIMEOUT_SECONDS):
            return in_transaction(database, work)
    except Problem as problem:
        fields = {"campaign_id": campaign_id, "reason": problem.code}
        log.warning("deletion not finished", extra={"fields": fields})
        return False

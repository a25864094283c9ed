"""Notifications to the makers of campaigns: money has run out, or a flight has ended.

The write that changes a campaign also adds a note (`notes`), so that a crash loses no notification.
"""

from collections.abc import Mapping, Sequence

from chalicelib.ads.inventory.campaigns import CAMPAIGNS, NOTED, CampaignNote, Status
from chalicelib.identity import Principal
from chalicelib.notifications import events, groups
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.inbox import ShownThing
from chalicelib.notifications.rows import Kind, NotificationItem
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE

# Campaigns of one run; the next run goes on.
MOST_AT_ONCE = 500
# The inbox shows a notification only while the campaign has this status.
_TRUE_IN: Mapping[Kind, Status] = {
    "campaign.exhausted": "exhausted",
    "campaign.unfunded": "exhausted",
    "campaign.ended": "ended",
}


def notify_due(runtime: Runtime) -> int:
    """Notify the makers of campaigns with notes; return the number of campaigns.

    After a crash before the notes' removal, the next run repeats the events; no maker gets two
    notifications.
    """
    rows, read_at = CAMPAIGNS.of(runtime.database), runtime.now()
    noted = list(rows.find(NOTED, {"notes": 1, "by": 1}).limit(MOST_AT_ONCE))
    for campaign in noted:
        for note in campaign["notes"]:
            if maker := campaign.get("by"):
                events.agree(runtime, _event(campaign["_id"], note, maker), read_at)
        told = {"notes": {"$in": campaign["notes"]}}
        rows.update_one({"_id": campaign["_id"]}, {"$pull": told})
    return len(noted)


def _event(campaign_id: str, note: CampaignNote, maker: str) -> NotificationEvent:
    kind, at = note["kind"], note["at"]
    return NotificationEvent(
        key=f"{kind}/{campaign_id}/{at.isoformat()}",
        # A campaign belongs to no site.
        site=DEFAULT_SITE,
        thing=campaign_id,
        by="",
        at=at,
        recipients={maker: kind},
        # `show` hides the notification if the campaign goes on.
        is_new=True,
        # Payments in small sums run out often: group these notifications.
        group=groups.group_of(kind, campaign_id, at),
    )


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the reader's campaigns that still have the notified status, by item id."""
    ids = sorted({each["thing"] for each in items})
    own = {"by": reader.id}
    found = CAMPAIGNS.of(runtime.database).find({"_id": {"$in": ids}, **own}, {"status": 1})
    states = {each["_id"]: each["status"] for each in found}
    return {
        item["_id"]: ShownThing("", "", item["thing"], item["thing"], "", "")
        for item in items
        if states.get(item["thing"], "") == _TRUE_IN.get(item["kind"])
    }

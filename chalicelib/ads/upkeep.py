"""What the ad network's schedules do; every part may run twice at once, or miss a run."""

from datetime import datetime, timedelta
from typing import Any

from chalicelib.ads import budgets, leases, reconciling, rolling, settlements, transfers
from chalicelib.runtime import Runtime


def tend(runtime: Runtime) -> dict[str, int]:
    """Finish transfers, end leases, release budgets; return how many of each.

    The budgets last: there are as many as campaigns, and a run's time may not suffice for them.
    """
    database, now = runtime.database, runtime.now()
    grace = timedelta(seconds=runtime.settings.beacon_grace_seconds)
    return {
        **transfers.clean_up(database, now),
        "leases_ended": leases.end_expired(database, grace, now),
        "campaigns_refreshed": budgets.refresh_all(database, now),
    }


def roll_up(runtime: Runtime) -> dict[str, int]:
    """Bring the reports of longer periods up to date; return how many of each."""
    return rolling.roll_up(runtime.database, runtime.now())


def settle(runtime: Runtime) -> dict[str, int]:
    """Pay sites and network what the days that are over have earned."""
    return settlements.settle(runtime.database, runtime.now())


def reconcile(runtime: Runtime, campaign_id: str, start: str, end: str) -> dict[str, Any]:
    """Return `{differences, ledger}` of a campaign, between two instants in ISO form.

    `differences` are those of its reports from its events, `ledger` those of its balances
    from the ledger; both are to be nothing.
    """
    span = datetime.fromisoformat(start), datetime.fromisoformat(end)
    differences = reconciling.reconcile(runtime.database, campaign_id, *span)
    return {
        "differences": [{**each, "period": each["period"].isoformat()} for each in differences],
        "ledger": budgets.audit(runtime.database, campaign_id),
    }

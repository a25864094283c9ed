"""Scheduled jobs of the ad network; a job may run twice, or not at all."""

from datetime import datetime, timedelta
from typing import Any

from chalicelib import deadlines
from chalicelib.ads.billing import funds, settlements, transfers
from chalicelib.ads.budgets import audit, exhaustion, leases
from chalicelib.ads.campaigns import lifecycle, notifications, removal
from chalicelib.ads.inventory import click_rates, refilling, repricing
from chalicelib.ads.reports import roll_ups
from chalicelib.ads.tracking import reconciliation
from chalicelib.ads.visitors import profiles
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.runtime import Runtime


def run_minute(runtime: Runtime) -> dict[str, int]:
    """Finish transfers, leases and deletions, refill zones, release budgets; return the counts.

    The budgets come last: each campaign has one, and a run may end before it has refreshed all.
    """
    database, now = runtime.database, runtime.now()
    grace = timedelta(seconds=runtime.settings.beacon_grace_seconds)
    prepaid = runtime.settings.prepayment
    steps: dict[str, Step] = {
        "transfers": lambda _: transfers.clean_up(database, now),
        "advertisers_bounded": lambda _: funds.bound_spending(database, now) if prepaid else 0,
        "campaigns_taken_back": lambda _: funds.take_back(database, now),
        "leases_ended": lambda _: leases.end_expired(database, grace, now),
        "campaigns_deleted": lambda _: removal.finish(database, grace, now),
        "campaigns_told": notifications.notify_due,
        "zones_entered": _refill,
        "campaigns_refreshed": lambda _: exhaustion.refresh_all(database, now, runtime.random),
    }
    return run_steps(runtime, steps)


def _refill(runtime: Runtime) -> int:
    # More than `refilling.TIME_SHARE`, so that the run's last read usually ends in time.
    with deadlines.within(0.5):
        return refilling.refill(runtime.database, runtime.random)


def roll_up(runtime: Runtime) -> dict[str, int]:
    """Update the reports of longer periods; return the number of each."""
    return roll_ups.roll_up(runtime.database, runtime.now())


def settle(runtime: Runtime) -> dict[str, int]:
    """Pay the recorded debts and record new debts; return the numbers as `paid` and `owed`."""
    return settlements.settle(runtime)


def recount_funds(runtime: Runtime) -> dict[str, int]:
    """Count the commitments of accounts with credit lines again; return the number of accounts."""
    return {"funds_counted": funds.recount(runtime.database, runtime.now())}


def end_flights(runtime: Runtime) -> dict[str, int]:
    """End the campaigns whose flight is over; return their number."""
    return {"campaigns": lifecycle.end_flights(runtime)}


def reprice_zones(runtime: Runtime) -> dict[str, int]:
    """Estimate click rates, and rank the ads of zones by them; return the number of zones."""
    steps: dict[str, Step] = {
        "rates": _estimate_rates,
        "zones": repricing.reprice,
    }
    return run_steps(runtime, steps)


def _estimate_rates(runtime: Runtime) -> None:
    with deadlines.within(0.5):
        click_rates.estimate(runtime.database, runtime.now())


def trim_profiles(runtime: Runtime) -> dict[str, int]:
    """Trim the profiles of visitors; return the number of changed profiles."""
    return {"profiles": profiles.trim(runtime.database, runtime.now())}


def reconcile(runtime: Runtime, campaign_id: str, start: str, end: str) -> dict[str, Any]:
    """Return `{differences, ledger}` of a campaign; `start` and `end`: UTC midnights in ISO form.

    `differences`: between the campaign's reports and its events from `start` to `end`; empty:
    none. `ledger`: each balance now, minus its sum in the ledger; 0 if they agree.
    """
    span = datetime.fromisoformat(start), datetime.fromisoformat(end)
    differences = reconciliation.reconcile(runtime.database, campaign_id, *span)
    return {
        "differences": [{**each, "period": each["period"].isoformat()} for each in differences],
        "ledger": audit.audit(runtime.database, campaign_id),
    }

"""What the ad network's schedules do; every part may run twice at once, or miss a run."""

from datetime import timedelta

from chalicelib.ads import budgets, leases, transfers
from chalicelib.runtime import Runtime


def tend(runtime: Runtime) -> dict[str, int]:
    """End leases, release budgets, finish transfers; return how many of each."""
    database, now = runtime.database, runtime.now()
    grace = timedelta(seconds=runtime.settings.beacon_grace_seconds)
    return {
        "leases_ended": leases.end_expired(database, grace, now),
        "campaigns_refreshed": budgets.refresh_all(database, now),
        **transfers.clean_up(database, now),
    }

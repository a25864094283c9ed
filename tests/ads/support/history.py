"""A campaign with a history: paid impressions over the bounds of days, weeks, months and years."""

from datetime import UTC, datetime, timedelta

from chalicelib.ads.budgets.leases import Terms, acquire
from chalicelib.ads.reports import roll_ups
from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE, SPRING, click, count, impression
from tests.ads.support.factories import activate, add_zones, put_campaign

DAY = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
# The last days of a month, of a week and of a year, on both sides.
TIMES = [
    DAY - 61 * 24 * HOUR,
    DAY - 60 * 24 * HOUR,
    DAY - MINUTE,
    DAY,
    DAY + 59 * MINUTE,
    DAY + HOUR,
    DAY + 23 * HOUR + 59 * MINUTE,
    DAY + 24 * HOUR,
    DAY + 31 * 24 * HOUR,
]


def make_history(runtime: Runtime) -> Runtime:
    """Count paid impressions at many times, in two zones, of three ad units; and a click."""
    add_zones(runtime, "blog/banner", "blog/side")
    put_campaign(runtime, SPRING, budget={"total_micros": 500 * PRICE})
    activate(runtime, SPRING)
    terms = Terms(50, HOUR)
    lease = acquire(runtime.database, SPRING, terms, runtime.now(), runtime.random)
    assert lease
    for number, ts in enumerate(TIMES):
        place = {"zone_id": "banner" if number % 2 else "side", "ad_unit_id": f"unit-{number % 3}"}
        count(runtime, impression(number, lease["_id"], ts, **place))
    count(runtime, click(1, DAY, campaign_id=SPRING, price_micros=0))
    roll_ups.roll_up(runtime.database, runtime.now())
    return runtime

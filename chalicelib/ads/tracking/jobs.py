"""The worker of ad events; a batch may come twice."""

from typing import Any

from chalicelib.ads.tracking import counting, events
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime


def count_ad_events(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Count and bill a batch of events."""

    def handle(batch: list[events.AdEvent]) -> None:
        counting.count_and_bill(runtime, batch)

    return consume_together(event, events.AD_EVENT, handle)

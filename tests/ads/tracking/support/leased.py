"""Leases of the spring campaign, and what it spent."""

from datetime import timedelta

from chalicelib.ads.budgets import leases
from chalicelib.ads.budgets.leases import Terms
from chalicelib.runtime import Runtime
from tests.ads.support.events import SPRING


def lease(runtime: Runtime, impressions: int) -> str:
    terms = Terms(impressions, timedelta(minutes=1))
    acquired = leases.acquire(runtime.database, SPRING, terms, runtime.now(), runtime.random)
    assert acquired
    return str(acquired["_id"])

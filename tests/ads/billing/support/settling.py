"""Runs of the settlement."""

from chalicelib.ads.billing import settlements
from chalicelib.runtime import Runtime


def settle(runtime: Runtime) -> None:
    """Record the earnings of past days, and pay them: a run pays what an earlier one recorded."""
    for _ in range(2):
        settlements.settle(runtime)

"""The interval of a click rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads.reports.routes import wilson_interval


@pytest.mark.parametrize(
    ("clicks", "impressions", "low", "high"),
    [(0, 10, 0.0, 0.2775), (1, 10, 0.0179, 0.4042), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)],
)
def test_the_interval_is_wilson_s(clicks: int, impressions: int, low: float, high: float) -> None:
    # Values by R: prop.test(clicks, impressions, correct = FALSE).
    assert wilson_interval(clicks, impressions) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_interval_holds_the_rate_and_lies_within_0_and_1(clicks: int, impressions: int) -> None:
    interval = wilson_interval(clicks, impressions)

    if impressions == 0:
        assert interval is None
        return
    assert interval
    rate = min(clicks / impressions, 1)
    assert 0 <= interval.low <= rate + 1e-12
    assert rate - 1e-12 <= interval.high <= 1

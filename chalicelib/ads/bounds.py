"""Bounds of campaigns and zones."""

from typing import Annotated

from pydantic import (
    Field,
)

# One impression of a CPM ad costs a thousandth of its bid, and money is whole micros.
CPM_BID_STEP_MICROS = 1_000


# Nine million currency units: a few hundred euros in the weakest currencies. A zone's floor may be
# 1,000 times this, which is below 2^53, so JavaScript reads the floor exactly.
MAX_BID_MICROS = 9 * 10**12


MAX_BUDGET_MICROS = 10**15


DAY_SECONDS = 24 * 60 * 60


MAX_WINDOW_SECONDS = 30 * DAY_SECONDS


MAX_CAP_LIMIT = 50


# This bound and the bounds on keywords and inline creatives limit a zone's 5,000 rows to
# MongoDB's 16 MiB a document.
MAX_CAPS = 6


MAX_TARGETS = 1_000


MAX_AD_UNITS = 50


# Ad units times targets: the rows of one transaction, 16 MB at the largest.
MAX_ROWS = 5_000


Micros = Annotated[int, Field(ge=1, le=MAX_BUDGET_MICROS)]
# Bytes of a campaign's request: up to fifty ad units, each with its creative.
CAMPAIGN_BYTES = 1_000_000

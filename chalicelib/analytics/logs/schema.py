"""The logs' collections, for the schema and for upkeep."""

from chalicelib.analytics.logs.capped import CAPPED
from chalicelib.analytics.logs.expiring import EVENTS
from chalicelib.analytics.logs.receipts import RECEIPTS
from chalicelib.analytics.logs.rotating import DAILY_EVENTS
from chalicelib.analytics.logs.timeseries import SERIES

__all__ = ["CAPPED", "DAILY_EVENTS", "EVENTS", "RECEIPTS", "SERIES"]

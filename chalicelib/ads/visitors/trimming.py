"""Trimming visitor profiles to what caps can still ask for."""

from datetime import datetime

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.ads.visitors.histories import LISTS
from chalicelib.ads.visitors.profiles import (
    DAY_MS,
    ERASURE_KEPT,
    KEPT,
    KEPT_MS,
    PROFILES,
    advertiser_count,
)
from chalicelib.database import Document

# Profiles that one write trims, and the writes of one run.
TRIM_BATCH = 500
MAX_TRIM_BATCHES = 100


def trim(database: Database[Document], now: datetime, batch: int = TRIM_BATCH) -> int:
    """Drop the events that no cap's window reaches any more; return how many profiles changed.

    Each profile says when its oldest event expires, so the others are not read; one of a busy
    visitor is trimmed once a day. Safe to run twice at once, and to miss a run.
    """
    profiles, trimmed = PROFILES.of(database), 0
    forgotten = {"erased_at": {"$lte": now - ERASURE_KEPT}, "advertiser_count": 0}
    profiles.delete_many({"trim_at": {"$lte": now}, **forgotten})
    for _ in range(MAX_TRIM_BATCHES):
        due = profiles.find({"trim_at": {"$lte": now}}, {"_id": 1})
        ids = [profile["_id"] for profile in due.sort("trim_at", ASCENDING).limit(batch)]
        if not ids:
            break
        result = profiles.update_many(
            {"_id": {"$in": ids}, "trim_at": {"$lte": now}}, _trimming(now)
        )
        trimmed += result.modified_count
    return trimmed


def _trimming(now: datetime) -> list[Document]:
    """Return the update that drops old events, and advertisers without events."""
    kept = {
        name: {
            "$filter": {
                "input": {"$ifNull": [f"$$each.v.{name}", []]},
                "cond": {"$gt": ["$$this.ts", now - KEPT]},
            }
        }
        for name in LISTS.values()
    }
    times = {"$concatArrays": [f"$$this.v.{name}.ts" for name in LISTS.values()]}
    histories = {
        "$map": {
            "input": {"$objectToArray": "$advertisers"},
            "as": "each",
            "in": {"k": "$$each.k", "v": kept},
        }
    }
    remaining = {"$filter": {"input": histories, "cond": {"$ne": [times, []]}}}
    oldest = {
        "$min": {
            "$map": {
                "input": {"$objectToArray": "$advertisers"},
                "as": "this",
                "in": {"$min": times},
            }
        }
    }
    next_time = {"$max": [{"$add": [oldest, KEPT_MS]}, {"$add": [now, DAY_MS]}]}
    is_empty = {"$eq": ["$advertiser_count", 0]}
    return [
        {"$set": {"advertisers": {"$arrayToObject": remaining}}},
        {"$set": {"advertiser_count": advertiser_count()}},
        {"$set": {"trim_at": {"$cond": [is_empty, "$$REMOVE", next_time]}}},
    ]

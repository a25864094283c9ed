"""Profiles of the tests' visitors."""

import random
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.ads.visitors import histories, profiles
from chalicelib.ads.visitors.histories import Entry
from chalicelib.ads.visitors.profiles import PROFILES, raw_profiles
from chalicelib.database import Document
from tests.ads.serving.support.zones import event
from tests.support.clock import START


def entry(ts: datetime = START, slot: int = 0) -> Any:
    return {**event(ts), "site_id": "blog", "zone_id": "banner", "slot": slot}


def add(
    database: Database[Document], *impressions: tuple[str, Entry], visitor: str = "ann"
) -> bool:
    """Record impressions on the profile as it is now."""
    names = {advertiser for advertiser, _ in impressions}
    profile = histories.read(raw_profiles(database), visitor, names)
    return profiles.record(database, visitor, profile, impressions, str(random.random()))


def stored(database: Database[Document], visitor: str = "ann") -> Document:
    found = database[PROFILES.name].find_one({"_id": visitor})
    assert found is not None
    return found


def times(database: Database[Document], advertiser: str = "x") -> list[datetime]:
    return [each["ts"] for each in stored(database)["advertisers"][advertiser]["impressions"]]

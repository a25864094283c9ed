"""Which ad to show: pure functions over a zone, the time and injected randomness."""

import random
from datetime import datetime
from itertools import groupby

from chalicelib.database import Document


def choose(zone: Document, now: datetime, rng: random.Random) -> Document | None:
    """Return a random one of the best-paying ads that may be shown now, or None.

    The zone's ads stand in descending eCPM. An ad may be shown within its flight, and at or
    above the zone's floor. Source: "MongoDB Applied Design Patterns", ch. 7, design 1.
    """
    floor = zone["floor_ecpm_micros"]
    showable = (
        ad for ad in zone["ads"] if ad["ecpm_micros"] >= floor and ad["start"] <= now < ad["end"]
    )
    _, best = next(groupby(showable, key=lambda ad: ad["ecpm_micros"]), (0, ()))
    group: list[Document] = list(best)
    return rng.choice(group) if group else None

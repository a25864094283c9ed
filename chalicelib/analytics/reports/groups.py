"""A batch's hits in groups that no report tells apart but by the minute and the visitor.

What a report asks of a hit is worked out once a group and not once a hit: a batch of hundreds of
hits is of a few pages.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from chalicelib.analytics.hits import StoredHit
from chalicelib.analytics.reports.days import Counted, Minutes, Place, field_of, places_of


class Group:
    """Hits of one day that count for the same places, as the same field."""

    __slots__ = ("field", "minutes", "networks", "places", "visits")

    def __init__(self, hit: StoredHit) -> None:
        self.field = field_of(hit)
        self.places: Sequence[Place] = places_of(hit)
        self.minutes: Minutes = {}
        self.networks: set[str] = set()
        # When each visitor came; bots and feed readers are none.
        self.visits: list[tuple[str, datetime]] = []


def grouped(hits: Iterable[StoredHit], networks: Mapping[str, str]) -> list[Group]:
    """Return hits in their groups; `networks` are those that they came from, by id."""
    groups: dict[tuple[Any, ...], Group] = {}
    for hit in hits:
        ts, get = hit["ts"], hit.get
        key = (
            hit["site"],
            hit["path"],
            hit["kind"],
            get("ref"),
            get("campaign"),
            get("device"),
            get("country"),
            ts.toordinal(),
        )
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(hit)
        minute = 60 * ts.hour + ts.minute
        group.minutes[minute] = group.minutes.get(minute, 0) + 1
        group.networks.add(networks[hit["_id"]])
        if group.field == "hits" and "visitor" in hit:
            group.visits.append((hit["visitor"], ts))
    return list(groups.values())


def counted_of(groups: Iterable[Group]) -> Counted:
    """Return what the groups' hits add to each place."""
    counted: Counted = {}
    for group in groups:
        for place in group.places:
            minutes = counted.setdefault(place, {}).setdefault(group.field, {})
            for minute, number in group.minutes.items():
                minutes[minute] = minutes.get(minute, 0) + number
    return counted

"""Taking a path out of a site's reports: spam, or a page that was counted by mistake."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.hits import WHOLE_SITE
from chalicelib.analytics.reports.days import DAYS
from chalicelib.database import Document, in_transaction

_COUNTED = ("hits", "bots", "feeds", "hours", "minutes", "quarters")


def remove(database: Database[Document], site: str, path: str) -> None:
    """Delete a path's days, and take its hits out of the site's whole, a day at a time.

    The site's visitors stay, since they may have read other pages too, and so do its sources, which
    are not counted by page.
    """
    rows = DAYS.of(database)
    days = {row["day"] for row in rows.find({"site": site, "path": path}, {"day": 1})}
    for day in sorted(days):
        _remove_day(database, site, path, day)


def _remove_day(database: Database[Document], site: str, path: str, day: datetime) -> None:
    rows = DAYS.of(database)
    own = {"site": site, "path": path, "day": day}

    def work(session: ClientSession) -> None:
        # A path's document and the site's of one shard were written in the same transactions.
        operations = [
            UpdateOne(
                {"site": site, "path": WHOLE_SITE, "day": day, "_id": _whole_id(row)},
                {"$inc": dict(_negated(row))},
            )
            for row in rows.find(own, session=session)
        ]
        if operations:
            rows.bulk_write(operations, ordered=False, session=session)
            rows.delete_many(own, session=session)

    in_transaction(database, work)


def _whole_id(row: Mapping[str, Any]) -> str:
    return f"{row['site']}/{WHOLE_SITE}/{row['day']:%Y%m%d}/{row['shard']}"


def _negated(row: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Give what is taken out for a document: each of its numbers but the visitors."""
    for name in _COUNTED:
        yield from _leaves(name, row.get(name, 0))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(f"{path}.{name}", part)
    elif value and not path.endswith(".visitors"):
        yield path, -value

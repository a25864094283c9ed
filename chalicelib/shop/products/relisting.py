"""Listing products where they belong, after their categories were moved or removed.

A product is written with what was above its categories then. A move of categories notes a job with
itself, which corrects the products below the moved one; again 20 minutes later, when every request
that had read the former tree has ended.
"""

from collections.abc import Iterable, Iterator
from typing import TypedDict, get_args

from pymongo import UpdateOne
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.products.rows import PRODUCTS, State, under
from chalicelib.shop.tree import reading
from chalicelib.shop.tree.messages import Relist

_AT_ONCE = 500
_FIELDS = {"site": 1, "type": 1, "version": 1, "categories": 1, "under": 1, "tags": 1}


class _Listed(TypedDict):
    _id: str
    site: str
    type: str
    version: int
    categories: list[str]
    under: list[str]
    tags: list[str]


def relist(runtime: Runtime, job: Relist) -> None:
    """Correct every product that is listed under a category; a removed one is taken from them.

    It writes only what differs, so a run that was cut off is continued by the next.
    """
    # Every state, so that the index serves it.
    states = {"$in": list(get_args(State))}
    wanted = {"site": job.site, "state": states, "under": job.category}
    rows = PRODUCTS.read_as(_Listed, runtime.database).find(wanted, _FIELDS, batch_size=_AT_ONCE)
    for products in _batches(rows):
        changes = list(_corrections(runtime.database, job.site, products))
        if changes:
            PRODUCTS.of(runtime.database).bulk_write(changes, ordered=False)


def _batches(rows: Iterable[_Listed]) -> Iterator[list[_Listed]]:
    batch: list[_Listed] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    yield batch


def _corrections(
    database: Database[Document], site: str, products: list[_Listed]
) -> Iterator[UpdateOne]:
    """Yield the update of each product that is not listed where it belongs.

    A product that is written meanwhile has another version, and what its writer has read.
    """
    named = list({name for each in products for name in each["categories"]})
    above = reading.places_above(database, site, named)
    for each in products:
        present = [name for name in each["categories"] if key_of(site, name) in above]
        places = under(each["type"], each["tags"], _lines(site, present, above))
        change: Document = {}
        if places != each["under"]:
            change["$set"] = {"under": places}
        if present != each["categories"]:
            # What its publisher has read has changed.
            change["$set"] = {"under": places, "categories": present}
            change["$inc"] = {"version": 1}
        if change:
            where = {"_id": each["_id"], "site": site, "version": each["version"]}
            yield UpdateOne(where, change)


def _lines(site: str, categories: list[str], above: dict[str, list[str]]) -> list[list[str]]:
    return [[*map(name_of, above[key_of(site, category)]), category] for category in categories]

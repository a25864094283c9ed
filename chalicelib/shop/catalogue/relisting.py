"""Listing products where they belong, after their categories were moved or removed.

A product is written with what was above its categories then. A move of categories notes a job with
itself, which corrects the products below the moved one; again 20 minutes later, when every request
that had read the former tree has ended.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict, get_args

from pymongo import UpdateMany, UpdateOne
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue.rows import PRODUCTS, State, under, under_of_stored
from chalicelib.shop.categories import reading
from chalicelib.shop.categories.messages import Relist
from chalicelib.shop.ids import key_of, name_of

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
) -> Iterator[UpdateMany | UpdateOne]:
    """Yield the updates of the products that are not listed where they belong."""
    named = list({name for each in products for name in each["categories"]})
    above = reading.places_above(database, site, named)
    moved: dict[tuple[str, ...], list[str]] = {}
    for each in products:
        present = [name for name in each["categories"] if key_of(site, name) in above]
        lines = _lines(site, present, above)
        if present != each["categories"]:
            yield _without_removed(each, present, under(each["type"], each["tags"], lines))
        elif under(each["type"], each["tags"], lines) != each["under"]:
            moved.setdefault(tuple(present), []).append(each["_id"])
    for categories, ids in moved.items():
        yield _elsewhere(site, categories, ids, _lines(site, categories, above))


def _elsewhere(
    site: str, categories: Sequence[str], ids: list[str], lines: list[list[str]]
) -> UpdateMany:
    """Return the update of products with the same categories: one for all of a batch.

    One for each product took three times as long. Somebody who writes a product meanwhile has read
    the tree, too; whoever has read the older one, it is corrected by the job's second run.
    """
    where = {"site": site, "_id": {"$in": ids}, "categories": list(categories)}
    return UpdateMany(where, [{"$set": {"under": under_of_stored(lines)}}])


def _without_removed(product: _Listed, present: list[str], places: list[str]) -> UpdateOne:
    """Return the update of a product that loses a category: what its publisher has read changes.

    A product that is written meanwhile has another version, and what its writer has read.
    """
    where = {"_id": product["_id"], "site": product["site"], "version": product["version"]}
    change = {"under": places, "categories": present}
    return UpdateOne(where, {"$set": change, "$inc": {"version": 1}})


def _lines(site: str, categories: Sequence[str], above: dict[str, list[str]]) -> list[list[str]]:
    return [[*map(name_of, above[key_of(site, category)]), category] for category in categories]

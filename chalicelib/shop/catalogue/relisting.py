"""Relisting of products after a move or removal of their categories.

A write of a product stores the ancestors of its categories. A move stores a job in its transaction.
The job corrects the products below the moved category, and runs again 20 minutes later, after the
end of every request that read the former tree.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict, get_args

from pymongo import UpdateMany, UpdateOne
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue.rows import PRODUCTS, State, under, under_expression
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
    """Correct the places of every product under a category, and drop removed categories.

    It writes only differences, so the next run continues an interrupted run.
    """
    # All states, so that the query can use the index.
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
    """Yield the updates of the products with wrong places or removed categories."""
    named = list({name for each in products for name in each["categories"]})
    above = reading.places_above(database, site, named)
    moved: dict[tuple[str, ...], list[str]] = {}
    for each in products:
        present = [name for name in each["categories"] if key_of(site, name) in above]
        lines = _lines(site, present, above)
        if present != each["categories"]:
            yield _drop_removed(each, present, under(each["type"], each["tags"], lines))
        elif under(each["type"], each["tags"], lines) != each["under"]:
            moved.setdefault(tuple(present), []).append(each["_id"])
    for categories, ids in moved.items():
        yield _elsewhere(site, categories, ids, _lines(site, categories, above))


def _elsewhere(
    site: str, categories: Sequence[str], ids: list[str], lines: list[list[str]]
) -> UpdateMany:
    """Return a single update for all products of a batch with the same categories.

    An update for each product took three times as long. If a write has changed a product's
    categories meanwhile, the update does not match; that write has set the places. If it read the
    former tree, the job's second run corrects the product.
    """
    where = {"site": site, "_id": {"$in": ids}, "categories": list(categories)}
    return UpdateMany(where, [{"$set": {"under": under_expression(lines)}}])


def _drop_removed(product: _Listed, present: list[str], places: list[str]) -> UpdateOne:
    """Return the update of a product that loses a category, under its version.

    The version rises, because the publisher's copy is out of date. A product written meanwhile has
    another version and stays.
    """
    where = {"_id": product["_id"], "site": product["site"], "version": product["version"]}
    change = {"under": places, "categories": present}
    return UpdateOne(where, {"$set": change, "$inc": {"version": 1}})


def _lines(site: str, categories: Sequence[str], above: dict[str, list[str]]) -> list[list[str]]:
    return [[*map(name_of, above[key_of(site, category)]), category] for category in categories]

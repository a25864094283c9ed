"""New derived fields for products of earlier releases, and the count of their assets.

Products of release 0.3.0 lack `search_rules`, `higher_micros` and `counts_assets`.
"""

from datetime import timedelta

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.assets import uses
from chalicelib.database import in_transaction
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue.layouts import details_of
from chalicelib.shop.catalogue.prices import least_and_higher
from chalicelib.shop.catalogue.rows import PRODUCTS, WITH_ASSETS, Product
from chalicelib.shop.catalogue.writing import tokens_of
from chalicelib.words import RULES

_AT_ONCE = 500
# A run begins no batch after this time: it refreshes about 20,000 products.
_TIME = timedelta(seconds=20)


def refresh(runtime: Runtime) -> int:
    """Derive the fields of products anew, as many as a run has time for; return their number."""
    rows, until = PRODUCTS.of(runtime.database), runtime.now() + _TIME
    former, made = {"search_rules": {"$ne": RULES}}, 0
    while batch := list(rows.find(former).limit(_AT_ONCE)):
        written = rows.bulk_write([_update(each) for each in batch], ordered=False)
        made += written.matched_count
        if runtime.now() >= until or not written.matched_count:
            break
    return made


def _update(product: Product) -> UpdateOne:
    """Return the update of a product's derived fields; after another write it matches nothing."""
    details = details_of(product)
    found = tokens_of(product["title"], product["tags"], details, product["text"])
    prices = least_and_higher(each["price_micros"] for each in product["skus"])
    where = {"_id": product["_id"], "site": product["site"], "version": product["version"]}
    return UpdateOne(where, {"$set": {"search": found, "search_rules": RULES, **prices}})


def count_assets(runtime: Runtime) -> int:
    """Count the assets of products of earlier releases as used; return the number of products.

    Handles as many as a run has time for. A missing asset does not count.
    """
    rows, until, done = PRODUCTS.of(runtime.database), runtime.now() + _TIME, 0
    for product in rows.find({**WITH_ASSETS, "counts_assets": None}).limit(_AT_ONCE):
        if runtime.now() >= until:
            break
        done += _count_assets(runtime, product)
    return done


def _count_assets(runtime: Runtime, product: Product) -> bool:
    """Count the assets of a product; return False if another write has done so."""
    gone = uses.find_missing(runtime.database, product["assets"])
    this = {
        "_id": product["_id"],
        "site": product["site"],
        "version": product["version"],
        "counts_assets": None,
    }

    def work(session: ClientSession) -> bool:
        rows = PRODUCTS.of(runtime.database)
        counted = {"$set": {"counts_assets": True}}
        if not rows.update_one(this, counted, session=session).matched_count:
            return False
        uses.use(runtime.database, session, sorted({*product["assets"]} - {*gone}))
        return True

    return in_transaction(runtime.database, work)

"""New derived fields for products with tokens by the rules of an earlier release.

Products of release 0.3.0 lack `search_rules`, and also `higher_micros`.
"""

from datetime import timedelta

from pymongo import UpdateOne

from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue.layouts import details_of
from chalicelib.shop.catalogue.prices import least_and_higher
from chalicelib.shop.catalogue.rows import PRODUCTS, Product
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

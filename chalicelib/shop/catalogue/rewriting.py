"""A shop's change to another layout: a job rewrites the products in the background.

Each product stores its layout, and lists query both layouts until all products are rewritten. The
job runs again 20 minutes later: a request may still have written a product in the former layout.
"""

from collections.abc import Iterable, Iterator

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.database import in_transaction
from chalicelib.errors import Unavailable
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.catalogue.layouts import LAYOUTS
from chalicelib.shop.catalogue.rows import PRODUCTS, Product
from chalicelib.shop.categories.messages import JOBS, Rewrite
from chalicelib.shop.settings import SITES, LayoutName, ShopSite

_AT_ONCE = 500


def choose(runtime: Runtime, site: str, layout: LayoutName) -> ShopSite:
    """Choose the layout of a shop's products and start their rewrite; raises UnknownShop."""
    job = Rewrite(site=site)

    def work(session: ClientSession) -> ShopSite:
        shop = settings.find(runtime.database, site, session)
        if shop["layout"] == layout:
            return shop
        change = {"layout": layout, "is_rewriting": True, "layout_chosen": runtime.now()}
        SITES.of(runtime.database).update_one({"_id": site}, {"$set": change}, session=session)
        outbox.note(runtime, job, session, jobs=JOBS)
        return settings.find(runtime.database, site, session)

    shop = in_transaction(runtime.database, work)
    if shop.get("is_rewriting"):
        runtime.queues.send(job)
    return shop


def rewrite(runtime: Runtime, job: Rewrite) -> None:
    """Rewrite every product of a shop that has another layout than the shop.

    End the rewrite once no request can write the former layout and no product has it: then lists
    query a single layout.
    """
    shop = settings.find(runtime.database, job.site)
    others = {"site": job.site, "layout": {"$ne": shop["layout"]}}
    rows = PRODUCTS.of(runtime.database)
    for changes in _batches(rows.find(others, batch_size=_AT_ONCE), shop["layout"]):
        rows.bulk_write(changes, ordered=False)
    chosen = shop.get("layout_chosen")
    if chosen is not None and chosen + outbox.OUTLIVES_ALL <= runtime.now():
        if rows.find_one(others, {"_id": 1}) is not None:
            raise Unavailable("Another write changed a product during its rewrite")
        same = {"_id": job.site, "layout_chosen": chosen}
        change = {"$unset": {"is_rewriting": 1, "layout_chosen": 1}}
        SITES.of(runtime.database).update_one(same, change)


def _batches(rows: Iterable[Product], layout: LayoutName) -> Iterator[list[UpdateOne]]:
    batch: list[UpdateOne] = []
    for product in rows:
        batch.append(_update(product, layout))
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _update(product: Product, layout: LayoutName) -> UpdateOne:
    """Return the update of a product to a layout; after another write it matches nothing."""
    # A layout stores the details in a field of its own name.
    former = product["layout"]
    fields = LAYOUTS[layout].to_stored(LAYOUTS[former].details(product))
    where = {"_id": product["_id"], "site": product["site"], "version": product["version"]}
    change = {"$set": fields, "$unset": {former: 1}}
    return UpdateOne({**where, "layout": former}, change)

"""New prices by the clock: zones follow what the counts say of their ads' click-through rates."""

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import estimates
from chalicelib.ads.estimates import Estimate
from chalicelib.ads.pricing import fit_prior
from chalicelib.ads.zones import ZONES, in_order
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem
from chalicelib.logs import log
from chalicelib.runtime import Runtime


def reprice(runtime: Runtime) -> int:
    """Estimate the rates in every zone with counts; return how many zones have changed.

    The zones come in random order, so that a run that is cut short starves none of them.
    Safe to run twice at once, and to miss a run.
    """
    waiting = estimates.counted_zones(runtime.database)
    runtime.random.shuffle(waiting)
    changed = 0
    for site_id, zone_id in waiting:
        try:
            changed += reprice_zone(runtime.database, site_id, zone_id)
        except Problem:
            # Busy now; the others and the next run go on.
            fields = {"site": site_id, "zone": zone_id}
            log.warning("zone not repriced", exc_info=True, extra={"fields": fields})
    return changed


def reprice_zone(database: Database[Document], site_id: str, zone_id: str) -> bool:
    """Fit a zone's prior and put its ads in their new order; tell whether anything changed."""

    def work(session: ClientSession) -> bool:
        collection = database[ZONES.name]
        key = {"site_id": site_id, "zone_id": zone_id}
        zone = collection.find_one(key, session=session)
        if zone is None or all(ad["pricing"]["type"] == "cpm" for ad in zone["ads"]):
            return False
        counts = estimates.of_zone(database, session, site_id, zone_id)
        estimate = Estimate(fit_prior(counts.values()), counts)
        fields = {"ctr_prior": estimate.prior._asdict(), "ads": _priced(zone["ads"], estimate)}
        if all(zone.get(name) == value for name, value in fields.items()):
            return False
        collection.update_one(key, {"$set": fields, "$inc": {"version": 1}}, session=session)
        return True

    return in_transaction(database, work)


def _priced(ads: list[Document], estimate: Estimate) -> list[Document]:
    return in_order(
        {
            **ad,
            "ecpm_micros": estimate.ecpm_micros(
                ad["pricing"], (ad["campaign_id"], ad["ad_unit_id"])
            ),
        }
        for ad in ads
    )

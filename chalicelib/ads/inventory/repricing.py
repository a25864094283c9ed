"""New prices by the clock: zones follow the click-through rates of their ads."""

from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.inventory import click_rates, waiting
from chalicelib.ads.inventory.click_rates import Estimate
from chalicelib.ads.inventory.ecpm import fit_prior
from chalicelib.ads.inventory.fitting import Refused
from chalicelib.ads.inventory.placing import in_order
from chalicelib.ads.inventory.rows import AdRow, key
from chalicelib.ads.inventory.waiting import WAITING, WaitingRow
from chalicelib.ads.inventory.zones import ZONES
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime


def reprice(runtime: Runtime) -> int:
    """Estimate the rates in every zone with counts; return the number of changed zones.

    The zones come in random order, so that a run that ends early starves none. Two runs at once
    and a run that fails to start do no harm.
    """
    waiting = click_rates.counted_zones(runtime.database)
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
    """Fit a zone's prior and put its rows in their new order; return whether anything changed.

    Rows now below the floor leave. Waiting rows get their new price too.
    """

    def work(session: ClientSession) -> bool:
        collection = ZONES.of(database)
        this = {"site_id": site_id, "zone_id": zone_id}
        zone = collection.find_one(this, session=session)
        if zone is None:
            return False
        awaiting = waiting.in_zone(database, (site_id, zone_id), session)
        if all(row["pricing"]["type"] == "cpm" for row in (*zone["ads"], *awaiting)):
            return False
        counts = click_rates.of_zone(database, session, site_id, zone_id)
        estimate = Estimate(fit_prior(counts.values()), counts)
        _price_waiting(database, session, awaiting, estimate)
        priced = _price(zone["ads"], estimate)
        floor = zone["floor_ecpm_micros"]
        below = [row for row in priced if row["ecpm_micros"] < floor]
        refused = (((site_id, zone_id), Refused(row, "below_floor")) for row in below)
        waiting.add(database, session, refused)
        staying = priced[: len(priced) - len(below)]
        prior = estimate.prior._asdict()
        fields = {"ctr_prior": prior, "ads": staying}
        if (zone.get("ctr_prior"), zone["ads"]) == (prior, staying):
            return False
        collection.update_one(this, {"$set": fields, "$inc": {"version": 1}}, session=session)
        return True

    return in_transaction(database, work)


def _price(ads: list[AdRow], estimate: Estimate) -> list[AdRow]:
    return in_order(
        {
            **ad,
            "ecpm_micros": estimate.ecpm_micros(
                ad["pricing"], (ad["campaign_id"], ad["ad_unit_id"])
            ),
        }
        for ad in ads
    )


def _price_waiting(
    database: Database[Document],
    session: ClientSession,
    rows: list[WaitingRow],
    estimate: Estimate,
) -> None:
    updates = []
    for row in rows:
        price = estimate.ecpm_micros(row["pricing"], key(row))
        if price != row["ecpm_micros"]:
            this = {"_id": row["_id"], "campaign_id": row["campaign_id"]}
            updates.append(UpdateOne(this, {"$set": {"ecpm_micros": price}}))
    if updates:
        WAITING.of(database).bulk_write(updates, session=session, ordered=False)

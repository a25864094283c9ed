"""Scheduled repricing: each zone's eCPMs follow the click-through rates of its ads."""

from pymongo.client_session import ClientSession

from chalicelib.ads.inventory import click_rates, waiting
from chalicelib.ads.inventory.click_rates import Estimate
from chalicelib.ads.inventory.ecpm import fit_prior
from chalicelib.ads.inventory.fitting import Refused
from chalicelib.ads.inventory.placing import in_order
from chalicelib.ads.inventory.rows import AdRow
from chalicelib.ads.inventory.zones import ZONES
from chalicelib.database import in_transaction
from chalicelib.jobs.schedules import skip_failing
from chalicelib.runtime import Runtime


def reprice(runtime: Runtime) -> int:
    """Reprice every zone with counts; return the number of changed zones.

    The zones come in random order, so that a run that ends early starves none. Two runs at once,
    or a run that does not start, do no harm.
    """
    waiting = click_rates.counted_zones(runtime.database)
    runtime.random.shuffle(waiting)
    changed = 0
    for site_id, zone_id in waiting:
        # A zone that is busy or too large waits for the next run.
        with skip_failing("zone not repriced", site=site_id, zone=zone_id):
            changed += reprice_zone(runtime, site_id, zone_id)
    return changed


def reprice_zone(runtime: Runtime, site_id: str, zone_id: str) -> bool:
    """Fit a zone's prior and reprice and sort its rows; return whether the zone changed.

    Rows now below the floor leave. Waiting rows get their new prices after the transaction: any
    number may wait, and their prices decide only the order of their entry.
    """
    database = runtime.database
    is_awaited = waiting.has_priced_by_rate(database, (site_id, zone_id))

    def work(session: ClientSession) -> tuple[bool, Estimate | None]:
        collection = ZONES.of(database)
        this = {"site_id": site_id, "zone_id": zone_id}
        zone = collection.find_one(this, session=session)
        if zone is None:
            return False, None
        if not is_awaited and all(row["pricing"]["type"] == "cpm" for row in zone["ads"]):
            return False, None
        counts = click_rates.of_zone(database, session, site_id, zone_id)
        estimate = Estimate(fit_prior(counts.values()), counts)
        priced = _price(zone["ads"], estimate)
        floor = zone["floor_ecpm_micros"]
        below = [row for row in priced if row["ecpm_micros"] < floor]
        refused = (((site_id, zone_id), Refused(row, "below_floor")) for row in below)
        waiting.add(database, session, refused)
        staying = priced[: len(priced) - len(below)]
        prior = estimate.prior._asdict()
        fields = {"ctr_prior": prior, "ads": staying}
        if (zone.get("ctr_prior"), zone["ads"]) == (prior, staying):
            return False, estimate
        collection.update_one(this, {"$set": fields, "$inc": {"version": 1}}, session=session)
        return True, estimate

    is_changed, estimate = in_transaction(database, work)
    if is_awaited and estimate is not None:
        waiting.reprice(runtime, (site_id, zone_id), estimate.ecpm_micros)
    return is_changed


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

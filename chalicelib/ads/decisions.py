"""A decision: the ad that one request for a zone is answered with."""

from chalicelib.ads import creatives, zones
from chalicelib.ads.selection import choose
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime


def decide(runtime: Runtime, site_id: str, zone_id: str) -> Document:
    """Return `{decision, ads: [{campaign_id, ad_unit_id, creative}]}`, with one ad or none.

    Raises UnknownZone.
    """
    now = runtime.now()
    zone = zones.get_with_ads(runtime.database, site_id, zone_id)
    decision = {"decision": new_id(now, runtime.random), "ads": []}
    while ad := choose(zone, now, runtime.random):
        creative = creatives.find(runtime.database, ad)
        if creative is not None:
            row = {"campaign_id": ad["campaign_id"], "ad_unit_id": ad["ad_unit_id"]}
            return {**decision, "ads": [{**row, "creative": creative}]}
        # Its campaign was changed between the two reads; the next best takes its place.
        zone["ads"].remove(ad)
    return decision

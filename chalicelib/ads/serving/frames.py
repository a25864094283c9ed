"""Frames: each HTML creative at an address of its own, where a sandbox isolates it from the page.

A decision contains a frame's signed address, never the markup: a page that pasted an advertiser's
markup would run its scripts with the page's own rights. The response has the policy `CSP`, in an
`iframe` as in a window. So the markup runs in its own opaque origin, without cookies.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import orjson
from pydantic import SecretStr
from pymongo.database import Database

from chalicelib import signing
from chalicelib.ads.errors import InvalidToken, TokenExpired, UnknownCreative
from chalicelib.ads.inventory import creatives, former
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.ads.inventory.creatives import StoredCreative
from chalicelib.database import Document
from chalicelib.instants import start_of_day
from chalicelib.runtime import Runtime
from chalicelib.signing import TAG_BYTES

_DAY = timedelta(days=1)
MAX_CHARACTERS = 512
# Links may open a window without a sandbox: the advertiser's own page. Without
# `allow-same-origin` the origin is opaque. Without forms and top navigation, the markup cannot
# lead the page elsewhere.
CSP = (
    "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; "
    "default-src https: data: blob: 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'"
)


def sign_url(runtime: Runtime, creative_id: str, now: datetime) -> str:
    """Return the address of an HTML creative's frame, under PLAZA_FRAME_URL or PLAZA_PUBLIC_URL.

    The address is the same all day (UTC), so that browsers cache the frame, and valid until the
    end of the next day. Raises Misconfigured without a signing key.
    """
    settings = runtime.settings
    key = signing.signing_key(settings.signing_keys)
    payload = orjson.dumps([creative_id, int((start_of_day(now) + 2 * _DAY).timestamp())])
    token = signing.encode(signing.tag(b"frame\0" + payload, key) + payload)
    return f"{settings.frame_url or settings.public_url}/creatives/{token}"


def verify(token: str, keys: Sequence[SecretStr], now: datetime) -> tuple[str, datetime]:
    """Return the id of a frame's creative, and the expiry of its address.

    Raises InvalidToken for an address that Plaza did not sign, and TokenExpired.
    """
    signed = signing.decode(token) or b""
    tag, payload = signed[:TAG_BYTES], signed[TAG_BYTES:]
    if signing.verifying_key(tag, b"frame\0" + payload, keys) is None:
        raise InvalidToken
    creative_id, expiry = orjson.loads(payload)
    expires_at = datetime.fromtimestamp(expiry, UTC)
    if now >= expires_at:
        raise TokenExpired
    return creative_id, expires_at


def markup(database: Database[Document], creative_id: str) -> str:
    """Return the markup of an HTML creative, also for two days after its removal.

    Raises UnknownCreative.
    """
    creative = creatives.find(database, creative_id) or _small(database, creative_id)
    if creative is None:
        markup = former.find_markup(database, creative_id)
        if markup is None:
            raise UnknownCreative
        return markup
    if creative["type"] != "html":
        raise UnknownCreative
    return creative["html"]


def _small(database: Database[Document], creative_id: str) -> StoredCreative | None:
    """Return a small creative from its campaign; None after its change or removal."""
    advertiser, campaign, ad_unit_id, _ = creative_id.split(":")
    campaign_id = f"{advertiser}:{campaign}"
    is_named = {"$eq": ["$$this.ad_unit_id", {"$literal": ad_unit_id}]}
    units = {"_id": 0, "ad_units": {"$filter": {"input": "$ad_units", "cond": is_named}}}
    found = CAMPAIGNS.of(database).find_one({"_id": campaign_id}, units)
    for unit in found["ad_units"] if found else ():
        creative = unit["creative"]
        if creatives.creative_id(campaign_id, ad_unit_id, creative) == creative_id:
            return creative
    return None

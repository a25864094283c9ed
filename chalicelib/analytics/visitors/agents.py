"""User agents: a person's device, a bot, or a reader of feeds."""

import hmac
import re
from collections.abc import Mapping

from pydantic import SecretStr

from chalicelib import bots
from chalicelib.analytics.hits import Device, Kind

# MDN's advice ("Browser detection using the user agent string"): `Mobi` is in the user agent of
# every phone's browser, and in hardly any other. iPads send a desktop's user agent.
_MOBILE = re.compile("Mobi")
_TABLET = re.compile(r"iPad|Tablet|Android(?!.*Mobi)")
_COUNTRY = re.compile("[A-Z]{2}")
# A country unknown to the CDN, and Tor.
_NOWHERE = {"XX", "T1"}
# In the order of preference: CloudFront's, Cloudflare's.
COUNTRY_HEADERS = ("cloudfront-viewer-country", "cf-ipcountry")
# The deployment's own CDN adds this header, with a secret value, if it has found the country.
COUNTRY_PROOF_HEADER = "x-plaza-cdn-country"


def kind_of(user_agent: str | None) -> Kind:
    """Return the kind of a hit's sender; a reader of feeds is no bot, although it is a program."""
    if bots.is_feed_reader(user_agent):
        return "feed"
    return "bot" if bots.is_bot(user_agent) else "view"


def device_of(user_agent: str | None) -> Device:
    """Return the kind of device of a user agent."""
    agent = (user_agent or "")[: bots.MAX_CHARACTERS]
    if _TABLET.search(agent):
        return "tablet"
    return "mobile" if _MOBILE.search(agent) else "desktop"


def country_of(headers: Mapping[str, str], proof: SecretStr | None) -> str | None:
    """Return the country (ISO 3166) from the CDN's headers; None without a known country.

    A caller can send them too, so they count only beside the proof that the CDN has set them.
    """
    given = headers.get(COUNTRY_PROOF_HEADER) or ""
    if proof is None or not _are_equal(given, proof.get_secret_value()):
        return None
    for name in COUNTRY_HEADERS:
        country = headers.get(name) or ""
        if _COUNTRY.fullmatch(country) and country not in _NOWHERE:
            return country
    return None


def _are_equal(given: str, secret: str) -> bool:
    """Compare in a time that does not depend on the secret's characters."""
    return hmac.compare_digest(given.encode(), secret.encode())


def objects(headers: Mapping[str, str]) -> bool:
    """Return whether a browser objects to analytics, by Global Privacy Control or Do Not Track."""
    return "1" in (headers.get("sec-gpc"), headers.get("dnt"))

"""Addresses of pages in one normal form, and the key of a page's node."""

import base64
import hashlib
import re
from urllib.parse import quote, urlsplit

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")
# The characters that a path or a query may have, and `%`, so that nothing is encoded twice.
_KEPT = "%/:@!$&'()*+,;=~?[]"
# Names that campaigns add to the query.
_TRACKED = "utm_"
_KEY_BYTES = 16
# Begins a label that was outside ASCII (RFC 5890).
_ENCODED = "xn--"


def plain(url: str) -> str:
    """Return an address in its normal form, the same for all addresses of a page.

    The scheme and the host are lower case and ASCII, without a default port. The form has no
    fragment and no `utm_` parameter; other parameters stay in their order.
    """
    parts = urlsplit(url)
    host = _ascii(parts.netloc).removesuffix(_DEFAULT_PORTS.get(parts.scheme, ":"))
    pairs = [each for each in parts.query.split("&") if each and not each.startswith(_TRACKED)]
    query = f"?{'&'.join(pairs)}" if pairs else ""
    # Half a surrogate pair, which no browser sends, becomes a question mark.
    encoded = quote((parts.path or "/") + query, _KEPT, errors="replace")
    path = _ESCAPE.sub(lambda found: found[0].upper(), encoded)
    return f"{parts.scheme.lower()}://{host}{path}"


def key_of(url: str) -> str:
    """Return the `url_key` of an address, a digest of its normal form; empty for no address."""
    if not url:
        return ""
    digest = hashlib.sha256(plain(url).encode(errors="replace")).digest()[:_KEY_BYTES]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def fields_of(url: str) -> dict[str, str]:
    """Return the fields of a node with an address."""
    return {"url": url, "url_key": key_of(url)}


def _ascii(host: str) -> str:
    """Return a host as browsers send it; unchanged if it has no such form.

    Sources: Unicode Technical Standard #46, non-transitional; the URL Standard, section 3.3.
    """
    if host.isascii():
        return host.lower()
    # Imported only here: hardly any deployment has a host outside ASCII.
    import idna

    try:
        # It also folds case; `str.lower` would make another letter of a final capital sigma.
        labels = idna.uts46_remap(host, std3_rules=False, transitional=False).split(".")
        return ".".join(
            each if each.isascii() else f"{_ENCODED}{each.encode('punycode').decode()}"
            for each in labels
        )
    except (idna.IDNAError, UnicodeError):
        return host.lower()

"""Addresses of pages in one form, by which a page finds its node."""

import base64
import hashlib
import re
from collections.abc import Callable
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
    """Return the form of an address that is the same for all addresses of a page.

    The scheme and the host are lower case and ASCII, without a default port; there is no fragment
    and no parameter of a campaign. The order of other parameters is kept.
    """
    return _plain(url, _ascii)


def _plain(url: str, ascii_of: Callable[[str], str]) -> str:
    parts = urlsplit(url)
    host = ascii_of(parts.netloc.lower()).removesuffix(_DEFAULT_PORTS.get(parts.scheme, ":"))
    pairs = [each for each in parts.query.split("&") if each and not each.startswith(_TRACKED)]
    query = f"?{'&'.join(pairs)}" if pairs else ""
    # Half a surrogate pair, which no browser sends, becomes a question mark.
    encoded = quote((parts.path or "/") + query, _KEPT, errors="replace")
    path = _ESCAPE.sub(lambda found: found[0].upper(), encoded)
    return f"{parts.scheme.lower()}://{host}{path}"


def key_of(url: str) -> str:
    """Return the key by which a node is found by its address; empty for no address."""
    return _digest(plain(url)) if url else ""


def keys_of(url: str) -> list[str]:
    """Return the keys that a node of an address may have; the second is that of a former release.

    Other addresses may have the second, too: compare `key_of` of the node's own.
    """
    key = key_of(url)
    host = urlsplit(url).netloc.lower()
    if host.isascii() and _ENCODED not in host:
        return [key]
    return list(dict.fromkeys([key, _digest(_plain(url, _former_ascii))]))


def fields_of(url: str) -> dict[str, str]:
    """Return the fields of a node with an address."""
    return {"url": url, "url_key": key_of(url)}


def _digest(address: str) -> str:
    digest = hashlib.sha256(address.encode(errors="replace")).digest()[:_KEY_BYTES]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _ascii(host: str) -> str:
    """Return a host as browsers send it; unchanged if it has no such form.

    Sources: Unicode Technical Standard #46, non-transitional; the URL Standard, section 3.3.
    """
    if host.isascii():
        return host
    # Imported for the first of these hosts: hardly any deployment has one.
    import idna

    try:
        labels = idna.uts46_remap(host, std3_rules=False, transitional=False).split(".")
        return ".".join(
            each if each.isascii() else f"{_ENCODED}{each.encode('punycode').decode()}"
            for each in labels
        )
    except (idna.IDNAError, UnicodeError):
        return host


def _former_ascii(host: str) -> str:
    """Return a host as before release 0.4.0: by IDNA 2003, where `\u00df` is `ss`."""
    import idna

    try:
        return (idna.decode(host) if host.isascii() else host).encode("idna").decode()
    except (idna.IDNAError, UnicodeError):
        return host

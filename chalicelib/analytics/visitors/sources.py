"""The sources of visits: the host of the page before, and the campaign of the link."""

from urllib.parse import parse_qs, urlsplit

MAX_HOST_CHARACTERS = 253
MAX_WORD_CHARACTERS = 60
_CAMPAIGN = ("utm_source", "utm_medium", "utm_campaign")
_MAX_FIELDS = 50
_SCHEMES = {"http", "https", "android-app", "ios-app"}


def referrer(address: str | None, own_host: str | None) -> str | None:
    """Return the host of a referring page; None: the site's own host, or no page."""
    host = host_of(address)
    return None if host is None or host == own_host else host


def host_of(address: str | None) -> str | None:
    """Return the host of a web address in lower case, without `www.`; None without a host.

    An Android app is its package name, as browsers report `android-app://com.example.mail/`.
    """
    try:
        parts = urlsplit(address or "")
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    is_host = parts.scheme in _SCHEMES and host.isprintable() and "*" not in host
    return host if host and is_host and len(host) <= MAX_HOST_CHARACTERS else None


def campaign(address: str) -> str | None:
    """Return the campaign of a page's address as `source/medium/name`; None: no campaign.

    In lower case: people type one source as `Newsletter` and as `newsletter`.
    """
    query = address.partition("#")[0].partition("?")[2]
    if "utm_" not in query:
        return None
    try:
        fields = parse_qs(query, max_num_fields=_MAX_FIELDS)
    except ValueError:
        return None
    words = [_word(fields.get(name, [""])[0]) for name in _CAMPAIGN]
    return "/".join(words).rstrip("/") or None


def _word(text: str) -> str:
    shown = "".join(each for each in text if each.isprintable() and each not in "*/")
    return shown.strip().lower()[:MAX_WORD_CHARACTERS]


def origin_of(address: str | None) -> str | None:
    """Return a web address's origin, as in a browser's Origin header; None for other addresses."""
    try:
        parts = urlsplit(address or "")
    except ValueError:
        return None
    is_web = parts.scheme in {"http", "https"} and bool(parts.netloc)
    return f"{parts.scheme}://{parts.netloc}".lower() if is_web else None

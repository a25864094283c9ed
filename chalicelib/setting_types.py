"""Types of settings, each read from the text of a variable."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

_YES = ("true", "1", "yes", "y", "t", "on")
_NO = ("false", "0", "no", "n", "f", "off")


def _split(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _parse_open_sites(value: object) -> object:
    """Read sites; `true` means the site `default`, the only open site of earlier releases."""
    if isinstance(value, str) and value.strip().lower() in _YES:
        return ("default",)
    if isinstance(value, str) and value.strip().lower() in _NO:
        return ()
    return _split(value)


def _check_confidential(url: str) -> str:
    """Return a URL whose answers no third party can change; raises ValueError."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        raise ValueError("this is not a URL") from None
    is_own = parts.scheme == "http" and host in {"127.0.0.1", "::1", "localhost"}
    if not host or not (parts.scheme == "https" or is_own):
        raise ValueError("this must be an https URL")
    return url


def _parse_off(value: object) -> object:
    """Read the word `off` as None."""
    return None if value == "off" else value


def _check_database(database: str) -> str:
    if database in {"admin", "config", "local"}:
        raise ValueError("MongoDB keeps this database for itself")
    return database


# HS256 requires a key of at least 256 bits (RFC 7518, section 3.2).
Secret = Annotated[SecretStr, Field(min_length=32)]
Secrets = Annotated[tuple[Secret, ...], BeforeValidator(_split)]
# None: `off`.
WebhookSecrets = Annotated[
    tuple[Secret, ...] | None, BeforeValidator(_split), BeforeValidator(_parse_off)
]
Listed = Annotated[tuple[str, ...], BeforeValidator(_split)]
OpenSites = Annotated[tuple[str, ...], BeforeValidator(_parse_open_sites)]
Factor = Annotated[
    Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)] | None,
    BeforeValidator(_parse_off),
]
ConfidentialUrl = Annotated[str, AfterValidator(_check_confidential)]
DatabaseName = Annotated[str, AfterValidator(_check_database)]

"""Types of settings, each read from the text of a variable."""

import base64
import binascii
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
    """Read sites; a yes means the site `default`, and a no means no site.

    `default` was the only open site of earlier releases.
    """
    if isinstance(value, str) and value.strip().lower() in _YES:
        return ("default",)
    if isinstance(value, str) and value.strip().lower() in _NO:
        return ()
    return _split(value)


def _check_confidential(url: str) -> str:
    """Return an https URL, or an http URL of this machine; raises ValueError for any other.

    No third party can change the answers of such a URL.
    """
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


# The order of the group of P-256 (NIST SP 800-186, section 3.2.1.3).
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_SCALAR_BYTES = 32


def _check_scalar(key: SecretStr) -> SecretStr:
    """Return a private key of P-256 in base64url; raises ValueError."""
    text = key.get_secret_value().rstrip("=")
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        data = b""
    # The decoder ignores characters of other alphabets; the signer of messages does not.
    if base64.urlsafe_b64encode(data).decode().rstrip("=") != text:
        raise ValueError("this must be 32 bytes in base64url")
    if len(data) != _SCALAR_BYTES or not 0 < int.from_bytes(data) < P256_ORDER:
        raise ValueError("this must be a private key of P-256: 32 bytes in base64url")
    return key


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
# In the form of `web-push generate-vapid-keys` and of RFC 7518, section 6.2.2.
PrivateKey = Annotated[SecretStr, AfterValidator(_check_scalar)]
ConfidentialUrl = Annotated[str, AfterValidator(_check_confidential)]
DatabaseName = Annotated[str, AfterValidator(_check_database)]

"""Addresses of letters: whether a letter can go there, and the keyed hash of an address."""

from collections.abc import Sequence

from pydantic import SecretStr

from chalicelib import signing
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.mail.rows import MAX_KEYS

_PURPOSE = b"mail address\0"


def ascii_form(address: str) -> str | None:
    """Return a valid address with its domain in ASCII (IDNA); None: no letter can go there.

    The part before the @ stays as it is; outside ASCII, few servers take it and SES does not.
    """
    from email_validator import EmailNotValidError, validate_email

    try:
        return validate_email(address, check_deliverability=False).ascii_email
    except EmailNotValidError:
        return None


def reachable(address: str) -> str:
    """Return an address in `ascii_form`; raises InvalidRequest if it has none."""
    found = ascii_form(address)
    if found is None:
        message = "Letters need ASCII before the @"
        raise InvalidRequest(errors=[FieldError("email", "unreachable", message)])
    return found


def address_keys(address: str, keys: Sequence[SecretStr]) -> list[str]:
    """Return the keyed hashes of an address in `ascii_form`, the first by the key that signs.

    Case makes no difference. Raises Misconfigured without keys.
    """
    signing.signing_key(keys)
    folded = _PURPOSE + address.lower().encode()
    return [signing.encode(signing.tag(folded, key)) for key in keys[:MAX_KEYS]]

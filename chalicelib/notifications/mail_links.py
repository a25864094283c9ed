"""Links in letters of notifications: to confirm an address, and to turn the letters off.

Plaza signs the links and stores none. A confirmation link works for a day, and for one address. A
stop link works while Plaza has the key that signed it: a letter may be years old.
"""

from datetime import timedelta

from chalicelib import signing
from chalicelib.mail import addressing
from chalicelib.notifications import mailing
from chalicelib.notifications.errors import UnknownMailLink
from chalicelib.notifications.mailing import MailSetting
from chalicelib.runtime import Runtime

LIFETIME = timedelta(days=1)
# Room for a person's id of 64 characters, the hash of an address and a signature, in base64url.
MAX_TOKEN_CHARACTERS = 400
TOKEN_PATTERN = rf"^[A-Za-z0-9_.-]{{1,{MAX_TOKEN_CHARACTERS}}}$"
_CONFIRMS, _CONFIRM_PURPOSE = "mail.", b"confirms notification mail\0"
_STOP_PURPOSE = b"stops notification mail\0"


def confirm_url(runtime: Runtime, user_id: str, email: str) -> str:
    """Return the link that confirms the address of a person; it works for a day."""
    keys = runtime.settings.signing_keys
    expires_at = int((runtime.now() + LIFETIME).timestamp())
    claims = {"sub": user_id, "key": addressing.address_keys(email, keys)[0], "exp": expires_at}
    token = signing.issue(claims, _CONFIRMS, _CONFIRM_PURPOSE, keys)
    return f"{runtime.settings.public_url}/notifications/mail/confirmation?token={token}"


def find_setting(runtime: Runtime, token: str) -> MailSetting:
    """Return the setting whose address a token confirms; raises UnknownMailLink."""
    keys = runtime.settings.signing_keys
    claims = signing.claims_of(token, _CONFIRMS, _CONFIRM_PURPOSE, keys, runtime.now())
    row = None if claims is None else mailing.find_by_link(runtime, claims["sub"])
    if claims is None or row is None:
        raise UnknownMailLink
    if claims["key"] not in addressing.address_keys(row.get("email", ""), keys):
        raise UnknownMailLink
    return row


def stop_url(runtime: Runtime, user_id: str) -> str:
    """Return the link that turns a person's letters off; it does not expire."""
    keys = runtime.settings.signing_keys
    tag = signing.tag(_STOP_PURPOSE + user_id.encode(), signing.signing_key(keys))
    token = f"{signing.encode(user_id.encode())}.{signing.encode(tag)}"
    return f"{runtime.settings.public_url}/notifications/mail/stop?token={token}"


def stopped_by(runtime: Runtime, token: str) -> str:
    """Return the id of the person in a stop link's token; raise UnknownMailLink for a bad token."""
    named, _, given = token.partition(".")
    user_id, tag = signing.decode(named), signing.decode(given)
    if user_id is None or tag is None:
        raise UnknownMailLink
    if signing.verifying_key(tag, _STOP_PURPOSE + user_id, runtime.settings.signing_keys) is None:
        raise UnknownMailLink
    return user_id.decode()

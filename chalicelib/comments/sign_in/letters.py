"""Letters with a link that confirms an address.

A caller may name any address. So the answer and the writes are the same whether a mailbox takes
letters or had too many; a letter has no word of the caller's; and mailboxes and sites have limits
of their own.
"""

from typing import NamedTuple

from chalicelib import limits, signing
from chalicelib.comments.people.links import (
    CONFIRMATIONS,
    LIFETIME,
    TOKEN_BYTES,
    Confirmation,
    token_hash,
)
from chalicelib.comments.sign_in.words import WORDS, Language
from chalicelib.errors import FieldError, InvalidRequest, TooFast
from chalicelib.guest_tokens import Guest
from chalicelib.limits import LETTERS, SITE_LETTERS
from chalicelib.mail import addressing, letters
from chalicelib.mail.errors import MailOff
from chalicelib.mail.letters import Draft
from chalicelib.runtime import Runtime


class WantedLetter(NamedTuple):
    """The address of a letter, its language, and the page that its link leads back to."""

    email: str
    return_to: str
    language: Language


def check(runtime: Runtime, wanted: WantedLetter) -> str:
    """Return the address in the form that letters need.

    Raises MailOff, and InvalidRequest for an address that no letter reaches.
    """
    if not letters.is_on(runtime) or not runtime.settings.public_url:
        raise MailOff
    found = addressing.ascii_form(wanted.email)
    if found is None:
        message = "Letters need ASCII before the @"
        raise InvalidRequest(errors=[FieldError("email", "unreachable", message)])
    return found


def send(runtime: Runtime, guest: Guest, wanted: WantedLetter) -> None:
    """Send a letter whose link confirms a guest's address; raises as `check`, and TooFast.

    A mailbox that had too many letters gets none, without the caller's knowledge.
    """
    to = check(runtime, wanted)
    limits.take_for(runtime, SITE_LETTERS, guest.site)
    is_withheld = not _may_have(runtime, to)
    token = signing.encode(runtime.random.randbytes(TOKEN_BYTES))
    made: Confirmation = {
        "_id": token_hash(token),
        "site": guest.site,
        "person": guest.id,
        "name": guest.name,
        "email_key": addressing.address_keys(to, runtime.settings.signing_keys)[0],
        "return_to": wanted.return_to,
        "language": wanted.language,
        "expires": runtime.now() + LIFETIME,
    }
    # Before the letter, so that its link always leads somewhere.
    CONFIRMATIONS.of(runtime.database).insert_one(made)
    words = WORDS[wanted.language]
    link = f"{runtime.settings.public_url}/sites/{guest.site}/guests/confirmation?token={token}"
    draft = Draft(
        made["_id"],
        "confirmation",
        to,
        words["subject"].format(site=guest.site),
        words["letter"].format(site=guest.site, link=link),
        wanted.language,
    )
    letters.queue(runtime, draft, is_withheld=is_withheld)


def _may_have(runtime: Runtime, address: str) -> bool:
    """Count a letter to a mailbox; return whether it may have one more.

    Addresses that differ after a plus alone lead to one mailbox.
    """
    local, _, domain = address.rpartition("@")
    mailbox = f"{local.partition('+')[0] or local}@{domain}"
    key = addressing.address_keys(mailbox, runtime.settings.signing_keys)[0]
    try:
        limits.take_for(runtime, LETTERS, key)
    except TooFast:
        return False
    return True

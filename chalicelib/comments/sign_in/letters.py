"""Letters with a link that confirms a guest's address, or signs the guest in.

A caller may name any address. So answer and writes are the same for every mailbox, even for one
that had too many letters. A letter has no text of the caller's. Each mailbox and each site has a
limit.
"""

from datetime import timedelta
from typing import NamedTuple

from pymongo import ASCENDING

from chalicelib import limits, signing
from chalicelib.comments.people.links import (
    CONFIRMATIONS,
    LIFETIME,
    SIGN_IN_LIFETIME,
    TOKEN_BYTES,
    Confirmation,
    token_hash,
)
from chalicelib.comments.people.rows import PEOPLE, Person
from chalicelib.comments.sign_in.sign_in_words import SIGN_IN_WORDS
from chalicelib.comments.sign_in.words import WORDS, Words
from chalicelib.guest_tokens import Guest
from chalicelib.languages import Language
from chalicelib.limits import SITE_LETTERS
from chalicelib.mail import addressing, letters
from chalicelib.mail.errors import MailOff
from chalicelib.mail.letters import Draft
from chalicelib.people.ids import GUEST_PATTERN
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
    if not letters.may_link(runtime):
        raise MailOff
    return addressing.reachable(wanted.email)


def send(runtime: Runtime, guest: Guest, wanted: WantedLetter) -> None:
    """Send a letter whose link confirms a guest's address; raises as `check`, and TooFast.

    A mailbox that had too many letters gets none, without the caller's knowledge.
    """
    to = check(runtime, wanted)
    link = _link(runtime, guest.site, wanted, LIFETIME)
    link |= {"person": guest.id, "name": guest.name}
    _send(runtime, link, to, WORDS[wanted.language], is_withheld=False)


def send_sign_in(runtime: Runtime, site: str, wanted: WantedLetter) -> None:
    """Send the guest of an address a letter with a link to sign in; raises as `send`.

    An address without a guest gets none, without the caller's knowledge.
    """
    to = check(runtime, wanted)
    found = find_guest(runtime, site, to)
    link = _link(runtime, site, wanted, SIGN_IN_LIFETIME)
    link["kind"] = "sign_in"
    if found is not None:
        link |= {"person": found["user_id"], "name": found["name"]}
    _send(runtime, link, to, SIGN_IN_WORDS[wanted.language], is_withheld=found is None)


def find_guest(runtime: Runtime, site: str, address: str) -> Person | None:
    """Return the guest of a site who confirmed an address first; None: no guest confirmed it."""
    keys = addressing.address_keys(address, runtime.settings.signing_keys)
    # Only guests: people of an issuer or a provider sign in there, not by letter.
    same = {"email_key": {"$in": keys}, "site": site, "joined": None}
    where = {**same, "user_id": {"$regex": GUEST_PATTERN}}
    found = PEOPLE.of(runtime.database).find(where).sort("confirmed_at", ASCENDING).limit(1)
    return next(iter(found), None)


def _link(runtime: Runtime, site: str, wanted: WantedLetter, lifetime: timedelta) -> Confirmation:
    """Return a link that still lacks its person, token and address hashes."""
    return {
        "_id": "",
        "site": site,
        "person": "",
        "name": "",
        "email_key": "",
        "return_to": wanted.return_to,
        "language": wanted.language,
        "expires": runtime.now() + lifetime,
    }


def _send(
    runtime: Runtime, link: Confirmation, to: str, words: Words, *, is_withheld: bool
) -> None:
    """Store a link under a new token, and queue its letter; raises TooFast and Misconfigured."""
    limits.take_for(runtime, SITE_LETTERS, link["site"])
    # The call does the same for every address, so it reveals nothing about the address.
    may_have = letters.may_have(runtime, to, link["site"] if is_withheld else "")
    token = signing.encode(runtime.random.randbytes(TOKEN_BYTES))
    link["_id"] = token_hash(token)
    keys = addressing.address_keys(to, runtime.settings.signing_keys)
    link |= {"email_key": keys[0], "email_keys": keys}
    # Before the letter, so that its link always leads somewhere.
    CONFIRMATIONS.of(runtime.database).insert_one(link)
    site = link["site"]
    address = f"{runtime.settings.public_url}/sites/{site}/guests/confirmation?token={token}"
    draft = Draft(
        link["_id"],
        link.get("kind", "confirmation"),
        to,
        words["subject"].format(site=site),
        words["letter"].format(site=site, link=address),
        link["language"],
    )
    letters.queue(runtime, draft, is_withheld=is_withheld or not may_have)
